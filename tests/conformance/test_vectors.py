"""The golden vectors of the wire, played through our own code by their own checker.

The checker flushes databases, so each plane gets a server of its own.
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
SKIPPED = Path(__file__).with_name("skipped.txt")
PLANES = ("ids", "keyspace", "jobs", "schedule", "retry", "reap_stalled", "fence", "hazards")
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


def play(plane: str, report: Path) -> list[Played]:
    """Let the checker play one plane; return what became of each of its vectors."""
    with a_tcp_server() as url:
        ran = subprocess.run(  # noqa: S603 - this interpreter and the checker in our tree
            [
                *(sys.executable, str(CHECKER), "--adapter", "tests.conformance.adapter:Adapter"),
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


def listed_as_skipped(plane: str) -> set[str]:
    """Return the names in `skipped.txt` that belong to a plane."""
    lines = [line.strip() for line in SKIPPED.read_text().splitlines()]
    entries = [line.partition("/") for line in lines if line and not line.startswith("#")]
    return {name for of, _, name in entries if of == plane}


@pytest.mark.parametrize("plane", PLANES)
def test_every_golden_vector_passes_or_is_listed_as_skipped(plane: str, tmp_path: Path):
    played = play(plane, tmp_path / "report.json")
    assert played

    failed = {one["name"]: one["problems"] for one in played if one["verdict"] == "FAIL"}
    assert not failed, json.dumps(failed, indent=1)

    skipped = {one["name"]: one["problems"][0] for one in played if one["verdict"] == "SKIP"}
    listed = listed_as_skipped(plane)
    unlisted = {name: why for name, why in skipped.items() if name not in listed}
    assert not unlisted, f"skipped, but not listed in {SKIPPED.name}: {unlisted}"
    assert not listed - set(skipped), f"listed in {SKIPPED.name}, but not skipped: take them out"


def test_the_list_of_skipped_vectors_names_only_planes_that_are_played():
    lines = [line for line in SKIPPED.read_text().splitlines() if line and line[0] != "#"]
    assert lines == sorted(set(lines))
    assert {line.partition("/")[0] for line in lines} <= set(PLANES)


def test_the_copied_checker_covers_the_planes_that_are_played():
    files = {path.stem for path in CHECKER.parent.glob("*.json")}
    assert set(PLANES) <= files
