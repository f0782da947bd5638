"""What it costs to be fair: `python -m bench.claims`.

The time that the server spends in a claim of one job and in the settlement of it, with few and many
lanes, with many jobs waiting in each place, and with limits that do not bind.
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, cast

from redis.asyncio import Redis

from bench.jobs import app
from bench.table import Row, print_table
from echomq_worker.domain.gates import parse_rate
from echomq_worker.domain.job import NewJob
from echomq_worker.domain.lanes import lane_group
from echomq_worker.domain.outcome import Completed
from echomq_worker.embedded import EmbeddedServer
from echomq_worker.store import QueueStore, Server, ServerOptions
from echomq_worker.store.line import Line

ROUNDS = 300
BATCH = 1_000
MANY = 1_000_000
LANES = 100_000
DRAINED, DRAINS = 10_000, 25
FEWER = 20
"""With `--quick`, so many times less of everything."""

Fill = Callable[["Bench"], Awaitable[None]]


class Bench:
    """One queue on a server of its own, and how much of everything there is to be."""

    def __init__(self, queue: QueueStore, client: Redis, less: int) -> None:
        self.queue = queue
        self.client = client
        self.many = MANY // less
        self.lanes = LANES // less

    async def jobs(self, count: int, **fields: Any) -> None:  # noqa: ANN401 - those of a job
        """Enqueue jobs that are alike."""
        for first in range(0, count, BATCH):
            size = min(BATCH, count - first)
            job = NewJob(app.new_job_id(), b"{}", name="work", **fields)
            await self.queue.enqueue([replace(job, id=app.new_job_id()) for _ in range(size)])

    async def in_lanes(self, count: int) -> None:
        """Enqueue one job in each of many lanes."""
        for first in range(0, count, BATCH):
            names = [f"tenant-{n}" for n in range(first, min(first + BATCH, count))]
            await self.queue.enqueue(
                [
                    NewJob(app.new_job_id(), b"{}", name="work", group=lane_group(name), lane=name)
                    for name in names
                ]
            )


async def _never(error: Exception, _tries: int) -> None:
    raise error


async def _measured(line: Line, client: Redis) -> float:
    """Return the median time of a claim and a settlement on the server, in µs."""
    spent: list[float] = []
    for _ in range(ROUNDS):
        await client.config_resetstat()
        (job,) = (await line.claim(limit=1, lease_ms=60_000, promote=0)).jobs
        await line.settle([(job, Completed())])
        stats = cast("dict[str, dict[str, float]]", await client.info("commandstats"))  # pyright: ignore[reportUnknownMemberType]
        spent.append(stats["cmdstat_evalsha"]["usec"])
    return statistics.median(spent)


async def _flat(bench: Bench) -> None:
    await bench.jobs(2 * ROUNDS)


async def _lanes(bench: Bench, count: int) -> None:
    await bench.in_lanes(count)
    if count < ROUNDS:
        await bench.jobs(2 * ROUNDS, group=lane_group("tenant-0"), lane="tenant-0")


async def _idle_lanes(bench: Bench) -> None:
    names = {lane_group(f"tenant-{n}"): f"tenant-{n}" for n in range(bench.lanes)}
    await bench.client.hset(f"{bench.queue.keys.root}lane:names", mapping=cast("Any", names))  # pyright: ignore[reportUnknownMemberType]
    await bench.jobs(2 * ROUNDS)


async def _limited(bench: Bench) -> None:
    await bench.queue.gates.limit_concurrency("name:work", 1_000)
    await bench.queue.gates.limit_rate("name:work", parse_rate("1000000/s", burst=1_000_000))
    await bench.jobs(2 * ROUNDS)


def _cases(bench: Bench) -> Sequence[tuple[str, Callable[[], Awaitable[None]]]]:
    lane = {"group": lane_group("big"), "lane": "big"}
    return (
        ("jobs without a lane, few", lambda: _flat(bench)),
        (f"{bench.many:,} waiting, mint order", lambda: bench.jobs(bench.many)),
        (f"{bench.many:,} waiting, with a priority", lambda: bench.jobs(bench.many, priority=5)),
        (f"{bench.many:,} waiting in one lane", lambda: bench.jobs(bench.many, **lane)),
        ("1 lane with work", lambda: _lanes(bench, 1)),
        ("1,000 lanes with work", lambda: _lanes(bench, 1_000)),
        (f"{bench.lanes:,} lanes with work", lambda: _lanes(bench, bench.lanes)),
        (f"{bench.lanes:,} idle lanes, jobs without one", lambda: _idle_lanes(bench)),
        ("a cap and a rate that do not bind", lambda: _limited(bench)),
    )


async def _drained(url: str, *, limited: bool) -> float:
    """Return how long one line takes to claim and settle many jobs, 50 a call, in seconds."""
    async with Server(ServerOptions(url=url)) as server, Redis.from_url(url) as client:
        await client.flushall()
        queue = server.queue("bench")
        bench = Bench(queue, client, 1)
        if limited:
            await queue.gates.limit_concurrency("name:work", 100_000)
        await bench.jobs(DRAINED)
        line = queue.line(trouble=_never)
        began = time.perf_counter()
        jobs = (await line.claim(limit=50, lease_ms=60_000, promote=0)).jobs
        while jobs:
            outcomes = [(job, Completed()) for job in jobs]
            settled = await line.settle(outcomes, limit=50, lease_ms=60_000)
            jobs = settled.claimed.jobs
        took = time.perf_counter() - began
        await line.aclose()
        return took


async def _run(url: str, less: int) -> None:
    rows: list[Row] = []
    for number in range(len(_cases(Bench(cast("Any", None), cast("Any", None), less)))):
        async with Server(ServerOptions(url=url)) as server, Redis.from_url(url) as client:
            await client.flushall()
            bench = Bench(server.queue("bench"), client, less)
            what, fill = _cases(bench)[number]
            await fill()
            line = bench.queue.line(trouble=_never)
            rows.append(Row(what, await _measured(line, client), "µs"))
            await line.aclose()
    print_table("A claim of one job and its settlement, on the server (median)", rows)
    # Turn about, since a shared machine is now faster and now slower.
    times = [
        (await _drained(url, limited=False), await _drained(url, limited=True))
        for _ in range(DRAINS)
    ]
    free, capped = (DRAINED * DRAINS / sum(each) for each in zip(*times, strict=True))
    print_table(
        f"Jobs a second of one line, 50 a call (mean of {DRAINS} runs of {DRAINED:,} jobs)",
        [Row("no cap", free, "/s"), Row("a cap that does not bind", capped, "/s")],
    )


def main() -> None:
    """Measure on an embedded server."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{FEWER} times fewer jobs and lanes")
    quick = parser.parse_args().quick
    with EmbeddedServer() as server:
        asyncio.run(_run(server.url, FEWER if quick else 1))


if __name__ == "__main__":
    main()
