"""How late an idle worker starts delayed jobs: `python -m bench.lateness`."""

import argparse
import asyncio
import random
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from bench.bed import Bed, bed
from bench.jobs import note_due, report
from bench.table import Row, print_table
from echomq_worker.demo.lateness import percentile

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HOUR_MS = 3_600_000


async def measure(bed: Bed, count: int, rounds: int) -> list[Row]:
    """Schedule jobs at random, then single ones while the pump sleeps toward a far one."""
    async with bed.worker():
        await asyncio.sleep(1.5)
        spread = await _spread(bed, count)
        single = await _while_asleep(rounds)
    return [
        *_rows(f"{count} jobs due in 0.1-5 s", spread),
        *_rows(f"one due in 200 ms, pump asleep for an hour ({rounds} times)", single),
    ]


async def _spread(bed: Bed, count: int) -> list[float]:
    now_ms = time.time_ns() // 1_000_000
    dues = [now_ms + random.randint(100, 5_000) for _ in range(count)]
    await bed.app.enqueue_many([note_due.call(due).at(_instant(due)) for due in dues])
    await asyncio.sleep((max(dues) - time.time_ns() / 1e6) / 1_000 + 0.5)
    return await (await report.enqueue()).result("10s")


async def _while_asleep(rounds: int) -> list[float]:
    far = await note_due.enqueue_in(HOUR_MS / 1_000, time.time_ns() // 1_000_000 + HOUR_MS)
    for _ in range(rounds):
        await asyncio.sleep(random.uniform(1.0, 2.0))
        due_ms = time.time_ns() // 1_000_000 + 200
        await note_due.enqueue_at(_instant(due_ms), due_ms)
        await asyncio.sleep(0.3)
    await far.cancel()
    return await (await report.enqueue()).result("10s")


def _instant(unix_ms: int) -> datetime:
    return EPOCH + timedelta(milliseconds=unix_ms)


def _rows(what: str, late: Sequence[float]) -> list[Row]:
    early = sum(value < 0 for value in late)
    return [
        Row(f"{what}: started early", early, "jobs", 0),
        Row("  lateness p50", percentile(late, 50), "ms"),
        Row("  lateness p99", percentile(late, 99), "ms", 10),
        Row("  lateness max", max(late), "ms"),
    ]


async def main(count: int = 1_000, rounds: int = 10) -> None:
    """Measure and print."""
    async with bed() as made:
        print_table("Delayed jobs, idle worker", await measure(made, count, rounds))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=10)
    given = parser.parse_args()
    asyncio.run(main(given.jobs, given.rounds))
