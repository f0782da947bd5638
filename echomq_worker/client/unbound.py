"""Calls of handlers that are not at hand: by name, or as the bytes that another runtime reads."""

from collections.abc import Mapping
from typing import Any, cast

from echomq_worker.client.call import (
    TIMED_OPTIONS,
    Call,
    CallOptions,
    TimedOptions,
    check_options,
    placed,
    send_options,
)
from echomq_worker.errors import ArgumentsError, InvalidArgumentError
from echomq_worker.handlers import Registry
from echomq_worker.handlers.arguments import encode_json, told
from echomq_worker.handlers.handler import check_handler_name
from echomq_worker.handlers.numbers import check_numbers
from echomq_worker.handlers.results import ANY_RESULT


def call_by_name(
    registry: Registry,
    default_queue: str,
    name: str,
    arguments: Mapping[str, Any],
    options: TimedOptions,
) -> Call[Any]:
    """Make the call of a handler that may be registered here, or only where workers run.

    Raises:
        ArgumentsError: if the arguments do not fit the handler, as far as it is known here.
        HandlerError: if the name cannot be a handler's.
        InvalidArgumentError: if an option cannot be used.
    """
    decided = send_options(**_without_time(options))
    check_named(name, arguments)
    if name in registry.names():
        handler = registry.named(name)
        queue, results = handler.queue, handler.results
        payload = handler.encode_arguments((), arguments)
        decided = placed(handler, decided, (), arguments)
        limit_key = handler.options.wanted.limit_key_for(name, (), arguments)
        unique = decided.unique or handler.options.wanted.unique_for(name, (), arguments)
    else:
        queue, results = default_queue, ANY_RESULT
        payload = _payload(check_handler_name(name), arguments)
        limit_key, unique = None, decided.unique
    call: Call[Any] = Call(
        queue=decided.queue or queue,
        name=name,
        payload=payload,
        results=results,
        options=decided,
        limit_key=limit_key,
        unique=unique,
    )
    return _timed(call, options)


def raw_call(payload: bytes, default_queue: str, options: TimedOptions) -> Call[Any]:
    """Make a job without a handler's name, for whoever reads the bytes of its queue.

    Raises:
        InvalidArgumentError: if the payload or an option cannot be used.
    """
    if not isinstance(payload, bytes):  # pyright: ignore[reportUnnecessaryIsInstance]
        msg = f"a raw payload is {type(payload).__qualname__}: expected bytes"
        raise InvalidArgumentError(msg)
    decided = send_options(**_without_time(options))
    call: Call[Any] = Call(
        queue=decided.queue or default_queue,
        name=None,
        payload=payload,
        results=ANY_RESULT,
        options=decided,
        unique=decided.unique,
    )
    return _timed(call, options)


def check_named(name: str, arguments: object) -> Mapping[str, Any]:
    """Return arguments that are named by text; raise `ArgumentsError` for all else.

    Args:
        name: the handler's, for the message.
        arguments: what was given.
    """
    if isinstance(arguments, Mapping) and all(
        isinstance(key, str) for key in cast("Mapping[object, object]", arguments)
    ):
        return cast("Mapping[str, Any]", arguments)
    msg = f"{name}: arguments are named by text: expected a mapping such as {{'to': 'a@b.c'}}"
    raise ArgumentsError(msg)


def _payload(name: str, arguments: Mapping[str, Any]) -> bytes:
    try:
        payload = encode_json(dict(arguments))
    except Exception as error:
        msg = f"{name}: the arguments cannot be written as JSON: {told(error)}"
        raise ArgumentsError(msg) from error
    check_numbers(name, arguments, payload)
    return payload


def _without_time(options: TimedOptions) -> CallOptions:
    check_options(options, TIMED_OPTIONS)
    rest = options.copy()
    rest.pop("delay", None)
    rest.pop("at", None)
    return cast("CallOptions", rest)


def _timed(call: Call[Any], options: TimedOptions) -> Call[Any]:
    delay, at = options.get("delay"), options.get("at")
    if delay is not None and at is not None:
        msg = "both delay= and at= are given: expected one of them"
        raise InvalidArgumentError(msg)
    if delay is not None:
        return call.after(delay)
    return call if at is None else call.at(at)
