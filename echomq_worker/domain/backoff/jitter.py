"""Waits that are spread, so that jobs which failed together do not come back together.

The four ways and their names are those of Marc Brooker, "Exponential Backoff And Jitter", AWS
Architecture Blog, 2015.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Literal

from echomq_worker.errors import InvalidArgumentError

Dice = Callable[[float, float], float]
"""A die: any number between two bounds (`random.uniform`)."""

JitterWord = Literal["none", "full", "equal", "decorrelated"]
JitterSpec = bool | JitterWord
"""What may be given where a jitter is asked for: a word; True for `full`, False for `none`."""

DRAWN_ALONG = 500
"""How many earlier waits are drawn for a decorrelated one: by then, more change nothing."""


class Jitter(StrEnum):
    """How a wait is spread."""

    NONE = "none"
    """Not at all."""
    FULL = "full"
    """Any time from 0 to the wait."""
    EQUAL = "equal"
    """Half of the wait, and any time from 0 to the other half."""
    DECORRELATED = "decorrelated"
    """Any time from the base to three times the wait before, at most the cap."""


def jitter_from(spec: JitterSpec | Jitter) -> Jitter:
    """Read what was given for a jitter; raise `InvalidArgumentError` if it is none."""
    if isinstance(spec, bool):
        return Jitter.FULL if spec else Jitter.NONE
    try:
        return Jitter(spec)
    except ValueError:
        words = ", ".join(repr(str(jitter)) for jitter in Jitter)
        msg = f"{spec!r} is no jitter: expected True, False or one of {words}"
        raise InvalidArgumentError(msg) from None


def shape_jitter(spec: JitterSpec | Jitter) -> Jitter:
    """Read the jitter of a shape that has no base to grow from.

    Raises:
        InvalidArgumentError: if it is none, and for `decorrelated`.
    """
    jitter = jitter_from(spec)
    if jitter is Jitter.DECORRELATED:
        msg = (
            "jitter 'decorrelated' draws between a base and a cap and follows no other shape: "
            "expected it with exponential only; 'full' and 'equal' fit every shape"
        )
        raise InvalidArgumentError(msg)
    return jitter


def spread(wait_ms: int, jitter: Jitter, dice: Dice) -> int:
    """Return a wait in ms that is spread in one of the ways that look at this wait alone."""
    match jitter:
        case Jitter.FULL:
            return round(dice(0, wait_ms))
        case Jitter.EQUAL:
            half_ms = wait_ms // 2
            return half_ms + round(dice(0, wait_ms - half_ms))
        case _:
            return wait_ms


def decorrelated(base_ms: int, cap_ms: int, attempt: int, dice: Dice) -> int:
    """Return the wait in ms after a failed attempt: `min(cap, random(base, 3 · the wait before))`.

    Nobody remembers the wait before: it is drawn along, from the first attempt on, which has the
    same distribution. Source of the formula: see this module.

    Args:
        base_ms: the shortest wait, and what the first one grows from.
        cap_ms: the longest.
        attempt: the number of the attempt that has just failed, from 1.
        dice: draws.
    """
    wait_ms = float(base_ms)
    for _ in range(min(max(1, attempt), DRAWN_ALONG)):
        wait_ms = min(float(cap_ms), dice(base_ms, max(base_ms, 3 * wait_ms)))
    return round(wait_ms)
