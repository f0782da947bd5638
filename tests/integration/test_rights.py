"""What a user is granted is what is really sent: nothing is missing, and nothing is superfluous."""

from collections.abc import AsyncGenerator
from contextlib import closing

import pytest
import pytest_asyncio
import redis

from echomq_worker.domain.gates import Rate, parse_rate
from echomq_worker.domain.job import At, NewJob
from echomq_worker.domain.lanes import lane_group
from echomq_worker.domain.outcome import Buried, Completed, Retried, Snoozed
from echomq_worker.domain.replies import Presence
from echomq_worker.embedded import EmbeddedServer
from echomq_worker.store import Places, QueueStore, Server, ServerOptions
from echomq_worker.store.extender import BlockingExtender
from echomq_worker.store.line import Line
from echomq_worker.store.rights import Needs, Role
from tests.conformance.peer import MixedFleet
from tests.support.jobs import LEASE_MS, A, B, C, D, E, F, claim, job_id, new_job, settle
from tests.support.look import Look
from tests.support.monitored import monitored
from tests.support.peers import Flows, Lanes
from tests.support.private import QUEUE
from tests.support.schedulers import every, firing
from tests.support.stores import no_trouble

PRESENCE = Presence("w1", {"name": "w1"})


@pytest_asyncio.fixture
async def peer(private_server: EmbeddedServer) -> AsyncGenerator[MixedFleet]:
    """A worker of another runtime on the private server."""
    peer = MixedFleet(private_server.url)
    yield peer
    await peer.close()


@pytest.fixture
def own_lanes(own_look: Look, peer: MixedFleet) -> Lanes:
    return Lanes(own_look, peer, QUEUE)


@pytest.fixture
def own_flows(own_look: Look, peer: MixedFleet) -> Flows:
    return Flows(own_look, peer, QUEUE)


def options(server: EmbeddedServer) -> ServerOptions:
    return ServerOptions(url=server.url, client_name="rights", log_size=100)


def granted(admin: "redis.Redis", role: Role) -> set[str]:
    info: dict[str, str] = admin.info("server")
    name = "valkey" if "valkey_version" in info else "redis"
    version = info.get("valkey_version") or info["redis_version"]
    return set(Needs(role=role, queues=(QUEUE,), server=name, version=version).commands())


async def produce(server: Server) -> None:
    """Do everything that a producer may."""
    queue = server.queue(QUEUE)
    await queue.enqueue([new_job(A, keep_result_ms=60_000), new_job(B)])
    await queue.enqueue([new_job(C, after_ms=3_600_000)])
    await queue.reschedule([C], At(1))
    await queue.promote_now([C])
    await queue.inspect(A)
    await queue.result(A)
    for id_ in (A, B, C):
        await queue.remove(id_, Places.WAITING)


NOT_SHOWN = frozenset({"client|unblock"})
"""What a server does not show to who watches it; tests/integration/test_hints.py sends it."""


async def start_and_stop(server: Server, queue: QueueStore) -> None:
    """Do what a worker does before and after it works."""
    info = await server.describe()
    await server.missing_rights(Needs(queues=(QUEUE,), server=info.name, version=info.version))
    lease = server.node_lease()
    await lease.take()
    await lease.take()
    await lease.give_back()
    await queue.wait_hint(bell=True, clock=True, timeout_ms=10)
    await queue.end_wait()
    await queue.leave("w1")


async def beat(line: Line) -> None:
    await line.beat(
        limit=0,
        lease_ms=LEASE_MS,
        promote=0,
        reap=9,
        crash_limit=5,
        max_attempts=10,
        worker=PRESENCE,
    )


async def work(server: Server, queue: QueueStore, line: Line) -> None:
    """Run jobs to every end there is."""
    await queue.enqueue([new_job(id_, keep_result_ms=60_000) for id_ in (A, B, C, D, E)])
    await queue.enqueue([new_job(F, after_ms=1)])
    await beat(line)
    jobs = await claim(line, 9, promote=9)
    with closing(BlockingExtender(server.options)) as extender:
        extender.extend(QUEUE, jobs, LEASE_MS)
    ends = (Completed(b"1", 60_000), Retried(1, "no"), Buried("no"), Snoozed(1))
    for held, outcome in zip(jobs, ends, strict=False):
        await settle(line, held, outcome)


async def keep_time(queue: QueueStore, admin: "redis.Redis") -> None:
    """Do everything that a worker does with schedulers."""
    schedulers = queue.schedulers
    spec = every("s1", immediately=True)
    await schedulers.put(spec, force=False, source="code", tz="")
    due = (await schedulers.due()).schedulers
    await schedulers.fire([firing(one, [(job_id(60), one.next_ms or 0)]) for one in due])
    view = await schedulers.get("s1")
    assert view is not None
    assert view.count == 1
    moved_ms = (view.next_ms or 0) + 1
    await schedulers.retime(
        "s1",
        expected_ms=view.next_ms,
        digest=view.digest,
        next_ms=moved_ms,
        wake_ms=moved_ms,
        tz="",
    )
    admin.hset(queue.keys.scheduler("s1"), "every", "malformed")
    assert await schedulers.set_aside("s1", "it cannot be read")


