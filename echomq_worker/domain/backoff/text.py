"""Backoffs as short texts, for jobs that carry their own: `exponential:1000:600000:2:full`.

The parts are ms, a factor, and the jitter; `linear:1000:600000:none` and `steps:1000,5000:none`
are the other two shapes. A fixed wait is a list of one step.
"""

import re
from collections.abc import Callable

from echomq_worker.domain.backoff.jitter import Jitter
from echomq_worker.domain.backoff.shapes import Backoff, Exponential, Linear, Steps
from echomq_worker.domain.duration import LONGEST_MS
from echomq_worker.domain.limits import BACKOFF_TEXT
from echomq_worker.errors import InvalidArgumentError

_MS = r"([0-9]{1,13})"
_FACTOR = r"([0-9]{1,4}(?:\.[0-9]{1,17})?)"
_JITTER = r"(none|full|equal|decorrelated)"
_EXPONENTIAL = re.compile(rf"exponential:{_MS}:{_MS}:{_FACTOR}:{_JITTER}", re.ASCII)
_LINEAR = re.compile(rf"linear:{_MS}:{_MS}:{_JITTER}", re.ASCII)
_STEPS = re.compile(rf"steps:([0-9]{{1,13}}(?:,[0-9]{{1,13}})*):{_JITTER}", re.ASCII)


def backoff_text(backoff: Backoff) -> str:
    """Write a backoff so that it can go with a job.

    Raises:
        InvalidArgumentError: for a function or an object of the application, which cannot travel,
            and for a list that takes more than 200 characters.
    """
    match backoff:
        case Exponential(base_ms, cap_ms, jitter, factor):
            text = f"exponential:{base_ms}:{cap_ms}:{_factor(factor)}:{jitter}"
        case Linear(step_ms, cap_ms, jitter):
            text = f"linear:{step_ms}:{cap_ms}:{jitter}"
        case Steps(waits_ms, jitter):
            text = f"steps:{','.join(str(wait) for wait in waits_ms)}:{jitter}"
        case _:
            msg = (
                f"{backoff!r} cannot go with a job: expected a fixed, linear or exponential "
                f"backoff or a list of waits; a function belongs to the handler's declaration"
            )
            raise InvalidArgumentError(msg)
    if len(text) > BACKOFF_TEXT or read_backoff(text) is None:
        msg = (
            f"the backoff {text[:64]!r}… cannot go with a job: expected at most {BACKOFF_TEXT} "
            f"characters and waits up to 100 years; declare it with the handler, or use fewer steps"
        )
        raise InvalidArgumentError(msg)
    return text


def read_backoff(text: str) -> Backoff | None:
    """Read what `backoff_text` writes; None for anything else, such as a newer version's."""
    if len(text) > BACKOFF_TEXT:
        return None
    for shape, make in _SHAPES:
        match = shape.fullmatch(text)
        if match is not None:
            try:
                return make(*match.groups())
            except InvalidArgumentError:
                return None
    return None


def _exponential(base: str, cap: str, factor: str, jitter: str) -> Backoff:
    number = float(factor)
    whole = int(number) if number.is_integer() else number
    return Exponential(_ms(base), _ms(cap), Jitter(jitter), whole)


def _linear(step: str, cap: str, jitter: str) -> Backoff:
    return Linear(_ms(step), _ms(cap), Jitter(jitter))


def _steps(waits: str, jitter: str) -> Backoff:
    return Steps(tuple(_ms(wait) for wait in waits.split(",")), Jitter(jitter))


_SHAPES: tuple[tuple[re.Pattern[str], Callable[..., Backoff]], ...] = (
    (_EXPONENTIAL, _exponential),
    (_LINEAR, _linear),
    (_STEPS, _steps),
)


def _ms(digits: str) -> int:
    ms = int(digits)
    if ms > LONGEST_MS:
        msg = f"{ms} ms is over 100 years"
        raise InvalidArgumentError(msg)
    return ms


def _factor(factor: float) -> str:
    return str(int(factor)) if float(factor).is_integer() else f"{factor:.15f}".rstrip("0")
