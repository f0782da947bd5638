"""Waits while the server is away, and says so once."""

from typing import Any

import structlog

from echomq_worker.domain.clock import Clock

FIRST_WAIT_MS = 50
LONGEST_WAIT_MS = 1_000
TELL_EVERY_MS = 10_000
"""Broken connections that are mended at once are mentioned no more often."""
_HINTS = {
    "server": "running jobs go on; nothing is claimed until it answers again",
    "wakeups": "jobs are found by looking once a beat until it answers again",
}


class Outage:
    """Shared by all that make the same kind of call, so that one outage makes two log lines.

    Args:
        clock: waits.
        what: what is away, as the lines call it: `server` or `wakeups`.
    """

    def __init__(self, clock: Clock, what: str) -> None:
        self._clock = clock
        self._what = what
        self._log: Any = structlog.get_logger("echomq.worker")
        self._since_ms: int | None = None
        self._told = False
        self._mended = 0
        self._told_of_mended_ms = -TELL_EVERY_MS

    @property
    def under_way(self) -> bool:
        """True from a call that was not answered until one is."""
        return self._since_ms is not None

    async def trouble(self, error: Exception, tries: int) -> None:
        """Wait before the next try.

        Args:
            error: why the last one failed.
            tries: how many have failed in a row.
        """
        if self._since_ms is None:
            self._since_ms = self._clock.monotonic_ms()
        # The first failure may be no more than a broken connection.
        if tries > 1 and not self._told:
            self._told = True
            self._log.warning(
                f"{self._what}.away", error_message=str(error), hint=_HINTS.get(self._what)
            )
        doublings = min(tries - 1, LONGEST_WAIT_MS.bit_length())
        await self._clock.sleep_ms(min(LONGEST_WAIT_MS, FIRST_WAIT_MS << doublings))

    def answered(self) -> None:
        """Note that the server has answered."""
        if self._since_ms is None:
            return
        now_ms = self._clock.monotonic_ms()
        if self._told:
            self._log.warning(f"{self._what}.back", after=(now_ms - self._since_ms) / 1_000)
        else:
            self._mended += 1
            if now_ms - self._told_of_mended_ms >= TELL_EVERY_MS:
                self._log.warning(f"{self._what}.reconnected", times=self._mended)
                self._told_of_mended_ms = now_ms
                self._mended = 0
        self._since_ms = None
        self._told = False
