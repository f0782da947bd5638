"""What a handler's signature asks for: arguments from the producer, the rest from the worker."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from echomq_worker.errors import HandlerError
from echomq_worker.handlers.context import JobContext
from echomq_worker.handlers.injection import StateMarker

_KINDS_REFUSED = {
    Parameter.POSITIONAL_ONLY: "is positional-only",
    Parameter.VAR_POSITIONAL: "takes any number of positions",
    Parameter.VAR_KEYWORD: "takes any name",
}


@dataclass(frozen=True, slots=True)
class Argument:
    """A parameter that the producer fills."""

    name: str
    annotation: Any
    default: Any = Parameter.empty
    keyword_only: bool = False

    @property
    def required(self) -> bool:
        """True if there is no default."""
        return self.default is Parameter.empty


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a handler, sorted by who fills them."""

    arguments: tuple[Argument, ...]
    context_names: tuple[str, ...]
    """Parameters that receive the `JobContext`."""
    state_names: tuple[str, ...]
    """Parameters that receive what the application's lifespan yields."""
    state_types: tuple[Any, ...]
    """What these are annotated with."""
    returns: Any
    """The annotation of the result; `Any` if there is none."""


def read_signature(function: Callable[..., Any], label: str) -> Signature:
    """Sort the parameters of a handler.

    Args:
        function: the handler.
        label: how messages name it.

    Raises:
        HandlerError: if it is no function, a parameter cannot be filled by name, or an annotation
            does not resolve.
    """
    if not inspect.isroutine(function):
        msg = f"{label}: {function!r} cannot be a handler: expected a function"
        raise HandlerError(msg)
    hints = _resolve_hints(function, label)
    arguments: list[Argument] = []
    contexts: list[str] = []
    states: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        _check_kind(parameter, label)
        annotation = hints.get(parameter.name, Any)
        wanted = _without_none(annotation)
        if isinstance(wanted, type) and issubclass(wanted, JobContext):
            contexts.append(parameter.name)
        elif _is_state(wanted):
            states[parameter.name] = get_args(wanted)[0]
        else:
            keyword_only = parameter.kind is Parameter.KEYWORD_ONLY
            arguments.append(Argument(parameter.name, annotation, parameter.default, keyword_only))
    return Signature(
        tuple(arguments),
        tuple(contexts),
        tuple(states),
        tuple(states.values()),
        hints.get("return", Any),
    )


def _resolve_hints(function: Callable[..., Any], label: str) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except (NameError, AttributeError, TypeError) as error:
        msg = (
            f"{label}: an annotation cannot be resolved ({error}). Annotations are read when the "
            f"handler is registered: import their types at run time (not under TYPE_CHECKING) and "
            f"define them at the top of a module"
        )
        raise HandlerError(msg) from error


def _check_kind(parameter: Parameter, label: str) -> None:
    if reason := _KINDS_REFUSED.get(parameter.kind):
        msg = (
            f'{label}: parameter "{parameter.name}" {reason}, but arguments are stored by name: '
            f"declare each argument, or take one list or dict"
        )
        raise HandlerError(msg)


def _without_none(annotation: Any) -> Any:  # noqa: ANN401
    if get_origin(annotation) in (Union, UnionType):
        members = [member for member in get_args(annotation) if member is not NoneType]
        if len(members) == 1:
            return members[0]
    return annotation


def _is_state(annotation: Any) -> bool:  # noqa: ANN401
    return get_origin(annotation) is Annotated and any(
        isinstance(extra, StateMarker) for extra in get_args(annotation)[1:]
    )
