"""How long a job waits after a failed attempt before the next."""

import inspect
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol, runtime_checkable

from echomq_worker.domain.duration import parse_duration_ms
from echomq_worker.errors import InvalidArgumentError

Duration = str | float | timedelta
"""A length of time: `"1m30s"`, a number of seconds, or a timedelta."""

Dice = Callable[[float, float], float]
"""A die: any number between two bounds (`random.uniform`)."""

log = logging.getLogger(__name__)


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
    """Twice as long after each attempt: `base_ms`, 2 · `base_ms`, 4 · `base_ms`, … `cap_ms`.

    With `jitter`, any time from 0 to that, so that jobs that failed together do not come back
    together.
    """

    base_ms: int
    cap_ms: int
    jitter: bool = True

    def delay_ms(self, attempt: int, dice: Dice) -> int:
        """Return the wait in milliseconds."""
        # The power of a high attempt is a number of thousands of digits: it is never taken.
        doublings = min(max(0, attempt - 1), self.cap_ms.bit_length())
        return _spread(min(self.cap_ms, self.base_ms << doublings), dice, jitter=self.jitter)


@dataclass(frozen=True, slots=True)
class Linear:
    """Longer by the same step after each attempt: `step_ms`, 2 · `step_ms`, … `cap_ms`."""

    step_ms: int
    cap_ms: int
    jitter: bool = False

    def delay_ms(self, attempt: int, dice: Dice) -> int:
        """Return the wait in milliseconds."""
        wait_ms = min(self.cap_ms, self.step_ms * max(1, attempt))
        return _spread(wait_ms, dice, jitter=self.jitter)


@dataclass(frozen=True, slots=True)
class Steps:
    """A list of waits, one for each attempt; the last one for all further attempts."""

    waits_ms: tuple[int, ...]
    jitter: bool = False

    def delay_ms(self, attempt: int, dice: Dice) -> int:
        """Return the wait in milliseconds."""
        step = min(max(1, attempt), len(self.waits_ms)) - 1
        return _spread(self.waits_ms[step], dice, jitter=self.jitter)


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


def fixed(delay: Duration, *, jitter: bool = False) -> Backoff:
    """Wait the same `delay` after each attempt; with `jitter`, any time from 0 to that."""
    return Steps((parse_duration_ms(delay),), jitter)


def exponential(base: Duration = "1s", cap: Duration = "10m", *, jitter: bool = True) -> Backoff:
    """Wait `base` and twice as long after each attempt, never longer than `cap`.

    With `jitter` (the default) the wait is any time from 0 to that.
    """
    return Exponential(parse_duration_ms(base), parse_duration_ms(cap), jitter)


def linear(step: Duration, cap: Duration = "10m", *, jitter: bool = False) -> Backoff:
    """Wait `step` longer after each attempt, never longer than `cap`."""
    return Linear(parse_duration_ms(step), parse_duration_ms(cap), jitter)


def steps(waits: Sequence[Duration], *, jitter: bool = False) -> Backoff:
    """Wait as listed, one after each attempt; the last one after all further attempts.

    Raises:
        InvalidArgumentError: if the list is empty or holds something that is no duration.
    """
    if not waits:
        msg = "a list of backoff steps is empty: expected at least one duration, such as ['1s']"
        raise InvalidArgumentError(msg)
    return Steps(tuple(parse_duration_ms(wait) for wait in waits), jitter)


def custom(function: Callable[[int], Duration]) -> Backoff:
    """Ask a function, which gets the number of the failed attempt (from 1) and returns a duration.

    If it raises, or returns what is no duration (NaN, negative, over 100 years, another type), the
    default backoff decides and a warning is logged.

    Raises:
        InvalidArgumentError: for a coroutine function: a wait is computed, not awaited.
    """
    if inspect.iscoroutinefunction(function):
        msg = f"{function!r} cannot be a backoff: expected a plain function, not an async one"
        raise InvalidArgumentError(msg)
    return Custom(function)


BackoffSpec = Backoff | Duration | Sequence[Duration] | Callable[[int], Duration]
"""What may be given where a backoff is asked for; see `backoff_from`."""


def backoff_from(spec: BackoffSpec) -> Backoff:
    """Turn what was given for a backoff into one.

    Args:
        spec: a backoff as it is; `"exponential"` for the default; a duration for a fixed wait; a
            list of durations for steps; a function of the attempt's number for its own.

    Raises:
        InvalidArgumentError: if it is none of these.
    """
    if isinstance(spec, Backoff):
        return spec
    if spec == "exponential":
        return DEFAULT_BACKOFF
    if isinstance(spec, str | int | float | timedelta):
        return fixed(spec)
    if callable(spec):
        return custom(spec)
    if isinstance(spec, list | tuple):
        return steps(spec)
    msg = (
        f"{spec!r} cannot be a backoff: expected 'exponential', a duration such as '30s', a list "
        f"of durations, a function of the attempt's number, or what echomq_worker's backoff "
        f"functions return"
    )
    raise InvalidArgumentError(msg)


def _spread(wait_ms: int, dice: Dice, *, jitter: bool) -> int:
    return round(dice(0, wait_ms)) if jitter else wait_ms
