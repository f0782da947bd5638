"""The shapes of a backoff: how the wait follows from the number of the failed attempt."""

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol, runtime_checkable

from echomq_worker.domain.backoff.jitter import (
    Dice,
    Jitter,
    JitterSpec,
    decorrelated,
    jitter_from,
    shape_jitter,
    spread,
)
from echomq_worker.domain.duration import parse_duration_ms
from echomq_worker.errors import InvalidArgumentError

Duration = str | float | timedelta
"""A length of time: `"1m30s"`, a number of seconds, or a timedelta."""

HIGHEST_FACTOR = 1_000

log = logging.getLogger(__name__)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@runtime_checkable
class Backoff(Protocol):
    """Says how long to wait. Anything with this method will do."""

    def delay_ms(self, attempt: int, dice: Dice) -> int:
        """Return the wait in milliseconds.

        Args:
            attempt: the number of the attempt that has just failed, from 1.
            dice: draws the random part.
        """
        ...


@dataclass(frozen=True, slots=True)
class Exponential:
    """`factor` times as long after each attempt: `base_ms`, 2 · `base_ms`, … `cap_ms`.

    By default the wait is any time from 0 to that, so that jobs that
    failed together do not come back together.

    Raises:
        InvalidArgumentError: for an unknown jitter, and a factor that is not from 1 to 1,000.
    """

    base_ms: int
    cap_ms: int
    jitter: JitterSpec | Jitter = Jitter.FULL
    factor: float = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "jitter", jitter_from(self.jitter))
        if not (_is_number(self.factor) and 1 <= self.factor <= HIGHEST_FACTOR):  # NaN is not
            msg = f"the backoff's factor is {self.factor!r}: expected 1 to {HIGHEST_FACTOR}"
            raise InvalidArgumentError(msg)

    def delay_ms(self, attempt: int, dice: Dice) -> int:
        """Return the wait in milliseconds."""
        jitter = jitter_from(self.jitter)
        if jitter is Jitter.DECORRELATED:
            return decorrelated(self.base_ms, self.cap_ms, attempt, dice)
        return spread(self._wait_ms(attempt), jitter, dice)

    def _wait_ms(self, attempt: int) -> int:
        if not 0 < self.base_ms < self.cap_ms:
            return min(self.base_ms, self.cap_ms)
        growths = max(0, attempt - 1)
        if self.factor > 1:
            # The power of a high attempt is a number of thousands of digits: it is never taken.
            to_cap = math.log(self.cap_ms / self.base_ms) / math.log(self.factor)
            growths = min(growths, math.ceil(to_cap) + 1)
            return min(self.cap_ms, round(self.base_ms * self.factor**growths))
        return self.base_ms


@dataclass(frozen=True, slots=True)
class Linear:
    """Longer by the same step after each attempt: `step_ms`, 2 · `step_ms`, … `cap_ms`."""

    step_ms: int
    cap_ms: int
    jitter: JitterSpec | Jitter = Jitter.NONE

    def __post_init__(self) -> None:
        object.__setattr__(self, "jitter", shape_jitter(self.jitter))

    def delay_ms(self, attempt: int, dice: Dice) -> int:
        """Return the wait in milliseconds."""
        wait_ms = min(self.cap_ms, self.step_ms * max(1, attempt))
        return spread(wait_ms, jitter_from(self.jitter), dice)


@dataclass(frozen=True, slots=True)
class Steps:
    """A list of waits, one for each attempt; the last one for all further attempts."""

    waits_ms: tuple[int, ...]
    jitter: JitterSpec | Jitter = Jitter.NONE

    def __post_init__(self) -> None:
        object.__setattr__(self, "jitter", shape_jitter(self.jitter))

    def delay_ms(self, attempt: int, dice: Dice) -> int:
        """Return the wait in milliseconds."""
        step = min(max(1, attempt), len(self.waits_ms)) - 1
        return spread(self.waits_ms[step], jitter_from(self.jitter), dice)


@dataclass(frozen=True, slots=True)
class Custom:
    """A function of the application; where it fails, the default decides and a line is logged."""

    function: Callable[[int], Duration]

    def delay_ms(self, attempt: int, dice: Dice) -> int:
        """Return the wait in milliseconds."""
        try:
            return parse_duration_ms(self.function(attempt))
        except Exception as error:  # noqa: BLE001 - a job must not be lost to its backoff function
            log.warning(
                "the backoff function %s failed for attempt %d (%s: %s); expected a duration such "
                "as 30, '30s' or a timedelta; the default backoff is used",
                getattr(self.function, "__qualname__", repr(self.function)),
                attempt,
                type(error).__name__,
                error,
            )
            return DEFAULT_BACKOFF.delay_ms(attempt, dice)


DEFAULT_BACKOFF = Exponential(base_ms=1_000, cap_ms=600_000)
"""1 s, 2 s, 4 s, … 10 min, each with full jitter."""
