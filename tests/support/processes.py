"""Real `echomq` processes for tests, and what they have written."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
APPS = ROOT / "tests" / "e2e" / "apps"
PATIENCE_S = 15.0
_NOT_FOR_CHILDREN = frozenset({"REDIS_URL", "PYTHONDONTWRITEBYTECODE"})
"""Another server is not wanted; and each of many short processes would compile everything again."""


def environment(**settings: str) -> dict[str, str]:
    """Return this process's environment with these settings of ours, and no others."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("ECHOMQ_") and name not in _NOT_FOR_CHILDREN
    }
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return kept | {"PYTHONPATH": path, "ECHOMQ_APP_DIR": str(APPS)} | settings


def echomq(
    *words: str, given: str | None = None, cwd: Path | None = None, **settings: str
) -> "subprocess.CompletedProcess[str]":
    """Run a command to its end; `given` is its standard input."""
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "echomq_worker", *words],
        input=given,
        stdin=subprocess.DEVNULL if given is None else None,
        capture_output=True,
        text=True,
        env=environment(**settings),
        cwd=cwd,
        timeout=60,
        check=False,
    )


def is_alive(pid: int) -> bool:
    """Return whether a process runs (one that nobody has waited for yet does not)."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def eventually(holds: Callable[[], bool]) -> bool:
    """Wait until something holds; return False if it does not in good time."""
    give_up = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > give_up:
            return False
        time.sleep(0.02)
    return True


@dataclass(slots=True)
class Daemon:
    """A running `echomq run`, or another command that stays."""

    process: "subprocess.Popen[bytes]"
    output: Path
    """What it writes to standard output: log lines."""
    errors: Path
    """What it writes to standard error."""

    @property
    def pid(self) -> int:
        """Its process id."""
        return self.process.pid

    def events(self, name: str | None = None) -> list[dict[str, Any]]:
        """Return the log lines so far, all or those of one event."""
        lines = [
            json.loads(line) for line in self.output.read_text().splitlines() if line[:1] == "{"
        ]
        return [line for line in lines if name in (None, line["event"])]

    def said(self) -> str:
        """Return everything that it has written."""
        return self.output.read_text() + self.errors.read_text()

    def wait_for(self, event: str, *, count: int = 1) -> list[dict[str, Any]]:
        """Wait until an event was logged so often; return its lines."""
        self.wait_until(lambda: len(self.events(event)) >= count, f"{count} times {event}")
        return self.events(event)

    def wait_until(self, holds: Callable[[], bool], what: str) -> None:
        """Wait until something holds; fail with what the process has said if it does not."""
        give_up = time.monotonic() + PATIENCE_S
        while not holds():
            ended = self.process.poll() is not None and not holds()
            assert not ended, f"it ended before {what}: {self.said()}"
            assert time.monotonic() < give_up, f"waited in vain for {what}: {self.said()}"
            time.sleep(0.02)

    def send(self, number: signal.Signals) -> float:
        """Send a signal; return when, by the monotonic clock."""
        self.process.send_signal(number)
        return time.monotonic()

    def wait(self, within_s: float = PATIENCE_S) -> int:
        """Wait for its end; return the exit code (minus the signal's number if one killed it)."""
        try:
            return self.process.wait(within_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            msg = f"it did not end within {within_s} s: {self.said()}"
            raise AssertionError(msg) from None

    def stop(self) -> None:
        """End it, whatever it does."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def start(
    words: tuple[str, ...],
    folder: Path,
    settings: Mapping[str, str],
    *,
    inside: tuple[str, ...] = (),
) -> Daemon:
    """Start a command that stays; what it writes goes into `folder`.

    `inside` is a program, with its first arguments, that runs the command.
    """
    output, errors = folder / "output", folder / "errors"
    with output.open("wb") as out, errors.open("wb") as err:
        process = subprocess.Popen(  # noqa: S603 - our own program
            [*inside, sys.executable, "-m", "echomq_worker", *words],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env=environment(**settings),
            cwd=folder,
        )
    return Daemon(process, output, errors)
