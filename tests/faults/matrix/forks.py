"""Cheap `echomq` processes for tests, forked from one that has loaded everything."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from tests.support.processes import ROOT, environment, is_alive


class Fork:
    """A running `echomq` process."""

    def __init__(self, pid: int, output: Path) -> None:
        self.pid = pid
        self.output = output

    @property
    def alive(self) -> bool:
        """True while it runs."""
        return is_alive(self.pid)

    def send(self, number: signal.Signals) -> None:
        """Send a signal, if it still runs."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def events(self, name: str) -> list[dict[str, Any]]:
        """Return its log lines of one event."""
        lines = self.output.read_text().splitlines() if self.output.exists() else []
        events = [json.loads(line) for line in lines if line.startswith("{")]
        return [event for event in events if event["event"] == name]


class Forker:
    """Starts processes; those that still run at the end of the block are killed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._forks: list[Fork] = []

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.matrix.forker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(),
            cwd=ROOT,
            text=True,
        )
        return self

    def __exit__(self, *_exc: object) -> None:
        for fork in self._forks:
            fork.send(signal.SIGKILL)
        self._process.communicate()

    def start(self, name: str, *words: str, **settings: str) -> Fork:
        """Start `echomq WORDS…` with these settings; its output goes to a file of that name."""
        output = self._folder / name
        order = {"words": words, "output": str(output), "environ": environment(**settings)}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        fork = Fork(int(self._process.stdout.readline()), output)
        self._forks.append(fork)
        return fork
