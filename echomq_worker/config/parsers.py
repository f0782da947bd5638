"""How the text of a setting becomes a value, and what is said when it does not."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from echomq_worker.domain.duration import format_duration, parse_duration_ms
from echomq_worker.domain.size import format_size, parse_size
from echomq_worker.errors import InvalidArgumentError

T = TypeVar("T")

_TRUE = frozenset({"true", "1", "yes", "on"})
_FALSE = frozenset({"false", "0", "no", "off"})


@dataclass(frozen=True, slots=True)
class Parser(Generic[T]):
    """Reads one kind of value."""

    read: Callable[[str], T]
    """Raises `InvalidArgumentError` for a text that it cannot use."""
    expected: str
    """What a good value is, for the sentence "expected ..."."""
    show: Callable[[T], str] = str
    """Writes a value as it could have been given."""
    explains: bool = False
    """True if the error's own text says more than `expected` and repeats no secret."""
    switch: bool = False
    """True for yes-or-no values, which the command line takes without an argument."""


def text(
    expected: str = "a text", pattern: str = r".+", *, strip: bool = True, limit: int = 1024
) -> Parser[str]:
    """Take a text of at most `limit` characters that matches `pattern` as a whole."""
    shape = re.compile(pattern, re.DOTALL | re.ASCII)

    def read(given: str) -> str:
        value = given.strip() if strip else given
        if len(value) > limit or not shape.fullmatch(value):
            raise InvalidArgumentError(expected)
        return value

    return Parser(read, expected)


def whole(lowest: int, highest: int) -> Parser[int]:
    """Take a whole number from `lowest` to `highest`, both included."""
    expected = f"a whole number from {lowest} to {highest}"

    def read(given: str) -> int:
        digits = given.strip()
        if not re.fullmatch(r"[0-9]{1,18}", digits) or not lowest <= int(digits) <= highest:
            raise InvalidArgumentError(expected)
        return int(digits)

    return Parser(read, expected)


def switch() -> Parser[bool]:
    """Take true, yes, on, 1 or false, no, off, 0, in any case."""
    expected = "true or false (or yes, no, on, off, 1, 0)"

    def read(given: str) -> bool:
        word = given.strip().lower()
        if word not in _TRUE | _FALSE:
            raise InvalidArgumentError(expected)
        return word in _TRUE

    return Parser(read, expected, lambda value: "true" if value else "false", switch=True)


def choice(*words: str) -> Parser[str]:
    """Take one of `words`, in any case."""
    expected = f"one of {', '.join(words)}"

    def read(given: str) -> str:
        word = given.strip().lower()
        if word not in words:
            raise InvalidArgumentError(expected)
        return word

    return Parser(read, expected)


def duration(lowest: str, highest: str, *, zero: str | None = None) -> Parser[int]:
    """Take a duration from `lowest` to `highest`; 0 as well if `zero` says what it means."""
    low, high = parse_duration_ms(lowest), parse_duration_ms(highest)
    also = f", or 0 for {zero}" if zero else ""
    expected = f"a duration from {lowest} to {highest}{also}, such as 30s, 500ms or 1h30m"

    def read(given: str) -> int:
        value = parse_duration_ms(given)
        if not low <= value <= high and not (zero and value == 0):
            raise InvalidArgumentError(expected)
        return value

    return Parser(read, expected, format_duration)


def size(lowest: str, highest: str) -> Parser[int]:
    """Take a size in bytes from `lowest` to `highest`."""
    low, high = parse_size(lowest), parse_size(highest)
    expected = f"a size from {lowest} to {highest}, such as 512, 64KiB or 1MiB"

    def read(given: str) -> int:
        value = parse_size(given)
        if not low <= value <= high:
            raise InvalidArgumentError(expected)
        return value

    return Parser(read, expected, format_size)


def readable_file() -> Parser[str]:
    """Take the path of a file that exists and may be read."""
    expected = "the path of a readable file"

    def read(given: str) -> str:
        try:
            with Path(given.strip()).open("rb"):
                return given.strip()
        except (OSError, ValueError) as error:
            raise InvalidArgumentError(expected) from error

    return Parser(read, expected)


def words(expected: str, pattern: str) -> Parser[tuple[str, ...]]:
    """Take a comma-separated list, each part of which matches `pattern` as a whole."""
    shape = re.compile(pattern, re.ASCII)

    def read(given: str) -> tuple[str, ...]:
        parts = tuple(part.strip() for part in given.split(","))
        if not all(shape.fullmatch(part) for part in parts):
            raise InvalidArgumentError(expected)
        return parts

    return Parser(read, expected, ",".join)


def levels(known: Sequence[str]) -> Parser[tuple[tuple[str, str], ...]]:
    """Take a list such as `redis=warning,myapp=debug`: a logger's name and its level."""
    expected = f"a list such as redis=warning,myapp=debug with levels {', '.join(known)}"

    def read(given: str) -> tuple[tuple[str, str], ...]:
        pairs: dict[str, str] = {}
        for part in given.split(","):
            name, _, level = (piece.strip() for piece in part.partition("="))
            if not re.fullmatch(r"[\w.]+", name) or level.lower() not in known or name in pairs:
                raise InvalidArgumentError(expected)
            pairs[name] = level.lower()
        return tuple(pairs.items())

    return Parser(read, expected, lambda value: ",".join("=".join(pair) for pair in value))
