"""Uniqueness: of what is enqueued under one key, what becomes of the later ones."""

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from echomq_worker.domain.duration import LONGEST_MS, parse_duration_ms
from echomq_worker.errors import InvalidArgumentError

LONGEST_KEY = 1_000
_ON_THE_WIRE = re.compile(r"[A-Za-z0-9._-]{1,200}")


class Mode(StrEnum):
    """What becomes of a job whose key is held by another."""

    REJECT = "reject"
    """It is not admitted."""
    REPLACE = "replace"
    """The holder gets its arguments and keeps its place, unless it has begun: then as reject."""
    DEBOUNCE = "debounce"
    """As replace, and the holder waits again."""
    KEEP_LATEST = "keep-latest"
    """As replace; if the holder runs, the newest one is kept and starts when it has ended."""


ConflictMode = Literal["reject", "replace", "keep-latest"]
"""The modes that need no times."""


class Release(StrEnum):
    """When a key is free again."""

    START = "start"
    FINISH = "finish"
    TTL = "ttl"


@dataclass(frozen=True, slots=True)
class Conflict:
    """A mode with its times: what `reject`, `debounce("5s")` and the others stand for.

    Args:
        mode: what becomes of a job whose key is held.
        wait_ms: how long a debounced job waits for another, in ms.
        most_ms: how long after the first one it waits at most, in ms; 0 for no end.
        release: when the key is free again.
        ttl_ms: with a release by time: after how long, in ms.
    """

    mode: Mode
    wait_ms: int = 0
    most_ms: int = 0
    release: Release = Release.FINISH
    ttl_ms: int = 0


@dataclass(frozen=True, slots=True)
class Unique:
    """A key, and what it means.

    Args:
        key: as the wire spells it.
        conflict: what becomes of a job whose key is held.
    """

    key: str
    conflict: Conflict


def debounce(wait: str | float, *, max: str | float | None = None) -> Conflict:  # noqa: A002 - the field's word
    """Let a job wait for more of its key: the newest arguments run, once it has been quiet.

    Args:
        wait: how long it is to be quiet, such as `"5s"`.
        max: how long after the first one it runs at the latest; without it, there is no end.

    Raises:
        InvalidArgumentError: if one is no duration, or `max` is shorter than `wait`.
    """
    wait_ms = parse_duration_ms(wait)
    most_ms = 0 if max is None else parse_duration_ms(max)
    if not wait_ms or (max is not None and most_ms < wait_ms):
        msg = f"debounce waits {wait!r}, at most {max!r}: expected above 0, and max not below wait"
        raise InvalidArgumentError(msg)
    return Conflict(Mode.DEBOUNCE, wait_ms, most_ms, Release.START)


def throttle(period: str | float) -> Conflict:
    """Admit one job of a key in a period; the others are rejected, even if that one has ended.

    Raises:
        InvalidArgumentError: if that is no duration above 0.
    """
    ttl_ms = parse_duration_ms(period)
    if not ttl_ms:
        msg = f"throttle is given {period!r}: expected a duration above 0, such as '1m'"
        raise InvalidArgumentError(msg)
    return Conflict(Mode.REJECT, release=Release.TTL, ttl_ms=ttl_ms)


def conflict_of(mode: object, release: object = None) -> Conflict:
    """Read a mode, and when the key is free again.

    Args:
        mode: `"reject"`, `"replace"`, `"keep-latest"`, or what `debounce` and `throttle` return.
        release: `"start"`, `"finish"` (the default), or a duration.

    Raises:
        InvalidArgumentError: if one is none of these, or they do not go together.
    """
    if isinstance(mode, Conflict):
        if release is not None:
            msg = "release is given with debounce or throttle: expected it with another mode only"
            raise InvalidArgumentError(msg)
        return mode
    words = (Mode.REJECT, Mode.REPLACE, Mode.KEEP_LATEST)
    if mode not in words:
        msg = (
            f"the mode is {mode!a:.80}: expected 'reject', 'replace', 'keep-latest', debounce(...) "
            f"or throttle(...)"
        )
        raise InvalidArgumentError(msg)
    found = Mode(str(mode))
    if release is None or release == Release.FINISH:
        return Conflict(found)
    if found is Mode.KEEP_LATEST:
        msg = f"release is {release!r} with 'keep-latest': expected 'finish', which it waits for"
        raise InvalidArgumentError(msg)
    if release == Release.START:
        return Conflict(found, release=Release.START)
    ttl_ms = parse_duration_ms(release)  # pyright: ignore[reportArgumentType] - it says what it takes
    if not 1 <= ttl_ms <= LONGEST_MS:
        msg = f"release is {release!r}: expected 'start', 'finish', or a duration above 0"
        raise InvalidArgumentError(msg)
    return Conflict(found, release=Release.TTL, ttl_ms=ttl_ms)


def wire_key(key: object) -> str:
    """Return a key as the wire spells it: itself if it may be, else a digest of it.

    Raises:
        InvalidArgumentError: if it is no text of 1 to 1,000 characters, or a whole number.
    """
    text = str(key) if type(key) is int else key
    if not isinstance(text, str) or not 1 <= len(text) <= LONGEST_KEY:
        msg = f"the key is {key!a:.80}: expected a text of 1 to {LONGEST_KEY} characters"
        raise InvalidArgumentError(msg)
    if _ON_THE_WIRE.fullmatch(text):
        return text
    return f"sha256-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"
