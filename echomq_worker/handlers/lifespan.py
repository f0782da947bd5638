"""What an application opens before its handlers run, and closes after them."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from inspect import isasyncgenfunction, iscoroutinefunction
from typing import Any, TypeVar, cast

from echomq_worker.errors import HandlerError

S = TypeVar("S")

Lifespan = Callable[[], AbstractAsyncContextManager[S]]
"""Makes the context manager of one start and stop; what it yields is the state."""

LifespanFunction = Callable[[], AsyncIterator[S]] | Lifespan[S]
"""What may be declared: an async generator function that yields once, or a `Lifespan`."""


def lifespan_of(function: LifespanFunction[S]) -> Lifespan[S]:
    """Make a lifespan of what was declared.

    Raises:
        HandlerError: if it is neither an async generator function nor a function that returns an
            async context manager.
    """
    if isasyncgenfunction(function):
        return asynccontextmanager(cast("Callable[[], AsyncGenerator[S]]", function))
    if callable(function) and not iscoroutinefunction(function):
        return cast("Lifespan[S]", function)
    msg = (
        f"{function!r} cannot be a lifespan: expected an async function that yields the state "
        f"once, or a function that returns an async context manager"
    )
    raise HandlerError(msg)


def no_lifespan() -> AbstractAsyncContextManager[Any]:
    """Return the context manager of an application that declares no lifespan: state None."""
    return nullcontext()
