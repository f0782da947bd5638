"""What a job that does nothing costs the worker: `python -m bench.drain`."""

import argparse
import asyncio
import os
import time

from bench.bed import QUEUE, Bed, bed
from bench.jobs import nothing
from bench.table import Row, print_table

BATCH = 1_000


async def measure(bed: Bed, count: int) -> list[Row]:
    """Let a worker at its default 32 slots empty a full queue; compare with an empty one."""
    idle_cpu_s, idle_s = await asyncio.to_thread(_burst, bed, "warning")
    rows: list[Row] = []
    for level, told in (("info", "a log line each"), ("warning", "no log lines")):
        cpu_s, elapsed_s = await _drain(bed, count, level)
        cost_us = (cpu_s - idle_cpu_s) / count * 1e6
        rows += [
            Row(f"worker CPU a job ({count} jobs, 32 slots, {told})", cost_us, "us", 60),
            Row("  jobs a second", count / (elapsed_s - idle_s), "jobs"),
        ]
    return [*rows, Row("start and stop of a worker without jobs, CPU", idle_cpu_s * 1e3, "ms")]


async def _drain(bed: Bed, count: int, level: str) -> tuple[float, float]:
    queue = bed.server.queue(QUEUE)
    before = await queue.counts()
    for first in range(0, count, BATCH):
        await bed.app.enqueue_many(nothing.call() for _ in range(min(BATCH, count - first)))
    spent = await asyncio.to_thread(_burst, bed, level)
    after = await queue.counts()
    if after.pending or after.active or after.completed - before.completed != count:
        msg = f"not all of {count} jobs completed: {after}. {bed.log()}"
        raise RuntimeError(msg)
    return spent


def _burst(bed: Bed, level: str) -> tuple[float, float]:
    """Return the CPU time and the duration (in s) of a worker that empties the queue."""
    began = time.monotonic()
    process = bed.start("--burst", ECHOMQ_LOG_LEVEL=level)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        msg = f"the worker ended with {process.returncode}: {bed.log()}"
        raise RuntimeError(msg)
    return usage.ru_utime + usage.ru_stime, time.monotonic() - began


async def main(count: int = 30_000) -> None:
    """Measure and print."""
    async with bed() as made:
        print_table("Drain of no-op jobs", await measure(made, count))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=30_000)
    asyncio.run(main(parser.parse_args().jobs))
