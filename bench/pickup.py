"""How soon an idle worker starts a job that may run at once: `python -m bench.pickup`."""

import argparse
import asyncio
import random
import time

from bench.bed import Bed, bed
from bench.jobs import note, report
from bench.table import Row, print_table
from echomq_worker.demo.lateness import percentile


async def measure(bed: Bed, count: int) -> list[Row]:
    """Enqueue jobs one by one, each when the worker is idle; time enqueue call to handler."""
    async with bed.worker():
        await asyncio.sleep(1.5)
        for _ in range(count):
            await note.enqueue(time.monotonic_ns())
            await asyncio.sleep(random.uniform(0.005, 0.03))
        waits = await (await report.enqueue()).result("10s")
    return [
        Row(
            f"pickup p50 ({len(waits)} jobs, enqueue call to handler)",
            percentile(waits, 50),
            "ms",
            2,
        ),
        Row("pickup p99", percentile(waits, 99), "ms", 10),
        Row("pickup max", max(waits), "ms"),
    ]


async def main(count: int = 1_000) -> None:
    """Measure and print."""
    async with bed() as made:
        print_table("Immediate jobs, idle worker", await measure(made, count))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1_000)
    asyncio.run(main(parser.parse_args().jobs))
