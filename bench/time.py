"""Due jobs and schedulers, many of them: `python -m bench.time`.

What is not yet due must cost nothing, and what is due at once must hold up nobody.
"""

import argparse
import asyncio
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from statistics import median

import redis
from redis.asyncio import Redis

from bench.bed import QUEUE, Bed, bed
from bench.jobs import burst, note_due, report
from bench.slowlog import SlowLog
from bench.standing import add_jobs, add_members, add_schedulers, ids
from bench.table import Row, print_table
from echomq_worker.demo.lateness import percentile
from echomq_worker.domain.job import At, NewJob
from echomq_worker.domain.scheduling.records import Firing
from echomq_worker.protocol.keyspace import Keyspace
from echomq_worker.store import QueueStore

WAITING = (1_000, 100_000, 1_000_000)
SCHEDULERS = 10_000
ROUNDS = 200
SLICE_MS = 20
"""So long one call may keep the server from serving others."""
PATIENCE_S = 120


async def script_times(bed: Bed, waiting: Sequence[int]) -> list[Row]:
    """Time the scripts on the server, by its own log, with more and more that is not yet due."""
    rows: list[Row] = []
    async with Redis.from_url(bed.url) as client:  # pyright: ignore[reportUnknownMemberType]
        queue = bed.server.queue("scripts")
        await add_schedulers(queue, [f"far:{i}" for i in range(SCHEDULERS)], job="none")
        soon = datetime.now(UTC) + timedelta(seconds=1)
        await add_schedulers(queue, ["near"], job="none", first=soon)
        await asyncio.sleep(1)
        there = 0
        for count in waiting:
            await add_members(client, queue.name, count - there, await queue.schedulers.now_ms())
            there = count
            rows += await _timed(client, queue, f"{count:,} waiting, {SCHEDULERS:,} schedulers")
        await client.unlink(Keyspace(queue.name).schedule)
    return rows


async def _timed(client: Redis, queue: QueueStore, told: str) -> list[Row]:
    log = SlowLog(client)
    line = queue.line(trouble=_no_trouble)
    minted = ids()
    await log.start(longer_than_us=20)
    for _ in range(ROUNDS):
        await queue.enqueue([NewJob(next(minted), b"{}", At(1), "none")])
        await queue.promote(100)
        due = await queue.schedulers.due(500)
        near = due.schedulers[0]
        firing = Firing(
            name="near",
            expected_ms=near.next_ms,
            digest=near.digest,
            next_ms=due.now_ms,
            wake_ms=due.now_ms,
            occurrences=((next(minted), due.now_ms - 1),),
        )
        await queue.schedulers.fire([firing])
        await line.claim(limit=2, lease_ms=60_000, promote=100)
    taken = await log.stop()
    await line.aclose()
    named = {
        "promote": "promote of one job",
        "due_schedulers": "look at due schedulers, one is",
        "fire": "fire of one",
        "claim": "claim, with the next wake of both",
    }
    return [
        Row(f"{named[name]} ({told})", median(taken[name]) * 1_000, "us median") for name in named
    ]


async def lateness(bed: Bed, jobs: int) -> list[Row]:
    """See how late jobs and occurrences start while much else waits."""
    queue = bed.server.queue(QUEUE)
    far_ms = time.time_ns() // 1_000_000 + 3_600_000
    await add_jobs(queue, range(far_ms, far_ms + jobs), "bench.nothing", b"{}")
    await add_schedulers(queue, [f"far:{i}" for i in range(SCHEDULERS)], job="bench.nothing")
    async with bed.worker():
        await asyncio.sleep(1.5)
        for i in range(50):
            await bed.app.schedulers.put(
                f"late:{i}", "bench.note_instant", every="1s", offset=f"{i * 17}ms"
            )
        await asyncio.sleep(1)
        await (await report.enqueue()).result("10s")
        await asyncio.sleep(10)
        occurrences = await (await report.enqueue()).result("10s")
        for i in range(50):
            await bed.app.schedulers.remove(f"late:{i}")
        await asyncio.sleep(1)
        await (await report.enqueue()).result("10s")
        delayed = await _delayed(bed, 1_000)
    there = f"{jobs:,} jobs and {SCHEDULERS:,} schedulers present"
    return [
        *_rows(f"{len(delayed):,} delayed jobs, {there}", delayed),
        *_rows(f"{len(occurrences):,} occurrences, {there}", occurrences),
    ]


