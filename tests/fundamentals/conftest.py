"""What the chapters of the tutorial share: an application, and a worker that runs its jobs."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager

import pytest
import pytest_asyncio

from echomq_worker import EchoMQ
from echomq_worker.store import QueueStore, Server, ServerOptions
from echomq_worker.store.rights import Role
from echomq_worker.testing import Stats, run_worker, running_worker
from tests.support.least_rights import least

Work = Callable[[], Awaitable[Stats]]
Worker = Callable[[], AbstractAsyncContextManager[None]]


@pytest.fixture(scope="session")
def worker_url(server_url: str) -> str:
    """The server, as a worker and its application see it."""
    return least(server_url, Role.WORKER)


@pytest_asyncio.fixture
async def app(worker_url: str, queue_name: str) -> AsyncGenerator[EchoMQ]:
    """An application whose jobs go to a queue of the test's own."""
    async with EchoMQ(redis_url=worker_url, default_queue=queue_name) as app:
        yield app


@pytest.fixture
def work(app: EchoMQ, worker_url: str) -> Work:
    """Let a worker run until nothing is left that could run now; its counts come back."""
    return lambda: run_worker(app, worker_url)


@pytest.fixture
def worker(app: EchoMQ, worker_url: str) -> Worker:
    """Let a worker run as long as a block lasts: `async with worker():`."""
    return lambda: running_worker(app, worker_url)


@pytest_asyncio.fixture
async def queue(server_url: str, queue_name: str) -> AsyncGenerator[QueueStore]:
    """The queue of the application as an operator sees it."""
    async with Server(ServerOptions(url=server_url)) as server:
        yield server.queue(queue_name)
