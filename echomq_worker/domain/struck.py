"""Jobs that are stopped by what their arguments are: `where` of a pause."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from echomq_worker.errors import InvalidArgumentError

_PREFIX = "arg:"
_LONGEST = 1_000


def argument_scope(name: str, where: Mapping[str, object]) -> str:
    """Name the jobs of a handler that have some arguments: `arg:["mail",{"tenant":"acme"}]`.

    Args:
        name: the handler.
        where: what each of these arguments is equal to, as JSON.

    Raises:
        InvalidArgumentError: if there is no argument, or JSON cannot carry one.
    """
    if not where or not all(isinstance(key, str) for key in cast("Mapping[object, object]", where)):
        msg = f"where is {where!a:.80}: expected arguments by name, such as {{'tenant': 'acme'}}"
        raise InvalidArgumentError(msg)
    try:
        text = json.dumps([name, where], sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        msg = f"where cannot be written as JSON: expected texts, numbers, booleans or None: {error}"
        raise InvalidArgumentError(msg) from error
    if len(text) > _LONGEST:
        msg = f"where is {len(text)} characters as JSON: expected at most {_LONGEST}"
        raise InvalidArgumentError(msg)
    return _PREFIX + text


def struck_by(scopes: Sequence[str], name: str | None, payload: bytes) -> str | None:
    """Return the first scope that a job falls under; None if it may run.

    Args:
        scopes: what is stopped by arguments; what is not spelled as one stops nothing.
        name: the job's handler.
        payload: its arguments, a JSON object by name; any other payload falls under none.
    """
    wanted = [(scope, read) for scope in scopes if (read := _read(scope)) and read[0] == name]
    if not wanted:
        return None
    arguments = _object(payload)
    for scope, (_, where) in wanted:
        if arguments is not None and all(
            key in arguments and _same(arguments[key], value) for key, value in where.items()
        ):
            return scope
    return None


def _read(scope: str) -> tuple[str, dict[str, Any]] | None:
    if not scope.startswith(_PREFIX):
        return None
    try:
        read = json.loads(scope.removeprefix(_PREFIX))
    except ValueError:
        return None
    if not isinstance(read, list) or len(pair := cast("list[Any]", read)) != 2:  # noqa: PLR2004 - a pair
        return None
    name, where = pair
    if not isinstance(name, str) or not isinstance(where, dict) or not where:
        return None
    return name, cast("dict[str, Any]", where)


def _object(payload: bytes) -> dict[str, Any] | None:
    try:
        read: Any = json.loads(payload)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", read) if isinstance(read, dict) else None


def _same(one: object, other: object) -> bool:
    # In JSON true is not 1, as it is in Python.
    return one == other and isinstance(one, bool) == isinstance(other, bool)