async def tend_lanes(queue: QueueStore, line: Line) -> None:
    """Do everything that may be done with lanes."""
    lanes = queue.lanes
    here, there = (lane_group(name) for name in ("here", "there"))
    jobs = [NewJob(job_id(n), b"x", group=here, lane="here") for n in range(70, 76)]
    await lanes.maximum("here", 5, "drop-oldest")
    await lanes.weight("here", 2)
    await lanes.first("here")
    await lanes.rate("here", Rate(99, 1))
    await lanes.first("there")
    await lanes.limit("here", 4)
    await queue.enqueue(jobs)
    await line.claim_lane(limit=1, lease_ms=1, lane="here")
    await line.claim_lane(limit=1, lease_ms=LEASE_MS)
    await lanes.pause("here")
    await lanes.resume("here")
    await lanes.reassign(jobs[-1].id, "there")
    await lanes.first("here", on=False)
    await lanes.depths([here, there])
    await lanes.list()
    await lanes.reap("here")
    await lanes.drain("here")


async def tend_gates(queue: QueueStore, line: Line) -> None:
    """Do everything that may be done with limits."""
    gates = queue.gates
    await gates.limit_rate("name:mail", parse_rate("1/ms"))
    await gates.limit_rate("name:sms", parse_rate("1/ms", sliding=True))
    await gates.limit_concurrency("key:mail", 1)
    jobs = [NewJob(job_id(n), b"x", name="mail", limit_key="mail/a") for n in range(80, 83)]
    await queue.enqueue([*jobs, NewJob(job_id(83), b"x", name="sms")])
    held = await claim(line, 9)
    await gates.strike("name:mail", for_ms=0)
    await gates.read()
    await gates.expected_ms(jobs[-1].id)
    await queue.operator.update_progress(jobs[0].id, "half")
    await queue.operator.add_log(jobs[0].id, "a line")
    await queue.operator.update_data(jobs[0].id, b"y")
    await queue.operator.notes(jobs[0].id)
    await queue.operator.holder("k")
    await gates.lift("name:mail")
    for job in held:
        await settle(line, job, Completed())
    for scope in ("name:mail", "name:sms"):
        await gates.limit_rate(scope, None)
    await gates.limit_concurrency("key:mail", None)
    await claim(line, 9)


async def test_a_producer_is_granted_what_it_sends(
    private_server: EmbeddedServer, admin: "redis.Redis"
):
    with monitored(private_server.url) as seen:
        async with Server(options(private_server)) as server:
            await produce(server)

    assert seen <= granted(admin, Role.PRODUCER)


async def serve_peers(
    queue: QueueStore, line: Line, lanes: Lanes, flows: Flows, url: str
) -> set[str]:
    """Run jobs of another runtime's lanes and flows; return what we have sent for it."""
    first, second, third = job_id(30), job_id(31), job_id(32)
    await lanes.enqueue(first, second, third)
    await lanes.limit(1)
    from_lane = await lanes.claim()
    with monitored(url) as seen:
        await settle(line, from_lane, Completed())
        for id_ in (second, third):
            await queue.remove(id_, Places.WAITING)
    sent = set(seen)
    await flows.add(*(child := (job_id(40), job_id(41))))
    with monitored(url) as seen:
        jobs = [job for job in await claim(line, 99) if job.id in child]
        await line.settle([(job, Completed()) for job in jobs])
    return sent | seen


@pytest.mark.case("SEC-15")
async def test_a_worker_is_granted_what_it_sends_and_nothing_else(
    private_server: EmbeddedServer,
    admin: "redis.Redis",
    own_lanes: Lanes,
    own_flows: Flows,
):
    with monitored(private_server.url) as seen:
        async with Server(options(private_server)) as server:
            queue = server.queue(QUEUE)
            line = queue.line(trouble=no_trouble, worker_id="w1", watch_ms=9_000)
            await produce(server)
            await start_and_stop(server, queue)
            await work(server, queue, line)
            await queue.enqueue([new_job(job_id(50))])
            admin.hset(queue.keys.job(job_id(50)), "attempts", "malformed")
            await claim(line, 9)
            await tend_lanes(queue, line)
            await tend_gates(queue, line)
            admin.hset(queue.keys.meta, "max", "1")
            admin.set(f"{queue.keys.root}limiter", "1", px=60_000)
            await claim(line)
            admin.delete(f"{queue.keys.root}limiter")
            admin.hdel(queue.keys.meta, "max")
            await line.aclose()
            await keep_time(queue, admin)
            await server.fleet.zone_data(QUEUE)
    async with Server(options(private_server)) as server:
        queue = server.queue(QUEUE)
        line = queue.line(trouble=no_trouble)
        sent = seen | await serve_peers(queue, line, own_lanes, own_flows, private_server.url)
        await line.aclose()

    rule = granted(admin, Role.WORKER)
    assert sorted(sent - rule) == []
    assert sorted(rule - sent - NOT_SHOWN) == []
