"""Fixtures of the store: a server, a queue of the test's own, lines to it, a look at its keys."""

from collections.abc import AsyncGenerator, Callable

import pytest
import pytest_asyncio

from echomq_worker.store import QueueStore, Server, ServerOptions
from echomq_worker.store.calls import Caller
from echomq_worker.store.line import Line
from tests.support.look import Look, looking_at

NewLine = Callable[[], Line]


async def no_trouble(error: Exception, tries: int) -> None:
    """On a healthy server every call is answered at the first try."""
    msg = f"try {tries} was not answered: {error}"
    raise AssertionError(msg)


@pytest_asyncio.fixture
async def server(server_url: str) -> AsyncGenerator[Server]:
    """The server, by our own store."""
    async with Server(ServerOptions(url=server_url)) as server:
        yield server


@pytest.fixture
def queue(server: Server, queue_name: str) -> QueueStore:
    """A queue that no other test uses."""
    return server.queue(queue_name)


@pytest_asyncio.fixture
async def new_line(queue: QueueStore) -> AsyncGenerator[NewLine]:
    """Make lines to the queue, each for a worker of its own."""
    lines: list[Line] = []

    def make() -> Line:
        lines.append(queue.line(trouble=no_trouble))
        return lines[-1]

    yield make
    for line in lines:
        await line.aclose()


@pytest.fixture
def line(new_line: NewLine) -> Line:
    """A worker's line to the queue."""
    return new_line()


@pytest_asyncio.fixture
async def nameless_line(queue: QueueStore) -> AsyncGenerator[Line]:
    """A line as a worker of another runtime has it: no receipts, and no claim id."""
    line = queue.line(trouble=no_trouble, caller=Caller(name=""))
    yield line
    await line.aclose()


@pytest_asyncio.fixture
async def look(server_url: str, queue_name: str) -> AsyncGenerator[Look]:
    """The keys of the queue, seen by plain commands."""
    async with looking_at(server_url, queue_name) as look:
        yield look
