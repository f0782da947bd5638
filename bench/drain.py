"""What a job that does nothing costs the worker: `python -m bench.drain`."""

import argparse
import asyncio
import os
import time

from bench.bed import QUEUE, Bed, bed
from bench.jobs import nothing
from bench.table import Row, print_table


async def measure(bed: Bed, count: int) -> list[Row]:
    """Let a worker at its default 32 slots empty a full queue; compare with an empty one."""
    idle_cpu_s, idle_s = await asyncio.to_thread(_burst, bed)
    for _ in range(0, count, 1_000):
        await bed.app.enqueue_many(nothing.call() for _ in range(1_000))
    waiting = (await bed.server.queue(QUEUE).counts()).pending
    cpu_s, elapsed_s = await asyncio.to_thread(_burst, bed)
    left = await bed.server.queue(QUEUE).counts()
    if left.pending or left.active or left.completed != waiting:
        msg = f"not all of {waiting} jobs completed: {left}. {bed.log()}"
        raise RuntimeError(msg)
    return [
        Row(
            f"worker CPU a job ({waiting} jobs, 32 slots)",
            (cpu_s - idle_cpu_s) / waiting * 1e6,
            "us",
            60,
        ),
        Row("jobs a second", waiting / (elapsed_s - idle_s), "jobs"),
        Row("start and stop of a worker without jobs, CPU", idle_cpu_s * 1_000, "ms"),
    ]


def _burst(bed: Bed) -> tuple[float, float]:
    began = time.monotonic()
    process = bed.start("--burst")
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
