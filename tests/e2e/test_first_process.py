"""A worker that is process 1, as in a container, and one that a shell has become."""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from echomq_worker import EchoMQ
from echomq_worker.embedded import EmbeddedServer
from echomq_worker.store import QueueStore, Server
from tests.support.processes import start

Runs = Callable[[str], list[list[str]]]
NAMESPACE = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child")
SHELL = ("sh", "-c", 'exec "$0" "$@"')
"""The `exec` form: the shell becomes the worker, and so hears the signals."""


def may_unshare() -> bool:
    """Return whether this machine lets us start a process 1."""
    try:
        tried = subprocess.run([*NAMESPACE, "true"], check=False, capture_output=True)  # noqa: S603
    except FileNotFoundError:
        return False
    return tried.returncode == 0


def child_of(pid: int) -> int:
    """Return the one child of a process."""
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text())


@pytest.mark.case("SHU-06")
@pytest.mark.parametrize(
    "inside",
    [
        pytest.param(
            NAMESPACE,
            marks=pytest.mark.skipif(not may_unshare(), reason="no process namespaces here"),
        ),
        SHELL,
    ],
    ids=["process 1", "sh -c exec"],
)
async def test_it_hears_a_term_and_drains(
    inside: tuple[str, ...],
    embedded: EmbeddedServer,
    server: Server,
    queue: QueueStore,
    runs: Runs,
    runs_file: Path,
    tmp_path: Path,
):
    async with EchoMQ(backend=Server(server.options)) as app:
        await app.enqueue_by_name("rest", {"seconds": 0.5})
    settings = {
        "ECHOMQ_REDIS_URL": embedded.url,
        "ECHOMQ_HEALTH_FILE": str(tmp_path / "health.json"),
        "E2E_RUNS": str(runs_file),
    }
    daemon = start(("run", "work:app"), tmp_path, settings, inside=inside)
    try:
        daemon.wait_until(lambda: bool(runs("started")), "the job's start")
        if inside is NAMESPACE:
            assert runs("started")[0][2] == "1"
            os.kill(child_of(daemon.pid), signal.SIGTERM)
        else:
            assert runs("started")[0][2] == str(daemon.pid)
            daemon.send(signal.SIGTERM)
        assert daemon.wait(5) == 0
    finally:
        daemon.stop()
    assert daemon.events("worker.stopped")[0]["exit_code"] == 0
    assert (await queue.counts()).completed == 1
