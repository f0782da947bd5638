"""What a worker costs that has nothing to do: `python -m bench.idle`."""

import argparse
import asyncio
import re
import threading
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import redis

from bench.bed import QUEUE, Bed, bed
from bench.jobs import note_due
from bench.standing import add_schedulers
from bench.table import Row, print_table

SCHEDULERS = 10_000
_OURS = frozenset({"ECHO", "HELLO", "CLIENT"})
"""What the measurement itself sends."""


async def measure(bed: Bed, seconds: int) -> list[Row]:
    """Listen to what an idle worker sends; look at its memory and CPU."""
    async with bed.worker() as process:
        await asyncio.sleep(2)
        empty = await asyncio.to_thread(_commands, bed.url, seconds)
        far = await note_due.enqueue_in("1h", 0)
        cpu_s = _cpu_s(process.pid)
        await asyncio.sleep(2)
        later = await asyncio.to_thread(_commands, bed.url, seconds)
        cpu_s = _cpu_s(process.pid) - cpu_s
        memory = _memory_mib(process.pid)
        await far.cancel()
        first = datetime.now(UTC) + timedelta(hours=1)
        names = [f"far:{i}" for i in range(SCHEDULERS)]
        await add_schedulers(bed.server.queue(QUEUE), names, job="bench.nothing", first=first)
        await asyncio.sleep(2)
        many = await asyncio.to_thread(_commands, bed.url, seconds)
    return [
        Row(f"commands a second, nothing scheduled {_told(empty)}", empty.total() / seconds, "", 2),
        Row(
            f"commands a second, one job due in an hour {_told(later)}",
            later.total() / seconds,
            "",
            2,
        ),
        Row(
            f"commands a second, {SCHEDULERS:,} schedulers due in an hour {_told(many)}",
            many.total() / seconds,
            "",
            2,
        ),
        Row("resident memory", memory, "MiB", 60),
        Row("CPU", cpu_s / (seconds + 2) * 100, "%"),
    ]


def _commands(url: str, seconds: int) -> Counter[str]:
    """Count what clients send for a while; what scripts do inside the server is not counted."""
    client = redis.Redis.from_url(url)
    found: Counter[str] = Counter()
    end = time.monotonic() + seconds
    # MONITOR blocks while nothing is said: a last word ends it.
    farewell = threading.Timer(seconds, lambda: redis.Redis.from_url(url).echo("bench"))
    with client.monitor() as monitor:
        farewell.start()
        while time.monotonic() < end:
            line = cast("dict[str, str]", monitor.next_command())
            word = line["command"].split()[0].upper()
            if line["client_type"] != "lua" and word not in _OURS:
                found[word] += 1
    farewell.join()
    client.close()
    return found


def _told(counted: Counter[str]) -> str:
    return "(" + ", ".join(f"{count} {word}" for word, count in counted.most_common()) + ")"


def _memory_mib(pid: int) -> float:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else float("nan")


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


async def main(seconds: int = 10) -> None:
    """Measure and print."""
    async with bed() as made:
        print_table("Idle worker, one queue", await measure(made, seconds))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=10)
    asyncio.run(main(parser.parse_args().seconds))
