"""Numbers that JSON has no word for, and that would turn into null on the way."""

import math
from collections.abc import Collection, Mapping
from typing import Any, cast

import msgspec

from echomq_worker.errors import ArgumentsError


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


def _not_finite(value: object) -> float | None:
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, float):
            if not math.isfinite(item):
                return item
        elif isinstance(item, dict):
            left.extend(cast("dict[object, object]", item).values())
        elif isinstance(item, list | tuple | set | frozenset):
            left.extend(cast("Collection[object]", item))
    return None
