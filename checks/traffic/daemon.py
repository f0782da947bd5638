"""The scenarios of a whole worker, in this process."""

import asyncio
import time

from checks.traffic.baseline import Cost
from checks.traffic.bench import JOBS, LEASE_MS, QUEUE, Bench, new_jobs
from echomq_worker.domain.job import After
from echomq_worker.domain.queue_name import QueueWeight
from echomq_worker.store import ServerOptions
from echomq_worker.store.extender import BlockingExtender
from echomq_worker.system_clock import SystemClock
from echomq_worker.worker import Budget, ExitStatus, Outside, Stop, WorkerOptions, run_daemon

BEAT_MS = 100
BEATS = 20


async def worker_drains(bench: Bench) -> Cost:
    """Start a worker with its default slots on a thousand jobs; it leaves when they are done."""
    await bench.queue.enqueue(new_jobs(JOBS))
    return await bench.cost("job", JOBS, lambda: _run(bench, _stop(), burst=True))


async def worker_starts_and_stops(bench: Bench) -> Cost:
    """Start a worker on an empty queue; it leaves at once. The dearest of ten starts counts."""
    # Whether it lies down to listen before it leaves is a matter of luck.
    starts = [
        await bench.cost("start", 1, lambda: _run(bench, _stop(), burst=True)) for _ in range(10)
    ]
    return max(starts, key=lambda cost: (cost.sent, cost.inside))


async def worker_idles(bench: Bench) -> Cost:
    """Watch a worker that has nothing to do for twenty beats; one job is due in an hour."""
    await bench.queue.enqueue(new_jobs(1, due=After(3_600_000)))
    stop = _stop()
    running = asyncio.create_task(_run(bench, stop, burst=False, beat_ms=BEAT_MS))
    await asyncio.sleep(5 * BEAT_MS / 1_000)
    began = time.monotonic()
    cost = await bench.cost("beat", 1, lambda: asyncio.sleep(BEATS * BEAT_MS / 1_000))
    beats = (time.monotonic() - began) * 1_000 / BEAT_MS
    stop.drain("the scenario is over")
    await running
    return Cost.of(cost.per, beats, sent=round(cost.sent), inside=round(cost.inside))


def _stop() -> Stop:
    return Stop(SystemClock(), Budget())


async def _run(bench: Bench, stop: Stop, *, burst: bool, beat_ms: int = 1_000) -> ExitStatus:
    extender = BlockingExtender(ServerOptions(url=bench.url))
    options = WorkerOptions(queues=(QueueWeight(QUEUE),), lease_ms=LEASE_MS, beat_ms=beat_ms)
    outside = Outside(
        queues=[bench.queue],
        extender=extender,
        registry=bench.app.registry,
        clock=SystemClock(),
        mint=bench.app.minter.mint,
    )
    try:
        return await run_daemon(options, outside, stop, burst=burst)
    finally:
        extender.close()


WORKER_SCENARIOS = (worker_starts_and_stops, worker_drains, worker_idles)
