"""A server and daemon processes to measure."""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench import jobs
from echomq_worker import EchoMQ
from echomq_worker.embedded import EmbeddedServer
from echomq_worker.store import Server, ServerOptions

ROOT = Path(__file__).resolve().parents[1]
QUEUE = "default"
READY_S = 20.0


@dataclass(frozen=True, slots=True)
class Bed:
    """Where measurements happen.

    Args:
        url: the server's.
        server: a connection to it.
        folder: where the daemons' logs go.
    """

    url: str
    server: Server
    folder: Path

    @property
    def app(self) -> EchoMQ:
        """The application, as a producer uses it."""
        return jobs.app

    def start(self, *options: str, **settings: str) -> "subprocess.Popen[bytes]":
        """Start a daemon with more options and settings; return at once."""
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("ECHOMQ_") and name != "PYTHONDONTWRITEBYTECODE"
        }
        environment |= {
            "ECHOMQ_REDIS_URL": self.url,
            "ECHOMQ_APP_DIR": str(ROOT),
            "ECHOMQ_LOG_LEVEL": "warning",
            **settings,
        }
        log = (self.folder / "worker.log").open("ab")
        with log:
            return subprocess.Popen(
                [sys.executable, "-m", "echomq_worker", "run", "bench.jobs:app", *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                cwd=ROOT,
            )

    @asynccontextmanager
    async def worker(self, **settings: str) -> AsyncGenerator["subprocess.Popen[bytes]"]:
        """Run a daemon inside a block, which begins once it serves its queue."""
        process = self.start(**settings)
        try:
            await self._until_ready(process)
            yield process
        finally:
            process.terminate()
            process.wait(30)

    def log(self) -> str:
        """Return what the daemons have said."""
        return (self.folder / "worker.log").read_text(errors="replace")

    async def _until_ready(self, process: "subprocess.Popen[bytes]") -> None:
        give_up = time.monotonic() + READY_S
        while not (await self.server.queue(QUEUE).counts()).workers:
            if process.poll() is not None or time.monotonic() > give_up:
                msg = f"the worker did not come up: {self.log()}"
                raise RuntimeError(msg)
            await asyncio.sleep(0.02)


@asynccontextmanager
async def bed() -> AsyncGenerator[Bed]:
    """Make a bed with a server of its own, which has nobody else to serve."""
    with _folder() as folder, EmbeddedServer() as embedded:
        os.environ["ECHOMQ_REDIS_URL"] = embedded.url
        async with Server(ServerOptions(url=embedded.url)) as server, jobs.app:
            yield Bed(embedded.url, server, folder)


@contextmanager
def _folder() -> Generator[Path]:
    with tempfile.TemporaryDirectory(prefix="echomq-bench-") as name:
        yield Path(name)
