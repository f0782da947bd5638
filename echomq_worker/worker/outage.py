"""Waits while the server is away, and says so once."""

from typing import Any

import structlog

from echomq_worker.domain.clock import Clock

FIRST_WAIT_MS = 50
LONGEST_WAIT_MS = 1_000
_HINTS = {
    "server": "running jobs go on; nothing is claimed until it answers again",
    "wakeups": "jobs are found by looking once a beat until it answers again",
}


class Outage:
    """Shared by all that talk to the server, so that one outage makes two log lines.

    Args:
        clock: waits.
        what: what is away, as the lines call it: `server` or `wakeups`.
    """

    def __init__(self, clock: Clock, what: str) -> None:
        self._what = what
        self._clock = clock
        self._log: Any = structlog.get_logger("echomq.worker")
        self._since_ms: int | None = None

    @property
    def under_way(self) -> bool:
        """True while the server does not answer."""
        return self._since_ms is not None

    async def trouble(self, error: Exception, tries: int) -> None:
        """Wait before the next try.

        Args:
            error: why the last one failed.
            tries: how many have failed in a row.
        """
        self.noticed(error)
        doublings = min(tries - 1, LONGEST_WAIT_MS.bit_length())
        await self._clock.sleep_ms(min(LONGEST_WAIT_MS, FIRST_WAIT_MS << doublings))

    def noticed(self, error: Exception) -> None:
        """Note that the server did not answer."""
        if self._since_ms is None:
            self._since_ms = self._clock.monotonic_ms()
            self._log.warning(
                f"{self._what}.away",
                error_message=str(error),
                hint=_HINTS.get(self._what),
            )

    def answered(self) -> None:
        """Note that it did."""
        if self._since_ms is not None:
            seconds = (self._clock.monotonic_ms() - self._since_ms) / 1_000
            self._since_ms = None
            self._log.warning(f"{self._what}.back", after=seconds)
