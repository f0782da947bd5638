"""Durations: `30s` and `1h30m` for people, whole milliseconds for everything inside."""

import re
from datetime import timedelta
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from numbers import Integral

from echomq_worker.errors import InvalidArgumentError

LONGEST_MS = 36_525 * 86_400_000
"""A hundred years. Whatever is longer is taken for a mistake."""

_LONGEST_TEXT = 64
_UNITS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}
_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_BARE = re.compile(_NUMBER)
_WITH_UNITS = re.compile("".join(rf"(?:({_NUMBER}){unit})?" for unit in _UNITS))


def parse_duration_ms(value: str | float | timedelta) -> int:
    """Read a duration.

    Args:
        value: numbers with units in falling order (`1h30m`, `500ms`, `1.5s`; the units are
            d, h, m, s, ms), or a bare number of seconds as text, int, float or Decimal, or a
            timedelta.

    Returns:
        Whole milliseconds, rounded up, so that a wait is never shorter than it was asked for.

    Raises:
        InvalidArgumentError: for anything else, and for what is negative or over 100 years.
    """
    exact = _exact_ms(value)
    if exact is None or not exact.is_finite() or not 0 <= exact <= LONGEST_MS:
        msg = (
            f"{_shown(value)} is no duration: expected one such as 30s, 500ms or 1h30m, "
            f"or a number of seconds, from 0 to 100 years"
        )
        raise InvalidArgumentError(msg)
    return int(exact.to_integral_value(ROUND_CEILING))


def format_duration(ms: int) -> str:
    """Write `ms` milliseconds (0 or more) as `parse_duration_ms` reads them: 90000 is `1m30s`."""
    if ms < _UNITS["s"]:
        return f"{ms}ms" if ms else "0s"
    parts: list[str] = []
    rest = ms
    for unit in ("d", "h", "m"):
        count, rest = divmod(rest, _UNITS[unit])
        if count:
            parts.append(f"{count}{unit}")
    if rest:
        seconds = f"{rest // 1000}.{rest % 1000:03d}".rstrip("0").rstrip(".")
        parts.append(f"{seconds}s")
    return "".join(parts)


def _shown(value: object) -> str:
    if isinstance(value, str):
        return repr(value[:_LONGEST_TEXT])
    try:
        return repr(value)[:_LONGEST_TEXT]
    except ValueError:
        return "a number of thousands of digits"


def _exact_ms(value: object) -> Decimal | None:
    match value:
        case str():
            return _text_ms(value.strip())
        case Integral() if not isinstance(value, bool):  # pyright: ignore[reportUnnecessaryIsInstance] - numpy's integers too
            return Decimal(int(value)) * 1000
        case Decimal():
            return value * 1000 if value.is_finite() and abs(value) <= LONGEST_MS else None
        case float():
            # Not its own repr: numpy's says np.float64(1.5).
            return Decimal(float.__repr__(value)) * 1000
        case timedelta():
            return Decimal(value // timedelta(microseconds=1)) / 1000
        case _:
            return None


def _text_ms(text: str) -> Decimal | None:
    if not text or len(text) > _LONGEST_TEXT:
        return None
    if _BARE.fullmatch(text):
        return Decimal(text) * 1000
    match = _WITH_UNITS.fullmatch(text)
    if match is None:
        return None
    try:
        pairs = zip(match.groups(), _UNITS.values(), strict=True)
        return sum((Decimal(count) * size for count, size in pairs if count), Decimal(0))
    except InvalidOperation:
        return None