async def _delayed(bed: Bed, count: int) -> list[float]:
    now_ms = time.time_ns() // 1_000_000 + 100
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    dues = [now_ms + i * 5_000 // count for i in range(count)]
    await bed.app.enqueue_many(
        [note_due.call(due).at(epoch + timedelta(milliseconds=due)) for due in dues]
    )
    await asyncio.sleep(6)
    return await (await report.enqueue()).result("10s")


async def job_burst(bed: Bed, count: int) -> list[Row]:
    """Let jobs be due in one millisecond; see what others notice, and how claims go on."""
    async with bed.worker(), Redis.from_url(bed.url) as client:  # pyright: ignore[reportUnknownMemberType]
        kept = (await bed.server.queue(QUEUE).counts()).scheduled
        due_ms = time.time_ns() // 1_000_000 + 15_000
        payload = b'{"due_ms": %d}' % due_ms
        await add_jobs(bed.server.queue(QUEUE), [due_ms] * count, "bench.note_due", payload)
        log = SlowLog(client)
        await log.start(longer_than_us=500)
        pings = await _watched(bed, due_ms / 1_000, kept)
        taken = await log.stop()
        found = await (await burst.enqueue()).result("30s")
    longest = {name: max(times) for name, times in taken.items()}
    name = max(longest, key=lambda each: longest[each])
    told = f"{count:,} jobs due in one ms"
    return [
        Row(f"{told}: longest script call ({name})", longest[name], "ms", SLICE_MS),
        Row("  longest answer to a PING of somebody else", max(pings), "ms"),
        Row("  the same, p99", percentile(pings, 99), "ms", SLICE_MS),
        Row("  first job started", found["first"], "ms after"),
        Row("  last job started", found["last"], "ms after"),
        Row("  longest time in which none started", found["gap"], "ms"),
        Row("  jobs that did not start", count - found["noted"], "jobs", 0),
    ]


async def scheduler_burst(bed: Bed, count: int) -> list[Row]:
    """Let schedulers be due at one instant."""
    queue = bed.server.queue(QUEUE)
    kept = (await queue.counts()).scheduled
    # Declaring them takes a while, and the worker has to start.
    first = datetime.now(UTC) + timedelta(seconds=20 + count / 250)
    await add_schedulers(
        queue, [f"at:{i}" for i in range(count)], job="bench.note_instant", first=first
    )
    async with bed.worker(), Redis.from_url(bed.url) as client:  # pyright: ignore[reportUnknownMemberType]
        await asyncio.sleep((first - datetime.now(UTC)).total_seconds() - 1)
        log = SlowLog(client)
        await log.start(longer_than_us=500)
        pings = await _watched(bed, first.timestamp(), kept)
        taken = await log.stop()
        found = await (await burst.enqueue()).result("30s")
    fires, looks = taken.get("fire", []), taken.get("due_schedulers", [])
    told = f"{count:,} schedulers due at one instant"
    return [
        Row(f"{told}: calls of fire", len(fires), "calls"),
        Row("  longest", max(fires, default=0), "ms", SLICE_MS),
        Row("  all of them", sum(fires), "ms"),
        Row("  looks at what is due", len(looks), "calls"),
        Row("  longest", max(looks, default=0), "ms", SLICE_MS),
        Row("  longest answer to a PING of somebody else", max(pings), "ms"),
        Row("  last job started", found["last"], "ms after"),
        Row("  occurrences that did not start once", abs(count - found["noted"]), "jobs", 0),
    ]


async def _watched(bed: Bed, since_s: float, kept: int) -> list[float]:
    """Ping the server until all is done; return how long each answer took, in ms.

    Args:
        bed: where.
        since_s: when what is watched is due.
        kept: how many jobs stay.
    """
    over = threading.Event()
    pings = asyncio.create_task(asyncio.to_thread(_pinged, bed.url, over))
    queue = bed.server.queue(QUEUE)
    await asyncio.sleep(since_s - time.time() + 0.3)
    give_up = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up:
        counts = await queue.counts()
        left = counts.pending + counts.active + counts.scheduled
        if left <= kept and not (await queue.schedulers.due(1)).schedulers:
            break
        await asyncio.sleep(0.2)
    over.set()
    return await pings


def _pinged(url: str, over: threading.Event) -> list[float]:
    client, took = redis.Redis.from_url(url), list[float]()
    while not over.wait(0.001):
        began = time.perf_counter()
        client.ping()  # pyright: ignore[reportUnknownMemberType]
        took.append((time.perf_counter() - began) * 1_000)
    client.close()
    return took


def _rows(what: str, late: Sequence[float]) -> list[Row]:
    return [
        Row(f"{what}: started early", sum(value < 0 for value in late), "jobs", 0),
        Row("  lateness p50", percentile(late, 50), "ms"),
        Row("  lateness p99", percentile(late, 99), "ms", 10),
        Row("  lateness max", max(late), "ms"),
    ]


async def _no_trouble(error: Exception, tries: int) -> None:
    del tries
    raise error


async def main(waiting: Sequence[int], present: int, jobs: int, schedulers: int) -> None:
    """Measure and print. What one part leaves behind is present in the next ones."""
    async with bed() as made:
        print_table("Scripts, on the server", await script_times(made, waiting))
        print_table("Start of what is due", await lateness(made, present))
        print_table("A burst of jobs", await job_burst(made, jobs))
        print_table("A burst of schedulers", await scheduler_burst(made, schedulers))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--waiting", type=int, nargs="+", default=WAITING)
    parser.add_argument("--present", type=int, default=100_000)
    parser.add_argument("--jobs", type=int, default=50_000)
    parser.add_argument("--schedulers", type=int, default=SCHEDULERS)
    given = parser.parse_args()
    asyncio.run(main(given.waiting, given.present, given.jobs, given.schedulers))
