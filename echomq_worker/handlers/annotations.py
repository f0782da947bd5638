"""Which annotations JSON can carry, and what to say about the others."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import inspect as described

from echomq_worker.errors import HandlerError

_ITERABLES = "collections.abc"


def check_annotation(annotation: Any, where: str) -> None:  # noqa: ANN401
    """Check that values of an annotation survive the way through JSON.

    Args:
        annotation: a type expression.
        where: how messages name its place.

    Raises:
        HandlerError: if they do not.
    """
    try:
        shape = described.type_info(annotation)
        msgspec.json.Decoder(annotation)
    except (TypeError, NameError, RecursionError) as error:
        msg = f"{where}: this annotation cannot be read from JSON: {error}"
        raise HandlerError(msg) from error
    for cls in _foreign_classes(shape, set()):
        msg = f"{where}: JSON cannot carry {_name(cls)}: {_hint(cls)}"
        raise HandlerError(msg)


def _foreign_classes(shape: object, seen: set[int]) -> Iterator[type]:
    if id(shape) in seen:
        return
    seen.add(id(shape))
    if isinstance(shape, described.CustomType):
        yield shape.cls
    elif isinstance(shape, tuple):
        for part in shape:  # pyright: ignore[reportUnknownVariableType]
            yield from _foreign_classes(part, seen)  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(shape, described.Type | described.Field):
        for field in shape.__struct_fields__:
            yield from _foreign_classes(getattr(shape, field), seen)


def _name(cls: type) -> str:
    return (
        cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"
    )


def _hint(cls: type) -> str:
    if cls is object:
        return "annotate with Any to accept any JSON value"
    if cls.__module__ == _ITERABLES:
        return "use list, tuple, set, dict, Sequence or Mapping"
    if hasattr(cls, "model_fields"):
        return "take a dict and validate it in the handler, or use a dataclass or msgspec.Struct"
    return (
        "use a dataclass, a msgspec.Struct, or plain types, and make the rest in the handler; "
        "what the application's lifespan yields comes by State[...]"
    )
