"""Is there a Docker engine, and must there be one?"""

import os
import socket
from functools import cache

import docker
from docker.errors import APIError, DockerException

MUST_RUN = "ECHOMQ_CI_DOCKER"
"""Set to 1 by the gate: tests that need an engine then fail without one, and are not skipped."""

DEFAULT_HOST = "unix:///var/run/docker.sock"
PING_TIMEOUT_S = 3


@cache
def why_no_engine() -> str | None:
    """Return None if a Docker engine answers, else what was wrong."""
    host = os.environ.get("DOCKER_HOST") or DEFAULT_HOST
    try:
        _knock(host)
        client = docker.from_env(timeout=PING_TIMEOUT_S)
        try:
            client.ping()
        finally:
            client.close()
    except APIError:
        return None  # it refused, so it is there
    except (DockerException, OSError) as error:
        return f"no Docker engine answers at {host}: {error}"
    return None


def _knock(host: str) -> None:
    # The Docker client forgets to close a socket that nobody listens on, which pytest reports.
    scheme, _, path = host.partition("://")
    if scheme == "unix":
        with socket.socket(socket.AF_UNIX) as door:
            door.settimeout(PING_TIMEOUT_S)
            door.connect(path)


def engine_must_answer() -> bool:
    """Return True if tests that need an engine may not be skipped."""
    return os.environ.get(MUST_RUN) == "1"
