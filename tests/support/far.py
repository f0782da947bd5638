"""A queue behind a proxy that cuts its connections."""

import asyncio
from collections.abc import AsyncGenerator

import pytest_asyncio

from echomq_worker.protocol.scripts import script
from echomq_worker.store import QueueStore, Server, ServerOptions
from echomq_worker.store.line import Line
from tests.support.look import Look
from tests.support.proxy import Proxy

SCRIPTS = (
    "enqueue",
    "schedule",
    "claim",
    "settle",
    "beat",
    "promote",
    "extend",
    "reap",
    "requeue",
    "remove",
    "reschedule",
    "promote_job",
    "reprioritize",
    "pause",
    "resume",
)


@pytest_asyncio.fixture
async def proxy(server_url: str, look: Look) -> AsyncGenerator[Proxy]:
    """A proxy to a server that knows the scripts already, so that no call needs two tries."""
    for name in SCRIPTS:
        await look.do("SCRIPT", "LOAD", script(name).source)
    async with Proxy(server_url) as proxy:
        yield proxy


@pytest_asyncio.fixture
async def far_queue(proxy: Proxy, queue_name: str) -> AsyncGenerator[QueueStore]:
    """The queue, through the proxy."""
    async with Server(ServerOptions(url=proxy.url, timeout_ms=1_000)) as server:
        yield server.queue(queue_name)


@pytest_asyncio.fixture
async def far_line(far_queue: QueueStore) -> AsyncGenerator[Line]:
    """A line to the queue, through the proxy."""

    async def soon(error: Exception, tries: int) -> None:
        assert tries < 20, error
        await asyncio.sleep(0.001)

    line = far_queue.line(trouble=soon)
    yield line
    await line.aclose()
