"""Which server to use when the user has named one, and when not."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from echomq_worker.embedded.server import EmbeddedServer


@contextmanager
def server_url(url: str | None, *, directory: Path | None = None) -> Generator[str]:
    """Give the URL of a server inside the block: `url` if there is one, else an embedded server's.

    `directory` makes the embedded server durable. Raises `EmbeddedServerError`, which names every
    way to have a server, if none can be had.
    """
    if url:
        yield url
        return
    with EmbeddedServer(directory) as server:
        yield server.url
