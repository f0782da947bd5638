"""A key of a queue that holds another type: a script refuses before its first write, naming it.

Every key of a queue that has everything is replaced in turn, and every operation tried on it. What
an operation does not need, it leaves alone.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import pytest
import pytest_asyncio

from echomq_worker.domain.job import After, Held
from echomq_worker.domain.outcome import Completed
from echomq_worker.errors import WrongTypeError
from echomq_worker.store import Order, Places, Presence, QueueStore, Server, ServerOptions
from echomq_worker.store.calls import Caller
from echomq_worker.store.line import Line
from tests.support.jobs import LEASE_MS, A, B, C, D, E, F, claim, job_id, new_job
from tests.support.look import Look
from tests.support.stores import no_trouble

LANE = "LAN00000000001"
WATCH_MS = 60_000
SIDE = {"ring", "wake", "gactive", "glimit", "paused", "flow:outbox", "quarantine"} | {
    *("prioritized", "pc", "turn")
}
IN_LANE = f"g:{LANE}:pending"
WAITING = {"pending", "bell", "log"} | SIDE
HANDOUT = {"active", "schedule", "meta", "clock", "call:me"} | WAITING
DEATH = {"dead", "dead:at", "metrics:failed"}
ALL_SETS = {"pending", "active", "schedule", "dead"}


@dataclass
class Full:
    """A queue that has every key there is."""

    server: Server
    queue: QueueStore
    look: Look
    held: Held
    dumps: dict[str, bytes]

    @asynccontextmanager
    async def line(self) -> AsyncGenerator[Line]:
        """A line that always begins with its first call."""
        line = self.queue.line(
            trouble=no_trouble, worker_id="w1", watch_ms=WATCH_MS, caller=Caller(name="me")
        )
        try:
            yield line
        finally:
            await line.aclose()

    async def restore(self) -> None:
        """Put every key back as it was."""
        for key in await self.look.key_names():
            await self.look.do("DEL", key)
        for key, dump in self.dumps.items():
            await self.look.do("RESTORE", key, 0, dump)

    async def replace(self, key: str) -> None:
        kind = await self.look.do("TYPE", key)
        await self.look.do("DEL", key)
        if kind == b"string":
            await self.look.do("RPUSH", key, "foreign")
        else:
            await self.look.do("SET", key, "foreign")


async def fill(queue: QueueStore, look: Look) -> Held:
    """A is held, B was lost, C and two more wait, D is due, E is dead; of those, one has a lane."""
    keys = look.keys
    await queue.enqueue([new_job(A), new_job(B)])
    line = queue.line(trouble=no_trouble, worker_id="w1", watch_ms=WATCH_MS)
    held, _ = await claim(line, 2)
    await line.aclose()
    await look.expire_lease(B)
    await queue.enqueue([new_job(C), new_job(job_id(9)), new_job(D, at_ms=1), new_job(E)])
    await queue.enqueue([replace(new_job(job_id(8)), priority=5)])
    for command in (
        ("ZREM", keys.pending, C, E),
        ("ZADD", keys.lane(LANE), 0, C),
        ("ZADD", keys.dead, 0, E),
        ("ZADD", keys.dead_at, 1, E),
        *(("HSET", keys.job(id_), "group", LANE) for id_ in (A, B, C, D, E)),
        *(("RPUSH", key, "1") for key in (keys.bell, keys.clock, keys.wake, keys.outbox)),
        ("RPUSH", keys.ring, LANE),
        ("HSET", keys.lane_actives, LANE, 2),
        ("HSET", keys.lane_limits, LANE, 9),
        ("SADD", keys.lanes_paused, "LAN00000000002"),
        ("XADD", keys.quarantine, "*", "id", "x"),
        ("XADD", keys.log, "*", "event", "x"),
        ("ZADD", keys.workers, 9e15, "w1"),
        ("HSET", keys.worker("w1"), "beat", 1),
        ("HSET", keys.done(A), "outcome", "x"),
        ("ZADD", keys.completed, 1, A),
        *(("HSET", key, "count", 1) for key in (keys.completed_count, keys.failed_count)),
        ("HSET", keys.meta, "max", 5),
        ("SET", keys.dedup("mine"), F),
        ("SET", keys.call("me"), "0 "),
        ("SET", f"{keys.root}turn", "1"),
        ("SET", keys.pump, "w1"),
    ):
        await look.do(*command)
    return held


@pytest_asyncio.fixture
async def full(server_url: str, queue_name: str, look: Look) -> AsyncGenerator[Full]:
    options = ServerOptions(url=server_url, extension=None, log_size=100)
    async with Server(options) as server:
        queue = server.queue(queue_name)
        held = await fill(queue, look)
        for key in await look.key_names():
            if ":call:" in key and not key.endswith(":me"):
                await look.do("DEL", key)
        yield Full(server, queue, look, held, await look.dumps())
        for key in await look.key_names():
            await look.do("DEL", key)


async def claims(full: Full) -> None:
    async with full.line() as line:
        await line.claim(limit=9, lease_ms=LEASE_MS, promote=9)


async def settles(full: Full) -> None:
    outcome = (full.held, Completed(b"x", 60_000))
    async with full.line() as line:
        await line.settle([outcome], limit=9, lease_ms=LEASE_MS, promote=9)


async def beats(full: Full) -> None:
    limits = {"limit": 9, "promote": 9, "reap": 9, "crash_limit": 1, "max_attempts": 9}
    async with full.line() as line:
        await line.beat(lease_ms=LEASE_MS, worker=Presence("w1"), **limits)


Operation = Callable[[Full], Awaitable[object]]
OPERATIONS: dict[str, tuple[Operation, set[str]]] = {
    "claim": (claims, HANDOUT | {"pump"}),
    "settle": (
        settles,
        HANDOUT | DEATH | {"completed", "metrics:completed", f"done:{A}"},
    ),
    "beat": (beats, HANDOUT | DEATH | {"pump", "workers", "worker:w1"}),
    "promote": (
        lambda full: full.queue.promote(9, worker_id="w1", watch_ms=WATCH_MS),
        WAITING | {"schedule", "pump"},
    ),
    "reap": (lambda full: full.queue.reap(9), WAITING | DEATH | {"active", "clock"}),
    "extend": (lambda full: full.queue.extend([full.held], LEASE_MS), {"active"}),
    "requeue": (lambda full: full.queue.requeue([E]), WAITING | {IN_LANE, "dead", "dead:at"}),
    "remove": (
        lambda full: full.queue.remove(C, Places.ANY, dedup_id="mine"),
        WAITING | ALL_SETS | {IN_LANE, "dead:at", "de:mine"},
    ),
    "reschedule": (
        lambda full: full.queue.reschedule([D], After(9)),
        {"schedule", "clock", "log"} | SIDE,
    ),
    "reprioritize": (
        lambda full: full.queue.reprioritize([job_id(9)], 5),
        {"pending", "bell", "log"} | SIDE,
    ),
    "put order": (lambda full: full.queue.put_order(Order.MINT), {"meta", "prioritized"}),
    "order": (lambda full: full.queue.order(), {"meta"}),
    "promote now": (lambda full: full.queue.promote_now([D]), WAITING | {IN_LANE, "schedule"}),
    "pause": (lambda full: full.queue.pause(reason="x", by="y"), {"meta"}),
    "resume": (lambda full: full.queue.resume(), {"meta", "pending", "bell"}),
    "leave": (lambda full: full.queue.leave("w1"), {"workers", "worker:w1", "pump", "bell"}),
    "counts": (
        lambda full: full.queue.counts(),
        ALL_SETS
        | {"meta", "workers", "metrics:completed", "metrics:failed", "quarantine"}
        | {"prioritized", "ring"},
    ),
    "inspect": (lambda full: full.queue.inspect(A), ALL_SETS | {"dead:at"}),
    "pending_ids": (lambda full: full.queue.pending_ids(9), {"pending"}),
    "dead_ids": (lambda full: full.queue.dead_ids(9), {"dead"}),
    "result": (lambda full: full.queue.result(A), {f"done:{A}"}),
    "log": (lambda full: full.queue.log(), {"log"}),
}


async def outcome_of(full: Full, operation: Operation) -> WrongTypeError | None:
    full.queue.use_caller(Caller(name="me"))
    try:
        await operation(full)
    except WrongTypeError as error:
        return error
    return None


async def refused_keys(full: Full, operation: Operation) -> set[str]:
    """Try the operation with each key replaced; return the keys for which it is refused."""
    refused: set[str] = set()
    for key in full.dumps:
        if ":job:" in key:
            continue  # a row: that is a matter for quarantine
        await full.restore()
        await full.replace(key)
        before = await full.look.dumps()
        refusal = await outcome_of(full, operation)
        after = await full.look.dumps()
        assert after[key] == before[key]
        if refusal is not None:
            assert key in str(refusal)
            assert after == before
            refused.add(key.removeprefix(full.look.keys.root))
    return refused


@pytest.mark.case("SRV-17")
@pytest.mark.parametrize("name", OPERATIONS)
async def test_a_key_of_another_type_is_refused_by_whoever_needs_it(full: Full, name: str):
    operation, needed = OPERATIONS[name]

    assert await refused_keys(full, operation) == needed


@pytest.mark.parametrize(
    ("due_ms", "needed"),
    [
        (None, {"pending", "bell", "log", "call:me"}),
        (1, {"schedule", "clock", "log", "call:me"}),
    ],
)
async def test_enqueueing_needs_little(full: Full, due_ms: int | None, needed: set[str]):
    job = new_job(F, at_ms=due_ms)

    assert await refused_keys(full, lambda full: full.queue.enqueue([job])) == needed


async def test_a_row_of_another_type_counts_as_a_duplicate(full: Full):
    await full.look.do("SET", full.look.keys.job(F), "foreign")
    before = await full.look.dumps()

    assert await full.queue.enqueue([new_job(F), new_job(F, at_ms=1)]) == ["duplicate"] * 2
    assert await full.look.dumps() == before


@pytest.mark.broken_state("a key is of another type")
async def test_the_mark_of_the_extension_needs_the_settings_of_the_queue(
    queue: QueueStore, look: Look
):
    await look.do("SET", look.keys.meta, "foreign")

    with pytest.raises(WrongTypeError, match=r"meta holds a string, expected a hash"):
        await queue.enqueue([new_job(A)])
    assert await look.key_names() == [look.keys.meta]


@pytest.mark.broken_state("a key is of another type")
@pytest.mark.parametrize("listen", ["bell", "clock"])
async def test_listening_to_a_key_of_another_type_is_refused(
    queue: QueueStore, look: Look, listen: str
):
    key = look.keys.root + listen
    await look.do("SET", key, "foreign")

    with pytest.raises(WrongTypeError, match=listen):
        await queue.wait_hint(bell=True, clock=True, timeout_ms=20)


@pytest.mark.parametrize("name", ["claim", "settle", "beat", "promote", "reap"])
async def test_a_lane_of_another_type_stops_no_worker(full: Full, name: str):
    operation, _ = OPERATIONS[name]
    await full.replace(full.look.keys.lane(LANE))

    assert await outcome_of(full, operation) is None


async def test_jobs_of_a_lane_of_another_type_wait_in_pending(full: Full):
    await full.replace(full.look.keys.lane(LANE))

    await full.queue.promote(9)
    await full.queue.reap(9)

    assert {D, B} <= set(await full.queue.pending_ids(9))
