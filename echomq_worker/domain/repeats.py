"""Repeating registrations of the base wire: a name, an interval, and the payload of each job."""

import re
from dataclasses import dataclass

from echomq_worker.domain.job import JobId
from echomq_worker.domain.limits import NUMBER_DIGITS
from echomq_worker.errors import InvalidArgumentError

REPEAT_NAME = 200
"""The longest name of a registration that is made here, in characters. A peer's may be longer."""
LONGEST_MS = 10**NUMBER_DIGITS - 1

_NAME = re.compile(rf"[!-~]{{1,{REPEAT_NAME}}}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatView:
    """A registration as it lies on the server."""

    name: str
    """As a peer has spelled it; bytes that are no UTF-8 are surrogates."""
    next_ms: float
    """When it fires next, in Unix ms by the server's clock; infinite if never."""
    every_ms: int | None
    """The interval; None if the record has none that can be used."""
    template: bytes | None
    """The payload of its jobs; None if the record has none."""
    problem: str = ""
    """Why it cannot fire; empty if it can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatsFired:
    """What became of the registrations that were due."""

    now_ms: int
    next_ms: int | None
    """When the next one is due: not later than `now_ms` if some were left; None: there is none."""
    fired: tuple[tuple[str, JobId], ...] = ()
    """The name of each registration that fired, and the id of its job."""
    set_aside: tuple[tuple[str, str], ...] = ()
    """The name of each that cannot be used, and why: it was moved out of the way."""


def check_repeat_name(name: str) -> str:
    """Return `name` if a registration may be given it; raise `InvalidArgumentError` otherwise."""
    if not _NAME.fullmatch(name):
        msg = (
            f"{name[:REPEAT_NAME]!r} cannot name a repeating registration: expected 1 to "
            f"{REPEAT_NAME} visible ASCII characters without spaces"
        )
        raise InvalidArgumentError(msg)
    return name


def check_repeat_ms(what: str, ms: int, least: int) -> int:
    """Return a number of ms if it is whole and in range; raise `InvalidArgumentError` otherwise.

    Args:
        what: what it is, for the error.
        ms: the number.
        least: the lowest that is allowed.
    """
    if type(ms) is not int or not least <= ms <= LONGEST_MS:
        msg = f"{what} is {ms!r}: expected a whole number of ms, {least} to {LONGEST_MS}"
        raise InvalidArgumentError(msg)
    return ms
