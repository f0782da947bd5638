"""Waits while the server is away or full, and says so once."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import structlog

from echomq_worker.domain.backoff import Dice
from echomq_worker.domain.clock import Clock
from echomq_worker.errors import OutOfMemoryError, UnavailableError

FIRST_WAIT_MS = 50
LONGEST_WAIT_MS = 500
"""Connections have a backoff of their own; this one is for a server that answers with a refusal."""
TELL_EVERY_MS = 10_000
"""Broken connections that are mended at once are mentioned no more often."""
_HINTS = {
    "server.away": "running jobs go on; nothing is claimed until it answers again",
    "server.full": "outcomes are written and free memory; what needs more is asked again until "
    "there is room. Raise maxmemory, or let jobs finish",
    "wakeups.away": "jobs are found by looking once a beat until it answers again",
}
_ENDS = {"away": "back", "full": "has_room"}

T = TypeVar("T")


class Outage:
    """Shared by all that make the same kind of call, so that one outage makes two log lines.

    Args:
        clock: waits.
        what: what is away, as the lines call it: `server` or `wakeups`.
        dice: keeps the workers of a fleet from asking at the same moment.
    """

    def __init__(self, clock: Clock, what: str, dice: Dice) -> None:
        self._clock = clock
        self._what = what
        self._dice = dice
        self._log: Any = structlog.get_logger("echomq.worker")
        self._kind = ""
        self._since_ms = 0
        self._told = False
        self._mended = 0
        self._told_of_mended_ms = -TELL_EVERY_MS
        self._told_of_full_ms = -TELL_EVERY_MS

    @property
    def under_way(self) -> bool:
        """True from a call that was not answered until one is; a full server does answer."""
        return self._kind == "away"

    async def trouble(self, error: Exception, tries: int) -> None:
        """Wait before the next try.

        Args:
            error: why the last one failed.
            tries: how many have failed in a row.
        """
        kind = "full" if isinstance(error, OutOfMemoryError) else "away"
        if kind != self._kind:
            self.answered()
            self._kind = kind
            self._since_ms = self._clock.monotonic_ms()
        # The first unanswered call may be no more than a broken connection; a refusal is sure.
        if not self._told and (self._full_is_news() if kind == "full" else tries > 1):
            self._told = True
            event = f"{self._what}.{kind}"
            self._log.warning(event, error_message=str(error), hint=_HINTS.get(event))
        doublings = min(tries - 1, LONGEST_WAIT_MS.bit_length())
        longest_ms = min(LONGEST_WAIT_MS, FIRST_WAIT_MS << doublings)
        await self._clock.sleep_ms(round(longest_ms * self._dice(0.5, 1.0)))

    async def patiently(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask what is safe to repeat until the server answers, and has room; return the answer."""
        tries = 0
        while True:
            try:
                answer = await ask()
            except (UnavailableError, OutOfMemoryError) as error:
                tries += 1
                await self.trouble(error, tries)
            else:
                self.answered()
                return answer

    def _full_is_news(self) -> bool:
        # What frees memory succeeds in between, so that one shortage looks like many.
        now_ms = self._clock.monotonic_ms()
        if now_ms - self._told_of_full_ms < TELL_EVERY_MS:
            return False
        self._told_of_full_ms = now_ms
        return True

    def answered(self) -> None:
        """Note that the server has answered as it should."""
        if not self._kind:
            return
        now_ms = self._clock.monotonic_ms()
        if self._told:
            after = (now_ms - self._since_ms) / 1_000
            self._log.warning(f"{self._what}.{_ENDS[self._kind]}", after=after)
        elif self._kind == "away":
            self._mended += 1
            if now_ms - self._told_of_mended_ms >= TELL_EVERY_MS:
                self._log.warning(f"{self._what}.reconnected", times=self._mended)
                self._told_of_mended_ms = now_ms
                self._mended = 0
        self._kind = ""
        self._told = False
