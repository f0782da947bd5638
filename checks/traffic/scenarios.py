"""The scenarios without a clock in them: what a producer does, and one line of a worker."""

from checks.traffic.baseline import Cost
from checks.traffic.bench import JOBS, LEASE_MS, Bench, new_jobs
from echomq_worker.domain.job import After, Held
from echomq_worker.domain.outcome import Completed
from echomq_worker.domain.replies import Presence
from echomq_worker.store.line import Line

AT_ONCE = 32


async def enqueue_one(bench: Bench) -> Cost:
    """Enqueue jobs one after the other."""

    async def work() -> None:
        for number in range(100):
            await bench.app.enqueue_by_name("noop", {"n": number})

    return await bench.cost("job", 100, work)


async def enqueue_many(bench: Bench) -> Cost:
    """Enqueue a thousand jobs in one call."""
    calls = [bench.noop.call(n) for n in range(JOBS)]
    return await bench.cost("job", JOBS, lambda: bench.app.enqueue_many(calls))


async def schedule_many(bench: Bench) -> Cost:
    """Schedule a thousand jobs in one call."""
    jobs = new_jobs(JOBS, due=After(60_000))
    return await bench.cost("job", JOBS, lambda: bench.queue.enqueue(jobs))


async def drain_in_batches(bench: Bench) -> Cost:
    """Claim 32 jobs, then settle them and claim the next 32, to the last of a thousand."""
    await bench.queue.enqueue(new_jobs(JOBS))
    return await bench.cost("job", JOBS, lambda: _drain(bench.line, AT_ONCE))


async def drain_one_by_one(bench: Bench) -> Cost:
    """Claim and settle jobs singly, as a worker with one slot does."""
    await bench.queue.enqueue(new_jobs(100))
    return await bench.cost("job", 100, lambda: _drain(bench.line, 1))


async def promote_in_batches(bench: Bench) -> Cost:
    """Promote a thousand due jobs, a hundred at a time."""
    await bench.queue.enqueue(new_jobs(JOBS, due=After(0)))

    async def work() -> None:
        while (await bench.queue.promote(100)).moved:
            pass

    return await bench.cost("job", JOBS, work)


async def extend_leases(bench: Bench) -> Cost:
    """Extend the leases of 32 running jobs."""
    await bench.queue.enqueue(new_jobs(AT_ONCE))
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


async def _drain(line: Line, at_once: int) -> None:
    claimed = await line.claim(limit=at_once, lease_ms=LEASE_MS, promote=at_once)
    held: list[Held] = list(claimed.jobs)
    while held:
        settled = await line.settle(
            [(job, Completed()) for job in held],
            limit=at_once,
            lease_ms=LEASE_MS,
            promote=at_once,
        )
        held = list(settled.claimed.jobs)


SCENARIOS = (
    enqueue_one,
    enqueue_many,
    schedule_many,
    drain_one_by_one,
    drain_in_batches,
    promote_in_batches,
    extend_leases,
    idle_beat,
)
