"""A handler: a function, and all that is known about the jobs it runs."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from echomq_worker.domain.limits import HANDLER_NAME
from echomq_worker.errors import ArgumentsError, HandlerError
from echomq_worker.handlers.arguments import Arguments, NamedArguments, RawArguments, told
from echomq_worker.handlers.batches import BatchCall, one_of_many
from echomq_worker.handlers.context import JobContext
from echomq_worker.handlers.options import HandlerOptions
from echomq_worker.handlers.results import Results
from echomq_worker.handlers.signature import Signature, read_signature

_NAME = re.compile(rf"[!-~]{{1,{HANDLER_NAME}}}", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Handler:
    """A registered function. Made by `named_handler` and `raw_handler`."""

    name: str | None
    """What jobs call it by; None for a queue's raw handler."""
    queue: str
    """Where its jobs go unless told otherwise; for a raw handler, whose jobs it runs."""
    function: Callable[..., Any]
    is_async: bool
    options: HandlerOptions
    arguments: Arguments
    results: Results
    context_names: tuple[str, ...] = ()
    state_names: tuple[str, ...] = ()
    state_types: tuple[Any, ...] = ()
    together: BatchCall | None = None
    """Makes one call of many, for a handler that takes batches."""
    unwrap: Callable[[bytes], bytes] | None = None
    """Finds the arguments in the payload of another runtime."""

    @property
    def label(self) -> str:
        """How messages name it."""
        return self.name or f"the raw handler of queue {self.queue}"

    def bind(self, payload: bytes, context: JobContext, state: object | None) -> Callable[[], Any]:
        """Make the call that runs a job.

        Args:
            payload: the job's payload, as claimed.
            context: this run.
            state: what the application's lifespan has yielded; None without one.

        Returns:
            The function with all its arguments: to be called, and awaited if `is_async`.

        Raises:
            ArgumentsError: if the payload does not fit the handler.
        """
        values = self.arguments.decode(payload if self.unwrap is None else self._inner(payload))
        for name in self.context_names:
            values[name] = context
        for name in self.state_names:
            values[name] = state
        return partial(self.function, **values)

    def encode_arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bytes:
        """Check arguments and make the payload that carries them. Raises `ArgumentsError`."""
        return self.arguments.encode(args, kwargs)

    def encode_result(self, value: object) -> bytes:
        """Make the JSON that keeps a result. Raises `ResultError`."""
        return self.results.encode(value)

    def decode_result(self, text: bytes) -> Any:  # noqa: ANN401
        """Read a kept result as what the handler is declared to return. Raises `ResultError`."""
        return self.results.decode(text)

    def unwrapping(self, unwrap: Callable[[bytes], bytes]) -> "Handler":
        """Return this handler for payloads whose arguments `unwrap` finds."""
        return replace(self, unwrap=unwrap)

    def _inner(self, payload: bytes) -> bytes:
        assert self.unwrap is not None  # noqa: S101 - asked by bind
        try:
            return self.unwrap(payload)
        except Exception as error:
            msg = f"{self.label}: no arguments found in the payload: {told(error)}"
            raise ArgumentsError(msg) from error


def named_handler(
    function: Callable[..., Any], *, name: str, queue: str, options: HandlerOptions
) -> Handler:
    """Make the handler of all jobs of one name.

    Raises:
        HandlerError: if the name or the function cannot be used.
    """
    check_handler_name(name)
    signature = read_signature(function, name)
    if options.batch is None:
        arguments = NamedArguments(name, signature)
        return _handler(function, name, queue, options, signature, arguments)
    member, items = one_of_many(signature, name)
    handler = _handler(function, name, queue, options, member, NamedArguments(name, member))
    return replace(handler, together=BatchCall(function, items))


def check_handler_name(name: str) -> str:
    """Return `name` if it may name a handler; raise `HandlerError` otherwise."""
    if isinstance(name, str) and _NAME.fullmatch(name):  # pyright: ignore[reportUnnecessaryIsInstance]
        return name
    msg = (
        f"{name!r} cannot name a handler: expected 1 to {HANDLER_NAME} visible ASCII characters "
        f'without spaces, as in @app.job("email.send")'
    )
    raise HandlerError(msg)


def raw_handler(function: Callable[..., Any], *, queue: str, options: HandlerOptions) -> Handler:
    """Make the handler of the jobs of a queue that have no name; it receives their bytes.

    Raises:
        HandlerError: if the function does not take one `bytes`.
    """
    label = f"the raw handler of queue {queue}"
    signature = read_signature(function, label)
    match signature.arguments:
        case (only,) if only.annotation in (bytes, Any):
            arguments = RawArguments(label, only.name)
        case _:
            msg = f"{label} must take one argument, the payload, annotated with bytes"
            raise HandlerError(msg)
    return _handler(function, None, queue, options, signature, arguments)


def _handler(  # noqa: PLR0913, PLR0917 - the two ways to make one meet here
    function: Callable[..., Any],
    name: str | None,
    queue: str,
    options: HandlerOptions,
    signature: Signature,
    arguments: Arguments,
) -> Handler:
    label = name or f"the raw handler of queue {queue}"
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        msg = f"{label} is a generator function: expected a function that returns its result"
        raise HandlerError(msg)
    results = Results(label, signature.returns)
    if options.keep_result_ms:
        results.check()
    return Handler(
        name=name,
        queue=queue,
        function=function,
        is_async=inspect.iscoroutinefunction(function),
        options=options,
        arguments=arguments,
        results=results,
        context_names=signature.context_names,
        state_names=signature.state_names,
        state_types=signature.state_types,
    )
