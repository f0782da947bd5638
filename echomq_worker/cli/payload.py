"""Arguments of a job as they are typed: `to=a@b.c n:=3`, or one JSON object."""

import json
from collections.abc import Sequence
from typing import Any, cast

from echomq_worker.errors import InvalidArgumentError

_SHOWN = 40


def read_arguments(pairs: Sequence[str], json_text: str | None = None) -> dict[str, Any]:
    """Return the arguments of a job by name.

    Args:
        pairs: `name=text`, or `name:=JSON` for numbers, lists and the rest.
        json_text: a JSON object with further arguments.

    Raises:
        InvalidArgumentError: if something is neither, or an argument is given twice.
    """
    arguments = {} if json_text is None else _object(json_text)
    for pair in pairs:
        name, value = _pair(pair)
        if name in arguments:
            msg = f"argument {name!r} is given twice"
            raise InvalidArgumentError(msg)
        arguments[name] = value
    return arguments


def _pair(pair: str) -> tuple[str, Any]:
    name, equals, value = pair.partition("=")
    if not equals or not name.removesuffix(":"):
        msg = f"{_short(pair)!r} is no argument: expected name=text or name:=JSON"
        raise InvalidArgumentError(msg)
    if not name.endswith(":"):
        return name, value
    name = name.removesuffix(":")
    try:
        return name, _parsed(value)
    except ValueError as error:
        msg = (
            f"argument {name!r}: {_short(value)!r} is no JSON ({error}). For a text, write "
            f"{name}=... without the colon"
        )
        raise InvalidArgumentError(msg) from None


def _object(text: str) -> dict[str, Any]:
    try:
        value = _parsed(text)
    except ValueError as error:
        msg = f'--args is no JSON ({error}): expected an object such as {{"to": "a@b.c"}}'
        raise InvalidArgumentError(msg) from None
    if not isinstance(value, dict):
        msg = f'--args is a {type(value).__name__}: expected an object such as {{"to": "a@b.c"}}'
        raise InvalidArgumentError(msg)
    return cast("dict[str, Any]", value)


def _parsed(text: str) -> Any:  # noqa: ANN401
    try:
        return json.loads(text, parse_constant=_no_number, object_pairs_hook=_without_repeats)
    except RecursionError:
        msg = "nested too deeply"
        raise ValueError(msg) from None


def _no_number(word: str) -> float:
    msg = f"{word} is not a number that JSON knows"
    raise ValueError(msg)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        msg = "a name stands twice in one object"
        raise ValueError(msg)
    return found


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
