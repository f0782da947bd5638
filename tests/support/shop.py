"""A queue on a private server whose worker may be put behind something that breaks."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest_asyncio

from echomq_worker import EchoMQ, testing
from echomq_worker.embedded import EmbeddedServer
from echomq_worker.store import QueueStore, Server, ServerOptions
from tests.support.grumpy import Grumpy
from tests.support.private import QUEUE

PATIENCE_S = 15.0
QUICK = {
    "ECHOMQ_BEAT": "100ms",
    "ECHOMQ_REDIS_TIMEOUT": "400ms",
    "ECHOMQ_REDIS_CONNECT_TIMEOUT": "400ms",
    "ECHOMQ_LOG_EVENTS": "100000",
}


class Shop:
    """Jobs that note their runs. They are enqueued past whatever the worker is put behind."""

    def __init__(self, app: EchoMQ, queue: QueueStore) -> None:
        self.app = app
        self.queue = queue
        self.runs: Counter[int] = Counter()
        """How often each job ran."""
        self.added = 0
        """How many jobs were enqueued."""
        self.run_s = 0.0
        """How long jobs run."""

        @app.job("note")
        async def note(number: int) -> None:
            self.runs[number] += 1
            await asyncio.sleep(self.run_s)

        self.note = note

    async def add(self, count: int = 1, after: str = "0s") -> None:
        """Enqueue jobs."""
        numbers = range(self.added, self.added + count)
        self.added += count
        await self.app.enqueue_many(self.note.call(number).after(after) for number in numbers)

    async def completed(self, within_s: float = PATIENCE_S) -> float:
        """Wait until all jobs so far are completed; return how long that took, in seconds."""
        began_s = time.monotonic()
        while (done := (await self.queue.counts()).completed) < self.added:
            took_s = time.monotonic() - began_s
            assert took_s < within_s, f"{done} of {self.added} after {took_s:.1f} s"
            await asyncio.sleep(0.01)
        return time.monotonic() - began_s

    async def ran_once(self) -> bool:
        """Tell whether every job has run once, was completed once, and none is left."""
        counts = await self.queue.counts()
        left = counts.pending + counts.active + counts.scheduled + counts.dead
        return self.runs == Counter(range(self.added)) and (counts.completed, left) == (
            self.added,
            0,
        )

    def worker(
        self, url: str, *, queues: Sequence[str] = (QUEUE,), **settings: str
    ) -> AbstractAsyncContextManager[None]:
        """Let a worker run inside a block; settings are named as `BEAT`."""
        given = QUICK | {f"ECHOMQ_{name}": value for name, value in settings.items()}
        return testing.running_worker(self.app, url, queues=queues, settings=given)


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds; fail if it does not in good time."""
    async with asyncio.timeout(PATIENCE_S):
        while not holds():  # noqa: ASYNC110 - what workers do sets no event of ours
            await asyncio.sleep(0.01)


@asynccontextmanager
async def open_shop(url: str) -> AsyncGenerator[Shop]:
    """Open a shop on a server."""
    async with (
        EchoMQ(redis_url=url, default_queue=QUEUE) as app,
        Server(ServerOptions(url=url)) as server,
    ):
        yield Shop(app, server.queue(QUEUE))


@pytest_asyncio.fixture
async def shop(private_server: EmbeddedServer) -> AsyncGenerator[Shop]:
    """A shop on the private server."""
    async with open_shop(private_server.url) as shop:
        yield shop


@pytest_asyncio.fixture
async def grumpy(private_server: EmbeddedServer) -> AsyncGenerator[Grumpy]:
    """A middleman before the private server."""
    async with Grumpy(private_server.url) as grumpy:
        yield grumpy
