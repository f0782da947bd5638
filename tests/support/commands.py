"""Commands of `echomq`, run inside the test's own process."""

import asyncio
import io
import json
from dataclasses import dataclass
from typing import Any, Protocol

import pytest

from echomq_worker.cli.main import main
from tests.support.least_rights import ANY_QUEUE, least


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command has answered."""

    code: int
    out: str
    err: str

    @property
    def records(self) -> list[dict[str, Any]]:
        """Its output, if it was asked for `--json`."""
        return [json.loads(line) for line in self.out.splitlines()]


class Ask(Protocol):
    """Runs a command; `given` is its standard input."""

    async def __call__(self, *words: str, given: str = "") -> Answer: ...


@pytest.fixture
def ask(
    server_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Ask:
    """Run commands on the test server, in a thread: each has an event loop of its own."""
    monkeypatch.setenv("ECHOMQ_REDIS_URL", least(server_url, queues=ANY_QUEUE))

    async def run(*words: str, given: str = "") -> Answer:
        monkeypatch.setattr("sys.stdin", io.StringIO(given))
        capsys.readouterr()
        code = await asyncio.to_thread(main, words)
        captured = capsys.readouterr()
        return Answer(int(code), captured.out, captured.err)

    return run
