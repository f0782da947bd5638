"""Plays the golden vectors of the wire by their own checker, against a server of its own.

The checker flushes databases, so it is let at no other server.
"""

import json
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TypedDict

import pytest
import redis

from echomq_worker.embedded import EmbeddedServer

ROOT = Path(__file__).parents[2]
CHECKER = ROOT / "tests/data/vectors/run_vectors.py"
TIMEOUT_S = 300
PORT_TRIES = 5


class Played(TypedDict):
    """One vector, as the checker reports it."""

    plane: str
    name: str
    verdict: str
    problems: list[str]


@contextmanager
def a_tcp_server() -> Generator[str]:
    """Run a server that the checker can reach: it speaks TCP only."""
    with EmbeddedServer() as server, redis.Redis.from_url(server.url) as client:
        for _ in range(PORT_TRIES):
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port: int = free.getsockname()[1]
            try:
                client.config_set("port", port)
            except redis.ResponseError:
                continue  # somebody else was faster
            yield f"redis://127.0.0.1:{port}"
            return
        pytest.fail("no free port for the vectors' server")


def play(plane: str, report: Path, adapter: str) -> list[Played]:
    """Let the checker play one plane; return what became of each of its vectors."""
    with a_tcp_server() as url:
        ran = subprocess.run(  # noqa: S603 - this interpreter and the checker in our tree
            [
                *(sys.executable, str(CHECKER), "--adapter", adapter),
                *("--redis", url, "--db", "9", "--planes", plane, "--mode", "want"),
                *("--skip-missing", "--keep-going", "--json", str(report)),
            ],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    assert report.exists(), f"the checker did not finish:\n{ran.stdout}\n{ran.stderr}"
    return json.loads(report.read_text())


def names_in(path: Path, plane: str) -> set[str]:
    """Return the names of one plane's vectors in a list of `plane/name` lines."""
    return {name for of, _, name in (line.partition("/") for line in lines_of(path)) if of == plane}


def lines_of(path: Path) -> list[str]:
    """Return the lines of a list that are no comments."""
    lines = [line.strip() for line in path.read_text().splitlines()]
    return [line for line in lines if line and not line.startswith("#")]
