"""Notes that survive the death of whoever takes them.

Each process appends to a file of its own, one short line a write, buffered by nothing but the
operating system, which outlives the process.
"""

import os
import time
from pathlib import Path

WALL = time.CLOCK_REALTIME


def now_ms() -> int:
    """Return the machine's wall clock in Unix ms, whatever else shows a skewed one here."""
    return time.clock_gettime_ns(WALL) // 1_000_000


class Pen:
    """Appends lines to a file."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def write(self, line: str) -> None:
        """Append one line."""
        os.write(self._file, f"{line}\n".encode())

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def no_pen() -> Pen:
    """Return one that writes nowhere."""
    return Pen(Path(os.devnull))
