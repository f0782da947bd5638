"""When a scheduler fires: what a rule can say, and the rule of even intervals."""

from dataclasses import dataclass
from typing import Protocol

from echomq_worker.domain.backoff import Duration
from echomq_worker.domain.duration import format_duration, parse_duration_ms
from echomq_worker.domain.ids import EPOCH_MS, TIME_LIMIT
from echomq_worker.domain.limits import SHORTEST_INTERVAL_MS
from echomq_worker.errors import InvalidArgumentError

LAST_INSTANT_MS = EPOCH_MS + TIME_LIMIT - 1
"""No occurrence is later than this: no id could be minted for its job (on 2093-09-06)."""


class Rule(Protocol):
    """Says at which instants a scheduler fires, each in Unix ms."""

    def next_ms(self, after_ms: int) -> int | None:
        """Return the first instant that is strictly later; None if there is none any more."""
        ...

    def describe(self) -> str:
        """Return the rule in English."""
        ...


@dataclass(frozen=True, slots=True)
class Every:
    """An instant every `period_ms`, on a grid that lag and restarts do not move.

    The grid is `anchor_ms` + `offset_ms` + n · `period_ms`. With an anchor of 0 it counts from the
    beginning of 1970 (UTC): whoever deploys the same rule finds the same instants.

    Raises:
        InvalidArgumentError: for a period under 100 ms, and an offset that is not shorter than it.
    """

    period_ms: int
    offset_ms: int = 0
    """Shifts the grid, so that schedulers of one period do not fire together."""
    anchor_ms: int = 0
    """Where the grid begins, in Unix ms: nothing fires before it."""

    def __post_init__(self) -> None:
        if self.period_ms < SHORTEST_INTERVAL_MS:
            msg = (
                f"the interval is {_shown(self.period_ms)}: expected at least "
                f"{SHORTEST_INTERVAL_MS}ms, such as '30s' or '15m'"
            )
            raise InvalidArgumentError(msg)
        if not 0 <= self.offset_ms < self.period_ms:
            msg = (
                f"the offset is {_shown(self.offset_ms)}: expected less than the interval, which "
                f"is {_shown(self.period_ms)}"
            )
            raise InvalidArgumentError(msg)
        if not 0 <= self.anchor_ms <= LAST_INSTANT_MS:
            msg = f"the grid begins at {self.anchor_ms} (Unix ms): expected 1970 to 2093"
            raise InvalidArgumentError(msg)

    def next_ms(self, after_ms: int) -> int | None:
        """Return the first instant of the grid that is later than `after_ms`."""
        first = self.anchor_ms + self.offset_ms
        passed = max(0, (after_ms - first) // self.period_ms + 1)
        instant = first + passed * self.period_ms
        return instant if instant <= LAST_INSTANT_MS else None

    def describe(self) -> str:
        """Return the rule in English: `every 15m`, or `every 15m, 30s after the full interval`."""
        text = f"every {format_duration(self.period_ms)}"
        if self.offset_ms:
            text += f", {format_duration(self.offset_ms)} after the full interval"
        return text


def every_rule(every: Duration, *, offset: Duration | None = None, anchor_ms: int = 0) -> Every:
    """Return the rule of an even interval.

    Args:
        every: the time from one occurrence to the next, from 100 ms: `"15m"`, a number of seconds,
            or a timedelta.
        offset: how far to shift the grid, less than `every`.
        anchor_ms: where the grid begins, in Unix ms.

    Raises:
        InvalidArgumentError: if a duration cannot be used.
    """
    return Every(
        period_ms=parse_duration_ms(every),
        offset_ms=0 if offset is None else parse_duration_ms(offset),
        anchor_ms=anchor_ms,
    )


def _shown(ms: int) -> str:
    return format_duration(ms) if ms >= 0 else f"{ms}ms"
