"""Branded ids: three capital letters and 11 base62 digits of a 63-bit snowflake number.

The number is `milliseconds since 2024-01-01 << 22 | node << 12 | sequence`. The digits stand in
ASCII order and have a fixed width, so the byte order of ids is the order in which they were minted.
"""

import re
from dataclasses import dataclass
from typing import Self

from echomq_worker.errors import InvalidIdError

EPOCH_MS = 1_704_067_200_000
"""2024-01-01T00:00:00Z in Unix milliseconds."""
JOB_NAMESPACE = "JOB"
NODE_LIMIT = 1 << 10
SEQUENCE_LIMIT = 1 << 12
TIME_LIMIT = 1 << 41
"""Milliseconds after the epoch that an id cannot hold any more: on 2093-09-06."""
SNOWFLAKE_LIMIT = 1 << 63

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_VALUES = {digit: value for value, digit in enumerate(_DIGITS)}
_PAIRS = [high + low for high in _DIGITS for low in _DIGITS]
_62_2 = 62**2
_62_4 = 62**4
_62_6 = 62**6
_HIGHEST = "AzL8n0Y58m7"
_SHAPE = re.compile(r"[A-Z]{3}[0-9A-Za-z]{11}", re.ASCII)
_NAMESPACE = re.compile(r"[A-Z]{3}", re.ASCII)


@dataclass(frozen=True, slots=True)
class BrandedId:
    """A branded id, for whoever wants to know what it says.

    Made by `parse_id`, `of` and `pack`, which refuse what is no id. Ids of one namespace
    compare as their texts do: the earlier minted first.
    """

    text: str

    @property
    def namespace(self) -> str:
        """What kind of thing it names: `JOB` for a job."""
        return self.text[:3]

    @property
    def snowflake(self) -> int:
        """The number behind the digits."""
        number = 0
        for digit in self.text[3:]:
            number = number * 62 + _VALUES[digit]
        return number

    @property
    def unix_ms(self) -> int:
        """When it was minted, in Unix milliseconds."""
        return (self.snowflake >> 22) + EPOCH_MS

    @property
    def node(self) -> int:
        """Which generator minted it, 0 to 1023."""
        return self.snowflake >> 12 & (NODE_LIMIT - 1)

    @property
    def sequence(self) -> int:
        """Its number within the millisecond, 0 to 4095."""
        return self.snowflake & (SEQUENCE_LIMIT - 1)

    @classmethod
    def of(cls, namespace: str, snowflake: int) -> Self:
        """Make the id of a number, 0 to 2^63-1. Raises `InvalidIdError` if it does not fit."""
        check_namespace(namespace)
        if not 0 <= snowflake < SNOWFLAKE_LIMIT:
            msg = f"{snowflake} is no snowflake number: expected 0 to 2^63-1"
            raise InvalidIdError(msg)
        return cls(namespace + encode(snowflake))

    @classmethod
    def pack(cls, namespace: str, unix_ms: int, node: int, sequence: int) -> Self:
        """Make the id of a time in Unix ms, a node and a sequence. Raises `InvalidIdError`."""
        time_ms = unix_ms - EPOCH_MS
        if not (
            0 <= time_ms < TIME_LIMIT and 0 <= node < NODE_LIMIT and 0 <= sequence < SEQUENCE_LIMIT
        ):
            msg = (
                f"no id for time {unix_ms} ms, node {node}, sequence {sequence}: expected a time "
                f"from {EPOCH_MS} to {EPOCH_MS + TIME_LIMIT - 1}, a node below {NODE_LIMIT} and a "
                f"sequence below {SEQUENCE_LIMIT}"
            )
            raise InvalidIdError(msg)
        return cls.of(namespace, time_ms << 22 | node << 12 | sequence)


def parse_id(text: str, namespace: str | None = JOB_NAMESPACE) -> BrandedId:
    """Check that a text is a branded id, and give access to what it says.

    Args:
        text: the id, 14 ASCII characters.
        namespace: the only namespace to accept; None accepts any.

    Raises:
        InvalidIdError: if it is not one.
    """
    is_text = isinstance(text, str)  # pyright: ignore[reportUnnecessaryIsInstance] - callers err
    if not is_text or not _SHAPE.fullmatch(text) or text[3:] > _HIGHEST:
        shown = repr(text[:64]) if is_text else repr(text)[:64]
        msg = (
            f"{shown} is no branded id: expected three capital letters and 11 characters "
            f"of 0-9 A-Z a-z, at most {_HIGHEST}, such as JOB0NsUH6L9tuD"
        )
        raise InvalidIdError(msg)
    if namespace is not None and text[:3] != namespace:
        msg = f"{text!r} is an id of {text[:3]}: expected one of {namespace}"
        raise InvalidIdError(msg)
    return BrandedId(text)


def parse_group(text: str) -> str:
    """Return `text` if it can name a lane (a branded id of any namespace)."""
    return parse_id(text, None).text


def check_namespace(text: str) -> None:
    """Raise `InvalidIdError` unless `text` is three capital letters."""
    if not _NAMESPACE.fullmatch(text):
        msg = f"{text[:64]!r} is no id namespace: expected three capital letters A-Z"
        raise InvalidIdError(msg)


def encode(snowflake: int) -> str:
    """Write a number, 0 to 2^63-1, as the 11 digits of an id. The caller has checked it.

    Two digits at a time from a table: every enqueue comes through here.
    """
    high, low = divmod(snowflake, _62_6)
    return (
        f"{_DIGITS[high // _62_4]}{_PAIRS[high // _62_2 % _62_2]}{_PAIRS[high % _62_2]}"
        f"{_PAIRS[low // _62_4]}{_PAIRS[low // _62_2 % _62_2]}{_PAIRS[low % _62_2]}"
    )


def hash32(snowflake: int) -> int:
    """Hash an id's number to 32 bits: the first half of murmur3's 64-bit finaliser.

    Source: Austin Appleby, MurmurHash3 (`fmix64`, first multiplication only), public domain.
    """
    mixed = (snowflake ^ snowflake >> 33) * 0xFF51AFD7ED558CCD & 0xFFFFFFFFFFFFFFFF
    return (mixed ^ mixed >> 33) & 0xFFFFFFFF
