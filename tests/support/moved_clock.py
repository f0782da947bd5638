"""A server whose clock a test moves, by libfaketime (Debian's package `faketime`)."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from echomq_worker.embedded import EmbeddedServer, find_server_binary
from tests.support.docker import engine_must_answer

HOUR_S = 3_600


def library() -> Path | None:
    """Return where libfaketime is; None if it is not installed."""
    return next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))), None)


class MovedClock:
    """A clock that a process reads by way of a file."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "clock"
        self.move(0)

    @property
    def environ(self) -> dict[str, str]:
        """What a process needs in its environment to have this clock. Timers stay true."""
        return {
            "LD_PRELOAD": str(library()),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }

    def move(self, by_s: int) -> None:
        """Set the clock so much before (or, below 0, behind) the true time."""
        new = self._file.with_suffix(".new")
        new.write_text(f"{by_s:+d}\n")
        new.replace(self._file)


def must_move_clocks() -> None:
    """Skip the test where no clock can be moved; fail it there in CI."""
    if library() is None:
        reason = "libfaketime is not installed (Debian: apt-get install faketime)"
        if engine_must_answer():
            pytest.fail(reason)
        pytest.skip(reason)


@contextmanager
def server_with_a_clock(folder: Path) -> Generator[tuple[EmbeddedServer, MovedClock]]:
    """Run a server with a clock of its own."""
    must_move_clocks()
    clock = MovedClock(folder)
    words = [f'{name}="{value}"' for name, value in clock.environ.items()]
    program = folder / "server-with-a-clock"
    program.write_text(f'#!/bin/sh\n{" ".join(words)} exec "{find_server_binary()}" "$@"\n')
    program.chmod(0o700)
    with EmbeddedServer(binary=program) as server:
        yield server, clock
