"""An application for tests of what producers and operators do."""

from collections.abc import AsyncGenerator

import pytest_asyncio

from echomq_worker import EchoMQ
from tests.support.least_rights import least


@pytest_asyncio.fixture
async def app(server_url: str, queue_name: str) -> AsyncGenerator[EchoMQ]:
    """An application, connected, whose jobs and schedulers go to the test's queue."""
    async with EchoMQ(redis_url=least(server_url), default_queue=queue_name) as app:
        yield app
