"""What the demonstration shows while it runs. The summary is not its business."""

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TextIO

WIDTH = 28
REDRAW_S = 0.1
CLEAR_LINE = "\r\x1b[2K"

TOLD = {
    "retried": "! failed on purpose, will be tried again",
    "dead": "x out of attempts: dead",
    "recovered": "< taken back from the killed worker",
}
MOST_TOLD = 5
"""How many events of one kind are told one by one."""


@dataclass(slots=True)
class Screen:
    """Lines as things happen; below them, on a terminal, a bar.

    Args:
        stream: where to write, usually standard error.
        total: how many jobs there are.
        bar: whether to draw a bar.
    """

    stream: TextIO
    total: int = 0
    bar: bool = False
    _told: Counter[str] = field(default_factory=Counter[str])
    _drawn: float = 0.0
    _line: str = ""

    def say(self, text: str) -> None:
        """Write a line above the bar."""
        self.stream.write(f"{CLEAR_LINE if self._line else ''}{text}\n{self._line}")
        self.stream.flush()

    def happened(self, event: str, job_id: str) -> None:
        """Tell of an event, if it is one that people want to see."""
        if event not in TOLD:
            return
        self._told[event] += 1
        if self._told[event] <= MOST_TOLD:
            self.say(f"{job_id} {TOLD[event]}")
        elif self._told[event] == MOST_TOLD + 1:
            self.say(f"(no more lines like: {TOLD[event]})")

    def progress(self, over: int, events: Counter[str]) -> None:
        """Draw how far it has come."""
        now = time.monotonic()
        if not self.bar or (now - self._drawn < REDRAW_S and over < self.total):
            return
        self._drawn = now
        filled = WIDTH * over // self.total if self.total else WIDTH
        told = "  ".join(
            f"{events[event]} {event}"
            for event in ("retried", "dead", "recovered")
            if events[event]
        )
        delayed = f"{events['promoted']} came due" if events["promoted"] else ""
        parts = (f"{over}/{self.total} jobs", delayed, told)
        line = f"[{'#' * filled:-<{WIDTH}}]  " + "  ".join(part for part in parts if part)
        self.stream.write(CLEAR_LINE + line)
        self.stream.flush()
        self._line = line

    def finish(self) -> None:
        """Take the bar away."""
        if self._line:
            self._line = ""
            self.stream.write(CLEAR_LINE)
            self.stream.flush()
