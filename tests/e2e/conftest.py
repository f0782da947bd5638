"""Servers and worker processes of a test's own."""

from collections.abc import AsyncGenerator, Callable, Generator
from pathlib import Path
from typing import Protocol

import pytest
import pytest_asyncio

from echomq_worker.embedded import EmbeddedServer
from echomq_worker.store import QueueStore, Server, ServerOptions
from echomq_worker.store.rights import Role
from tests.support.least_rights import WANTED, logged_in, server_with_users
from tests.support.processes import Daemon, start


class StartDaemon(Protocol):
    """Starts `echomq WORDS…` on the test's server."""

    def __call__(self, *words: str, **settings: str) -> Daemon: ...


@pytest.fixture
def embedded(tmp_path: Path) -> Generator[EmbeddedServer]:
    """A server of the test's own, whose data outlives a restart."""
    with server_with_users(tmp_path / "server") as server:
        yield server


@pytest_asyncio.fixture
async def server(embedded: EmbeddedServer) -> AsyncGenerator[Server]:
    """That server, by our own store."""
    async with Server(ServerOptions(url=embedded.url)) as server:
        yield server


@pytest.fixture
def queue(server: Server) -> QueueStore:
    """The queue that workers serve by default."""
    return server.queue("default")


@pytest.fixture
def runs_file(tmp_path: Path) -> Path:
    """Where the handlers leave a line for each run."""
    path = tmp_path / "runs"
    path.touch()
    return path


@pytest.fixture
def runs(runs_file: Path) -> Callable[[str], list[list[str]]]:
    """Return what handlers have noted under a word: for each id, attempt and process id."""

    def noted(word: str) -> list[list[str]]:
        lines = [line.split() for line in runs_file.read_text().splitlines()]
        return [line[1:] for line in lines if line[0] == word]

    return noted


@pytest.fixture
def start_daemon(
    embedded: EmbeddedServer, runs_file: Path, tmp_path: Path
) -> Generator[StartDaemon]:
    """Start processes; those that still run when the test ends are killed."""
    started: list[Daemon] = []

    def make(*words: str, **settings: str) -> Daemon:
        folder = tmp_path / f"daemon-{len(started)}"
        folder.mkdir()
        given = {
            "ECHOMQ_REDIS_URL": logged_in(embedded.url, Role.WORKER) if WANTED else embedded.url,
            "ECHOMQ_HEALTH_FILE": str(folder / "health.json"),
            "E2E_RUNS": str(runs_file),
        }
        daemon = start(words or ("run", "work:app"), folder, given | settings)
        started.append(daemon)
        return daemon

    yield make
    for daemon in started:
        daemon.stop()
