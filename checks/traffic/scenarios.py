"""The fixed scenarios: what a producer and a worker's line do, without a clock in it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from checks.traffic.baseline import Cost
from checks.traffic.watch import watched
from echomq_worker import EchoMQ
from echomq_worker.domain.job import After, Held, JobId, NewJob
from echomq_worker.domain.minter import Minter
from echomq_worker.domain.outcome import Completed
from echomq_worker.domain.replies import Presence
from echomq_worker.store import QueueStore, Server, ServerOptions
from echomq_worker.store.line import Line

QUEUE = "traffic"
JOBS = 1_000
AT_ONCE = 32
LEASE_MS = 30_000


@dataclass(frozen=True, slots=True)
class Bench:
    """An empty server, and connections that are warm: set-up is no part of what is counted."""

    url: str
    app: EchoMQ
    queue: QueueStore
    line: Line

    async def cost(self, per: str, units: float, work: Callable[[], Awaitable[object]]) -> Cost:
        """Count what some work sends, for each of its units."""
        with watched(self.url) as traffic:
            await work()
        sent, inside = traffic.sent.total(), traffic.inside.total()
        return Cost.of(per, units, sent=sent, inside=inside)


Scenario = Callable[[Bench], Awaitable[Cost]]


async def enqueue_one(bench: Bench) -> Cost:
    """Enqueue jobs one after the other."""

    async def work() -> None:
        for number in range(100):
            await bench.app.enqueue_by_name("noop", {"n": number})

    return await bench.cost("job", 100, work)


async def enqueue_many(bench: Bench) -> Cost:
    """Enqueue a thousand jobs in one call."""
    noop = bench.app.job("noop.many")(_noop)
    calls = [noop.call(n) for n in range(JOBS)]
    return await bench.cost("job", JOBS, lambda: bench.app.enqueue_many(calls))


async def schedule_many(bench: Bench) -> Cost:
    """Schedule a thousand jobs in one call."""
    jobs = _new_jobs(JOBS, due=After(60_000))
    return await bench.cost("job", JOBS, lambda: bench.queue.enqueue(jobs))


async def drain_in_batches(bench: Bench) -> Cost:
    """Claim 32 jobs, then settle them and claim the next 32, to the last of a thousand."""
    await bench.queue.enqueue(_new_jobs(JOBS))

    async def work() -> None:
        claimed = await bench.line.claim(limit=AT_ONCE, lease_ms=LEASE_MS, promote=AT_ONCE)
        held = list(claimed.jobs)
        while held:
            held = await _settle(bench.line, held)

    return await bench.cost("job", JOBS, work)


async def drain_one_by_one(bench: Bench) -> Cost:
    """Claim and settle jobs singly, as a worker with one slot does."""
    await bench.queue.enqueue(_new_jobs(100))

    async def work() -> None:
        claimed = await bench.line.claim(limit=1, lease_ms=LEASE_MS, promote=1)
        held = list(claimed.jobs)
        while held:
            held = await _settle(bench.line, held, limit=1)

    return await bench.cost("job", 100, work)


async def promote_in_batches(bench: Bench) -> Cost:
    """Promote a thousand due jobs, a hundred at a time."""
    await bench.queue.enqueue(_new_jobs(JOBS, due=After(0)))

    async def work() -> None:
        while (await bench.queue.promote(100)).moved:
            pass

    return await bench.cost("job", JOBS, work)


async def extend_leases(bench: Bench) -> Cost:
    """Extend the leases of 32 running jobs."""
    await bench.queue.enqueue(_new_jobs(AT_ONCE))
    claimed = await bench.line.claim(limit=AT_ONCE, lease_ms=LEASE_MS, promote=0)
    held = list(claimed.jobs)
    return await bench.cost("job", AT_ONCE, lambda: bench.queue.extend(held, LEASE_MS))


async def idle_beat(bench: Bench) -> Cost:
    """Beat ten times on an empty queue."""

    async def work() -> None:
        for _ in range(10):
            await bench.line.beat(
                limit=AT_ONCE,
                lease_ms=LEASE_MS,
                promote=AT_ONCE,
                reap=AT_ONCE,
                crash_limit=5,
                max_attempts=10,
                worker=Presence("checks", {"pid": "1"}),
            )

    return await bench.cost("beat", 10, work)


SCENARIOS: tuple[Scenario, ...] = (
    enqueue_one,
    enqueue_many,
    schedule_many,
    drain_one_by_one,
    drain_in_batches,
    promote_in_batches,
    extend_leases,
    idle_beat,
)


async def run_scenario(url: str, scenario: Scenario) -> Cost:
    """Run one scenario on an empty server that nobody else uses."""
    app = EchoMQ(url, default_queue=QUEUE)
    async with app, Server(ServerOptions(url=url)) as server:
        queue = server.queue(QUEUE)
        line = queue.line(trouble=_none_expected)
        await app.enqueue_by_name("noop", {"n": 0})
        await queue.enqueue(_new_jobs(1))
        claimed = await line.claim(limit=2, lease_ms=LEASE_MS, promote=1)
        await _settle(line, list(claimed.jobs))
        try:
            return await scenario(Bench(url, app, queue, line))
        finally:
            await line.aclose()


async def _settle(line: Line, held: list[Held], limit: int = AT_ONCE) -> list[Held]:
    settled = await line.settle(
        [(job, Completed()) for job in held], limit=limit, lease_ms=LEASE_MS, promote=limit
    )
    return list(settled.claimed.jobs)


def _new_jobs(count: int, due: After | None = None) -> list[NewJob]:
    minter = Minter(0, clock_ms=lambda: 1_780_226_888_000, dice=lambda _: 0)
    return [NewJob(JobId(minter.mint()), b'{"n":1}', due, name="noop") for _ in range(count)]


def _noop(n: int) -> None:
    del n


async def _none_expected(error: Exception, tries: int) -> None:
    msg = f"the server failed in try {tries}: {error}"
    raise RuntimeError(msg) from error
