"""Where a scenario happens: an empty server, warm connections, and a count of what is sent."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass

from checks.traffic.baseline import Cost
from checks.traffic.watch import watched
from echomq_worker import EchoMQ, Job
from echomq_worker.domain.job import After, NewJob
from echomq_worker.domain.minter import Minter
from echomq_worker.domain.outcome import Completed
from echomq_worker.store import QueueStore, Server, ServerOptions
from echomq_worker.store.line import Line

QUEUE = "traffic"
JOBS = 1_000
LEASE_MS = 30_000


@dataclass(frozen=True, slots=True)
class Bench:
    """An empty server, and connections that are warm: set-up is no part of what is counted."""

    url: str
    app: EchoMQ
    noop: Job[[int], None]
    queue: QueueStore
    line: Line

    async def cost(self, per: str, units: float, work: Callable[[], Awaitable[object]]) -> Cost:
        """Count what some work sends, for each of its units."""
        with watched(self.url) as traffic:
            await work()
        sent, inside = traffic.sent.total(), traffic.inside.total()
        return Cost.of(per, units, sent=sent, inside=inside)


Scenario = Callable[[Bench], Coroutine[None, None, Cost]]


@asynccontextmanager
async def bench(url: str) -> AsyncGenerator[Bench]:
    """Make a bench of a server that nobody else uses, and leave its queue empty."""
    app = EchoMQ(url, default_queue=QUEUE)
    async with app, Server(ServerOptions(url=url)) as server:
        queue = server.queue(QUEUE)
        line = queue.line(trouble=_none_expected)
        made = Bench(url, app, app.job("noop")(noop), queue, line)
        await made.noop.enqueue(0)
        await queue.enqueue(new_jobs(1))
        claimed = await line.claim(limit=2, lease_ms=LEASE_MS, promote=1)
        await line.settle([(job, Completed()) for job in claimed.jobs])
        yield made
        await line.aclose()


async def run_scenario(url: str, scenario: Scenario) -> Cost:
    """Return what a scenario costs on a server that nobody else uses."""
    async with bench(url) as made:
        return await scenario(made)


def new_jobs(count: int, due: After | None = None) -> list[NewJob]:
    """Make jobs that do nothing, always the same."""
    minter = Minter(0, clock_ms=lambda: 1_780_226_888_000, dice=lambda _: 0)
    return [NewJob(minter.mint(), b'{"n":1}', due, name="noop") for _ in range(count)]


async def noop(n: int) -> None:
    """Do nothing."""
    del n


async def _none_expected(error: Exception, tries: int) -> None:
    msg = f"the server failed in try {tries}: {error}"
    raise RuntimeError(msg) from error
