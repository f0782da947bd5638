"""A server of the test's own, for tests that break it or change its settings."""

from collections.abc import AsyncGenerator, Generator

import pytest
import pytest_asyncio
import redis

from echomq_worker.embedded import EmbeddedServer
from tests.support.look import LOOK, Look, looking_at

QUEUE = "own"


@pytest.fixture
def private_server() -> Generator[EmbeddedServer]:
    """A server that nobody else uses."""
    with EmbeddedServer() as server:
        yield server


@pytest.fixture
def admin(private_server: EmbeddedServer) -> Generator["redis.Redis"]:
    """Whoever may do anything on the private server."""
    with redis.Redis.from_url(private_server.url) as client:
        yield client


@pytest_asyncio.fixture
async def own_look(private_server: EmbeddedServer) -> AsyncGenerator[Look]:
    """The keys of the queue `own` on the private server."""
    async with looking_at(private_server.url, QUEUE) as look:
        yield look


def cut_all_connections(admin: "redis.Redis") -> None:
    """Let the server close every connection but that of `admin` and of looks."""
    for client in admin.client_list():
        if client["name"] != LOOK and client["id"] != str(admin.client_id()):
            admin.client_kill_filter(_id=client["id"])
