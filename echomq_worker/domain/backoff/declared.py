"""How backoffs are declared."""

import inspect
from collections.abc import Callable, Sequence
from datetime import timedelta

from echomq_worker.domain.backoff.jitter import Jitter, JitterSpec, jitter_from
from echomq_worker.domain.backoff.shapes import (
    DEFAULT_BACKOFF,
    Backoff,
    Custom,
    Duration,
    Exponential,
    Linear,
    Steps,
)
from echomq_worker.domain.backoff.text import read_backoff
from echomq_worker.domain.duration import parse_duration_ms
from echomq_worker.errors import InvalidArgumentError

USUAL_FACTOR = 2


def fixed(delay: Duration, *, jitter: JitterSpec = False) -> Backoff:
    """Wait the same `delay` after each attempt.

    Args:
        delay: the wait.
        jitter: how to spread it: `"full"` (or True): any time from 0 to `delay`; `"equal"`: half of
            it and any time from 0 to the other half.
    """
    return Steps((parse_duration_ms(delay),), jitter)


def exponential(
    base: Duration = "1s",
    cap: Duration = "10m",
    *,
    factor: float = USUAL_FACTOR,
    jitter: JitterSpec = True,
) -> Backoff:
    """Wait `base` and `factor` times as long after each attempt, never longer than `cap`.

    Args:
        base: the wait after the first attempt.
        cap: the longest wait.
        factor: how fast it grows, from 1 to 1,000.
        jitter: how to spread it: `"full"` (or True, the default): any time from 0 to the wait;
            `"equal"`: half of it and any time from 0 to the other half; `"decorrelated"`: any time
            from `base` to three times the wait before, so without a factor; `"none"` (or False):
            not at all.

    Raises:
        InvalidArgumentError: if one of them cannot be used, or a factor goes with
            `"decorrelated"`.
    """
    if factor != USUAL_FACTOR and jitter_from(jitter) is Jitter.DECORRELATED:
        msg = (
            f"the backoff has factor {factor!r} and jitter 'decorrelated', which grows by its own "
            f"rule, up to three times the wait before: expected one of them"
        )
        raise InvalidArgumentError(msg)
    return Exponential(parse_duration_ms(base), parse_duration_ms(cap), jitter, factor)


def linear(step: Duration, cap: Duration = "10m", *, jitter: JitterSpec = False) -> Backoff:
    """Wait `step` longer after each attempt, never longer than `cap`; `jitter` as in `fixed`."""
    return Linear(parse_duration_ms(step), parse_duration_ms(cap), jitter)


def steps(waits: Sequence[Duration], *, jitter: JitterSpec = False) -> Backoff:
    """Wait as listed, one after each attempt; the last one after all further attempts.

    Raises:
        InvalidArgumentError: if the list is empty or holds something that is no duration.
    """
    if isinstance(waits, str):
        msg = f"backoff steps {waits!a:.80}: expected a list of durations, such as ['1s', '1m']"
        raise InvalidArgumentError(msg)
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
        spec: a backoff as it is, or as `backoff_text` writes it; `"exponential"` for the default; a
            duration for a fixed wait; a list of durations for steps; a function of the attempt's
            number for its own.

    Raises:
        InvalidArgumentError: if it is none of these.
    """
    if isinstance(spec, Backoff):
        return spec
    if spec == "exponential":
        return DEFAULT_BACKOFF
    written = read_backoff(spec) if isinstance(spec, str) else None
    if written is not None:
        return written
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
