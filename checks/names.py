"""The public names and their signatures, frozen in a file, so that a change is a decision."""

import difflib
import enum
import importlib
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import (
    Any,
    NewType,
    TypeVar,
    Unpack,
    get_args,
    get_origin,
    get_overloads,
    get_type_hints,
)

PUBLIC = ("echomq_worker", "echomq_worker.errors", "echomq_worker.testing")
"""The modules that users import from. Everything else may change without notice."""
FROZEN = "checks/public_names.txt"
_FIRST_LINES = (
    "# What users may import, with signatures: compared by `python -m checks names`,",
    "# renewed by `python -m checks --write names` when a change is wanted.",
)
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_MODULE = re.compile(r"\b(?:[a-z_]\w*\.)+(?=[A-Za-z_])")
"""Where a type is defined is no business of users, as long as they can import it by its name."""


def names(root: Path) -> list[str]:
    """Return how the public names differ from the frozen ones."""
    return differences(root / FROZEN, public_names(PUBLIC))


def write_names(root: Path) -> list[str]:
    """Freeze the public names as they are."""
    (root / FROZEN).write_text("\n".join(public_names(PUBLIC)) + "\n", encoding="utf-8")
    return []


def differences(frozen: Path, found: Sequence[str]) -> list[str]:
    """Return what was added to (+) or is missing from (-) the frozen names."""
    if not frozen.exists():
        return [f"{frozen.name} is missing: run `python -m checks --write names`"]
    before = frozen.read_text(encoding="utf-8").splitlines()
    changed = difflib.unified_diff(before, found, n=0, lineterm="")
    return [line for line in changed if not line.startswith(("---", "+++", "@@"))]


def public_names(modules: Sequence[str]) -> list[str]:
    """Return a line for each public name of some modules, and for each member of a class.

    Public is what a module lists in `__all__`, or else what it defines without an underscore.
    """
    lines: list[str] = [*_FIRST_LINES]
    for name in modules:
        module = importlib.import_module(name)
        lines += ["", f"[{name}]"]
        for public in sorted(_exported(module)):
            lines += _described(public, getattr(module, public))
    return lines


def _exported(module: ModuleType) -> Sequence[str]:
    listed: Sequence[str] | None = getattr(module, "__all__", None)
    if listed is not None:
        return listed
    return [
        name
        for name, thing in vars(module).items()
        if not name.startswith("_") and getattr(thing, "__module__", None) == module.__name__
    ]


def _described(name: str, thing: object) -> Iterator[str]:
    if isinstance(thing, type):
        bases = [base.__name__ for base in thing.__bases__ if base is not object]
        yield f"class {name}({', '.join(bases)})" if bases else f"class {name}"
        yield from (f"    {line}" for line in _members(thing))
    elif callable(thing) and not _is_alias(thing):
        yield from _signatures(name, thing)
    elif _is_alias(thing):
        yield f"{name} = {_short(repr(thing))}"
    else:
        yield f"{name}: {type(thing).__name__}"


def _is_alias(thing: object) -> bool:
    return get_origin(thing) is not None or isinstance(thing, TypeVar | NewType)


def _members(cls: type[Any]) -> Iterator[str]:
    if issubclass(cls, enum.Enum):
        yield from (f"{name} = {member.value!r}" for name, member in cls.__members__.items())
        return
    if _ours(cls, "__init__"):
        yield from _signatures("__init__", cls)
    for name in sorted(name for name in dir(cls) if not name.startswith("_") and _ours(cls, name)):
        member: object = inspect.getattr_static(cls, name)
        if isinstance(member, property):
            returned = inspect.signature(member.fget).return_annotation if member.fget else Any
            yield f"{name} -> {_short(inspect.formatannotation(returned))}"
        elif callable(unbound := getattr(cls, name)):
            yield from _signatures(name, unbound)
        else:
            yield name


def _ours(cls: type[Any], name: str) -> bool:
    """Return True if a member comes from our own code, not from Python's or a library's."""
    owner = next((base for base in cls.__mro__ if name in vars(base)), None)
    return (
        owner is not None and owner.__module__.partition(".")[0] == cls.__module__.partition(".")[0]
    )


def _signatures(name: str, function: Any) -> Iterator[str]:  # noqa: ANN401 - any callable
    name = f"async {name}" if inspect.iscoroutinefunction(function) else name
    for each in get_overloads(function) if inspect.isroutine(function) else ():
        yield f"{name}{_signature(each)}  # overload"
    yield f"{name}{_signature(function)}"


def _signature(function: Any) -> str:  # noqa: ANN401 - any callable
    try:
        found = inspect.signature(function)
    except ValueError:
        return "(...)"
    parameters = [_spelled_out(parameter) for parameter in found.parameters.values()]
    return _short(str(found.replace(parameters=parameters)))


def _spelled_out(parameter: inspect.Parameter) -> inspect.Parameter:
    """Name the keywords that stand behind an unpacked TypedDict: users depend on them."""
    if get_origin(parameter.annotation) is not Unpack:
        return parameter
    options = get_type_hints(get_args(parameter.annotation)[0])
    return parameter.replace(annotation=Options(options))


class Options:
    """The keywords of an unpacked TypedDict, as they are written down."""

    def __init__(self, options: Mapping[str, object]) -> None:
        self._options = options

    def __repr__(self) -> str:
        shown = (
            f"{name}: {inspect.formatannotation(kind)}"
            for name, kind in sorted(self._options.items())
        )
        return f"{{{', '.join(shown)}}}"


def _short(text: str) -> str:
    return _MODULE.sub("", _ADDRESS.sub("", text))
