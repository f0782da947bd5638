"""Fixtures for pytest. Import those that you want into your `conftest.py`.

    from echomq_worker.testing.fixtures import echomq_kit, echomq_server
    from myproject.jobs import app

    @pytest.fixture
    def echomq_app():
        return app

`echomq_kit`, and `echomq_sync_kit` for tests that are not async, let the jobs of the application
that your `echomq_app` returns run inside the test, without a server. `echomq_server` is the URL of
a real one.
"""

from collections.abc import AsyncGenerator, Generator

import pytest

from echomq_worker.app import EchoMQ
from echomq_worker.embedded import EmbeddedServer
from echomq_worker.testing.inline import inline, inline_sync
from echomq_worker.testing.kit import Kit
from echomq_worker.testing.sync import SyncKit

__all__ = ["echomq_kit", "echomq_server", "echomq_sync_kit"]


@pytest.fixture
async def echomq_kit(echomq_app: EchoMQ) -> AsyncGenerator[Kit]:
    """A kit for an async test of the application that the fixture `echomq_app` returns.

    The plugin that runs your async tests runs it as well: pytest-asyncio in its auto mode, or
    anyio. In other modes, write `async with inline(app) as kit:` in the test.
    """
    async with inline(echomq_app) as kit:
        yield kit


@pytest.fixture
def echomq_sync_kit(echomq_app: EchoMQ) -> Generator[SyncKit]:
    """A kit for a test that is not async. The test enqueues by `app.sync`."""
    with inline_sync(echomq_app) as kit:
        yield kit


@pytest.fixture
def echomq_server() -> Generator[str]:
    """The URL of an empty server that this test has to itself. It starts in about 50 ms.

    A test passes it to `EchoMQ(redis_url=...)` and `testing.run_worker`, or sets
    `ECHOMQ_REDIS_URL` to it before the application first connects.

    Raises:
        EmbeddedServerError: if there is no server program here. Nothing is skipped silently.
    """
    with EmbeddedServer() as server:
        yield server.url
