"""Sizes in bytes: `256KiB` for people, whole bytes for everything inside."""

import re
from decimal import Decimal

from echomq_worker.errors import InvalidArgumentError

LARGEST = 1 << 50
"""A pebibyte. Whatever is larger is taken for a mistake."""

_LONGEST_TEXT = 32
_UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SHAPE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(b|(?:[kmgt])(?:ib)?)?", re.IGNORECASE)


def parse_size(value: str | int) -> int:
    """Read a size.

    Args:
        value: a number of bytes, or a text such as `512`, `64KiB`, `1.5MiB` or `64k` (which
            is 64 KiB; every unit counts in 1024s).

    Returns:
        Whole bytes, rounded down.

    Raises:
        InvalidArgumentError: for anything else. `64KB` is refused, because half of its readers
            would take it for 64,000.
    """
    size = value if type(value) is int else _text_size(value)
    if size is None or not 0 <= size <= LARGEST:
        shown = f"{value[:_LONGEST_TEXT]!r}" if isinstance(value, str) else repr(value)
        msg = (
            f"{shown} is no size: expected one such as 512, 64KiB or 1MiB (units of 1024: "
            f"KiB, MiB, GiB, TiB)"
        )
        raise InvalidArgumentError(msg)
    return size


def format_size(size: int) -> str:
    """Write `size` bytes for people: `512B`, `1MiB`, and `3.4MiB` for what is not whole."""
    for unit, factor in (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            whole, rest = divmod(size, factor)
            return f"{whole}{unit}" if not rest else f"{size / factor:.1f}{unit}"
    return f"{size}B"


def _text_size(value: object) -> int | None:
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT:
        return None
    match = _SHAPE.fullmatch(value.strip())
    if match is None:
        return None
    number, unit = match[1], (match[2] or "")[:1].lower()
    return int(Decimal(number) * _UNITS[unit])
