"""Feels from a thread whether the event loop still turns."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from echomq_worker.domain.clock import Clock


class Pulse:
    """Asks the loop for a sign of life, one at a time, and knows for how long it owes one.

    Args:
        loop: the loop that is asked.
        clock: tells how long ago that was.
        came: called on the loop with each sign of life.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, clock: Clock, came: Callable[[], None]
    ) -> None:
        self._loop = loop
        self._clock = clock
        self._came = came
        self._asked_at_ms: int | None = None

    def ask(self) -> None:
        """Ask for a sign of life, unless one is owed already. Called in the thread."""
        if self._asked_at_ms is None:
            self._asked_at_ms = self._clock.monotonic_ms()
            with suppress(RuntimeError):  # the loop is closed: its worker ends
                self._loop.call_soon_threadsafe(self._beat)

    def silent_ms(self) -> int:
        """Return for how long the loop has owed a sign of life; 0 if it owes none."""
        asked_at_ms = self._asked_at_ms
        return 0 if asked_at_ms is None else self._clock.monotonic_ms() - asked_at_ms

    def _beat(self) -> None:
        self._asked_at_ms = None
        self._came()
