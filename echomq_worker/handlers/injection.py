"""What a handler receives from the worker rather than from the producer."""

from typing import Annotated, Any, NoReturn, TypeVar

T = TypeVar("T")


class StateMarker:
    """Stands in the annotation of a parameter that receives the application's state."""

    def __repr__(self) -> str:
        return "State"


State = Annotated[T, StateMarker()]
"""Annotation of the parameter that receives what the application's lifespan yields.

`pool: State[Pool] = INJECTED` receives it, and the worker refuses to start if the lifespan yields
something that is no `Pool`.
"""


class Injected:
    """Placeholder of a value that the worker fills in; using it says so."""

    def __getattr__(self, name: str) -> NoReturn:
        msg = (
            f"no {name!r} here: this parameter is filled in by the worker. Pass a value for it "
            f"when you call the function yourself, for instance in a test"
        )
        raise AttributeError(msg)

    def __repr__(self) -> str:
        return "INJECTED"


INJECTED: Any = Injected()
"""Default of a parameter that the worker fills in.

`async def send(to: str, *, context: JobContext = INJECTED) -> None`: the default tells type
checkers that a producer need not pass it.
"""
