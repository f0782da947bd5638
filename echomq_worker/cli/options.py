"""Options that commands share, and those that are made from the settings."""

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any, TypeVar

import click

from echomq_worker.cli.session import Session
from echomq_worker.config.declare import Declaration, Group
from echomq_worker.config.settings import declarations
from echomq_worker.domain.queue_name import check_queue_name

F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[Any], Any]

_SHORT = {"redis_url": "-u", "queues": "-q", "concurrency": "-c"}
_ARGUMENTS = frozenset({"app"})
"""Settings that commands take as an argument."""
_CLIENT = ("redis_url",)

json_option: Decorator = click.option(
    "--json", "as_json", is_flag=True, help="Write one JSON object a line."
)


def queue_option(*, default: str | None = "default", doc: str = "The queue.") -> Decorator:
    """Add `-q/--queue NAME`, checked, as the parameter `queue`."""
    return click.option(
        "-q",
        "--queue",
        metavar="NAME",
        default=default,
        show_default=default is not None,
        callback=_checked,
        help=doc,
    )


def with_session(function: F) -> F:
    """Add `--redis-url` and `--env-file`, and pass a `Session` as the first argument."""
    return _with_settings(function, _CLIENT)


def with_worker_session(*groups: Group) -> Decorator:
    """Add a flag for every setting of `groups` (all if none), and pass a `Session` first.

    Passwords have no flag: every user of the machine could read it in the list of processes.
    """
    wanted = groups or tuple(Group)
    attributes = [
        attribute
        for attribute, declaration in declarations().items()
        if declaration.group in wanted and attribute not in _ARGUMENTS and _may_be_flag(declaration)
    ]
    return lambda function: _with_settings(function, attributes)


def _may_be_flag(declaration: Declaration) -> bool:
    return not declaration.secret or declaration.fallback is not None


def _with_settings(function: F, attributes: Sequence[str]) -> F:
    @wraps(function)
    def call(*args: Any, **values: Any) -> Any:  # noqa: ANN401 - whatever the command takes
        flags = {attribute: _flag_text(values.pop(attribute)) for attribute in attributes}
        return function(Session(flags, values.pop("env_files")), *args, **values)

    options = [*_setting_options(attributes), _env_file_option()]
    for add in reversed(options):
        call = add(call)
    return call  # pyright: ignore[reportReturnType] - click calls it, with what it adds


def _setting_options(attributes: Iterable[str]) -> list[Decorator]:
    declared = declarations()
    return [_option(attribute, declared[attribute]) for attribute in attributes]


def _option(attribute: str, declaration: Declaration) -> Decorator:
    names = [_SHORT[attribute]] if attribute in _SHORT else []
    default = declaration.derived or declaration.default
    doc = f"{declaration.doc}  [{declaration.variable}{f'; {default}' if default else ''}]"
    if declaration.parser.switch:
        pair = f"{declaration.flag}/--no-{declaration.flag.removeprefix('--')}"
        return click.option(*names, pair, attribute, default=None, help=doc)
    return click.option(*names, declaration.flag, attribute, metavar="VALUE", help=doc)


def _env_file_option() -> Decorator:
    return click.option(
        "--env-file",
        "env_files",
        multiple=True,
        metavar="PATH",
        help="Read settings from a file of NAME=value lines as well; may be repeated.",
    )


def _flag_text(value: object) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)


def _checked(_context: click.Context, _parameter: click.Parameter, name: str | None) -> str | None:
    return None if name is None else check_queue_name(name)
