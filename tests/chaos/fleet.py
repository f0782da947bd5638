"""Processes that an orchestrator of ours keeps running."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from echomq_worker.embedded.process import dying_with_us
from tests.chaos.pen import Pen, now_ms
from tests.support.processes import ROOT

NEVER_FOR_CHILDREN = ("ECHOMQ_", "CHAOS_", "REDIS_URL", "PYTHONDONTWRITEBYTECODE")


class Journal:
    """What the harness itself has done, one JSON object a line."""

    def __init__(self, path: Path) -> None:
        self._pen = Pen(path)

    def note(self, what: str, **details: Any) -> None:
        """Write something down."""
        self._pen.write(json.dumps({"ms": now_ms(), "what": what, **details}))


def environment(**settings: str) -> dict[str, str]:
    """Return our environment with these settings, and no others of the product."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(NEVER_FOR_CHILDREN)
    }
    return kept | {"PYTHONPATH": str(ROOT)} | settings


@dataclass(slots=True)
class Post:
    """A place where one process is to run. Whoever ends there is replaced at once.

    Args:
        role: what runs there: `worker`, `producer` or `recorder`.
        number: tells the posts of a role apart.
        command: the arguments of the Python program.
        settings: the environment of the process with a given number of start.
        journal: where starts and ends are noted.
        folder: where its output goes.
        starts: numbers the starts.
    """

    role: str
    number: int
    command: list[str]
    settings: Callable[[int], Mapping[str, str]]
    journal: Journal
    folder: Path
    starts: "itertools.count[int]"
    next_settings: dict[str, str] = field(default_factory=dict[str, str])
    """What the next process gets besides, once."""
    exits: list[int] = field(default_factory=list[int])
    """Exit codes that were nobody's wish."""
    start_number: int = 0
    wanted: bool = True
    _since: float = 0.0
    _process: "subprocess.Popen[bytes] | None" = None
    _expected: set[int] = field(default_factory=set[int])

    @property
    def pid(self) -> int:
        """The process id of whoever is or was there."""
        assert self._process is not None
        return self._process.pid

    @property
    def is_up(self) -> bool:
        """Whether a process is there that has not ended."""
        return self._process is not None and self._process.poll() is None

    @property
    def age_s(self) -> float:
        """How long it has been there."""
        return time.monotonic() - self._since

    def start(self) -> None:
        """Start a process there."""
        self.start_number = next(self.starts)
        settings = environment(**self.settings(self.start_number)) | self.next_settings
        self.next_settings = {}
        self._expected = set()
        self._since = time.monotonic()
        with (self.folder / f"{self.role}-{self.start_number}.out").open("wb") as out:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                dying_with_us([sys.executable, *self.command]),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env=settings,
                cwd=ROOT,
                start_new_session=True,
            )
        self.journal.note("start", role=self.role, post=self.number, number=self.start_number)

    def send(self, signal_number: signal.Signals, *, ends_it: bool = False) -> bool:
        """Send a signal; False if there is nobody."""
        if not self.is_up or self._process is None:
            return False
        if ends_it:
            self._expected |= {0, -signal_number}
        self._process.send_signal(signal_number)
        return True

    def kill(self) -> int | None:
        """Kill whoever is there; return the number of its start, or None."""
        if not self.is_up or self._process is None:
            return None
        self._expected.add(-signal.SIGKILL)
        at_ms = now_ms()
        self._process.kill()
        self._process.wait()
        self.journal.note("kill", role=self.role, number=self.start_number, at_ms=at_ms)
        return self.start_number

    def keep_up(self) -> None:
        """Replace whoever has ended."""
        if self.is_up or not self.wanted:
            return
        if self._process is not None:
            code = self._process.returncode
            self.journal.note("end", role=self.role, number=self.start_number, code=code)
            if code not in self._expected:
                self.exits.append(code)
        self.start()

    def stop(self, within_s: float) -> int:
        """Ask whoever is there to end; return the exit code."""
        self.wanted = False
        if self._process is None:
            return 0
        if self.is_up:
            self._process.send_signal(signal.SIGCONT)
            self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(within_s)
        if self.is_up:
            self._process.kill()
            self._process.wait()
        return self._process.returncode
