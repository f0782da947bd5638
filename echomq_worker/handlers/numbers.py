"""Numbers that JSON has no word for: values that would turn into null, keys into texts."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any, cast

import msgspec

from echomq_worker.errors import ArgumentsError

_NUMBER_AS_KEY = re.compile(rb'"-?\d[^"]*":')


def check_numbers(label: str, values: Mapping[str, Any], payload: bytes) -> None:
    """Check that no NaN and no infinity was written as null.

    Args:
        label: the handler's name, for messages.
        values: its arguments.
        payload: these, as they were written.

    Raises:
        ArgumentsError: if one was; the text names the argument.
    """
    if b"null" not in payload:
        return
    for name, value in values.items():
        if (number := _not_finite(msgspec.to_builtins(value))) is not None:
            msg = (
                f'{label}: argument "{name}": JSON cannot carry {number}: expected a finite '
                f"number, or None where there is none"
            )
            raise ArgumentsError(msg)


def check_number_keys(label: str, values: Mapping[str, Any], payload: bytes, read: object) -> None:
    """Check that no number that is a key of a dict was written as a text, and read back as one.

    Args:
        label: the handler's name, for messages.
        values: its arguments.
        payload: these, as they were written.
        read: an object whose attributes are these as a worker reads them.

    Raises:
        ArgumentsError: if one was; the text names the argument and the key.
    """
    if not _NUMBER_AS_KEY.search(payload):
        return
    for name, value in values.items():
        if lost := _number_keys(value) - _number_keys(getattr(read, name)):
            msg = (
                f'{label}: argument "{name}": the key {next(iter(lost))} would come back as a '
                f"text: expected keys that are texts, or an annotation such as dict[int, str]"
            )
            raise ArgumentsError(msg)


def _number_keys(value: object) -> Counter[object]:
    keys: Counter[object] = Counter()
    for item in _parts(msgspec.to_builtins(value)):
        if isinstance(item, dict):
            keys.update(key for key in cast("dict[object, object]", item) if type(key) is not str)
    return keys


def _parts(value: object) -> Iterator[object]:
    left = [value]
    while left:
        item = left.pop()
        yield item
        if isinstance(item, dict):
            left.extend(cast("dict[object, object]", item).values())
        elif isinstance(item, list | tuple | set | frozenset):
            left.extend(cast("Collection[object]", item))


def _not_finite(value: object) -> float | None:
    for item in _parts(value):
        if isinstance(item, float) and not math.isfinite(item):
            return item
    return None
