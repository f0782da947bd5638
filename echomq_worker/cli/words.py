"""How times, counts and near misses are put into words."""

from collections.abc import Iterable
from datetime import UTC, datetime
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, version

_SECOND_MS, _MINUTE_MS, _HOUR_MS, _DAY_MS = 1_000, 60_000, 3_600_000, 86_400_000
_LAST_MS = 253_402_300_799_999
"""The end of the year 9999, which is as far as dates can be written."""


def age(ms: int) -> str:
    """Write a span of `ms` milliseconds in a few characters: `4.2s`, `11m02s`, `3h05m`, `2d04h`."""
    ms = max(0, ms)
    if ms < 10 * _SECOND_MS:
        return f"{ms / _SECOND_MS:.1f}s"
    if ms < _MINUTE_MS:
        return f"{ms // _SECOND_MS}s"
    if ms < _HOUR_MS:
        return f"{ms // _MINUTE_MS}m{ms % _MINUTE_MS // _SECOND_MS:02d}s"
    if ms < _DAY_MS:
        return f"{ms // _HOUR_MS}h{ms % _HOUR_MS // _MINUTE_MS:02d}m"
    return f"{ms // _DAY_MS}d{ms % _DAY_MS // _HOUR_MS:02d}h"


def moment(at_ms: int | None, now_ms: int) -> str:
    """Write an instant (Unix ms) as seen from `now_ms`: `3m12s ago`, `in 4.0s`, `unknown`."""
    if at_ms is None:
        return "unknown"
    return f"in {age(at_ms - now_ms)}" if at_ms > now_ms else f"{age(now_ms - at_ms)} ago"


def coming(at_ms: int, now_ms: int) -> str:
    """Write an instant (Unix ms) that is to come: `in 4.0s`, or `due 0.2s ago`."""
    return f"{'' if at_ms > now_ms else 'due '}{moment(at_ms, now_ms)}"


def rfc3339(at_ms: int | None) -> str | None:
    """Write an instant (Unix ms) as RFC 3339 in UTC, with milliseconds; None stays None."""
    if at_ms is None:
        return None
    at_ms = min(max(0, at_ms), _LAST_MS)
    whole = datetime.fromtimestamp(at_ms // 1_000, UTC)
    return f"{whole:%Y-%m-%dT%H:%M:%S}.{at_ms % 1_000:03d}Z"


def count_of(number: int, noun: str) -> str:
    """Write `1 job`, `2 jobs`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def near_misses(word: str, known: Iterable[str]) -> str:
    """Return ` Did you mean ...?` for known words that resemble `word`, or nothing."""
    by_folded = {name.casefold(): name for name in known}
    close = get_close_matches(word.casefold(), by_folded, n=3, cutoff=0.6)
    if not close:
        return ""
    return f" Did you mean {' or '.join(by_folded[name] for name in close)}?"


def installed(package: str) -> str:
    """Return the version of a package that is installed, or say that it is not."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
