"""How a setting is declared: once, in one place, with all that anybody needs to know of it."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

from echomq_worker.config.parsers import Parser
from echomq_worker.domain.redaction import HIDDEN
from echomq_worker.errors import InvalidArgumentError

T = TypeVar("T")

PREFIX = "ECHOMQ_"
DECLARATION = "setting"
"""Where a field of `Settings` keeps its declaration."""


class Group(StrEnum):
    """Headings under which settings are listed."""

    APP = "Application"
    SERVER = "Redis or Valkey"
    WORKER = "Worker"
    JOBS = "Jobs"
    STOP = "Shutdown"
    LOGS = "Logs"
    PROCESS = "Process"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """All that is known of a setting but its value."""

    name: str
    """In capitals, without the prefix: `SHUTDOWN_TIMEOUT`."""
    parser: Parser[Any]
    group: Group
    doc: str
    """One sentence."""
    secret: bool = False
    """Its value is never shown, and may come from the file that `<variable>_FILE` names."""
    default: str = ""
    """The default as it could be given; empty for none or for one that is worked out."""
    derived: str = ""
    """How the default is worked out from other settings, in words; empty if it is not."""
    fallback: str | None = None
    """A variable of another family that is read when this one is not set."""

    @property
    def variable(self) -> str:
        """The environment variable: `ECHOMQ_SHUTDOWN_TIMEOUT`."""
        return PREFIX + self.name

    @property
    def flag(self) -> str:
        """The command line's spelling: `--shutdown-timeout`."""
        return "--" + self.name.lower().replace("_", "-")

    def read(self, text: str) -> object:
        """Return the value of `text`; raise `InvalidArgumentError` with what was wrong."""
        try:
            return self.parser.read(text)
        except InvalidArgumentError as error:
            expected = f"expected {self.parser.expected}"
            reason = str(error) if self.parser.explains else expected
            msg = f"{reason}, got {self._quoted(text)}"
            raise InvalidArgumentError(msg) from None

    def show(self, value: object) -> str:
        """Write a value for people: a secret one is hidden, an absent one empty."""
        return "" if value is None or value == "" else self.parser.show(value)

    def _quoted(self, text: str) -> str:
        if self.secret:
            return f"a value of {len(text)} characters"
        shown = text if len(text) <= 80 else text[:80] + "..."  # noqa: PLR2004 - a screen's width
        return '"' + shown.encode("unicode_escape").decode("ascii") + '"'


def setting(  # noqa: PLR0913 - each is a column of the settings table
    name: str,
    parser: Parser[T],
    default: str,
    doc: str,
    *,
    group: Group,
    secret: bool = False,
    fallback: str | None = None,
) -> T:
    """Declare a setting whose default is the text `default`."""
    declaration = Declaration(
        name=name,
        parser=parser,
        group=group,
        doc=doc,
        default=default,
        secret=secret,
        fallback=fallback,
    )
    return _field(declaration, parser.read(default))


def derived(  # noqa: PLR0913 - each is a column of the settings table
    name: str, parser: Parser[T], unset: T, rule: str, doc: str, *, group: Group
) -> T:
    """Declare a setting whose default follows from others.

    Args:
        name: in capitals, without the prefix.
        parser: reads it.
        unset: what the field holds until `Settings` has worked the value out.
        rule: how it is worked out, in words.
        doc: one sentence.
        group: the heading that it stands under.
    """
    declaration = Declaration(name=name, parser=parser, group=group, doc=doc, derived=rule)
    return _field(declaration, unset)


def optional(
    name: str, parser: Parser[T], doc: str, *, group: Group, secret: bool = False
) -> T | None:
    """Declare a setting that may be absent, which is its default."""
    if secret:
        parser = Parser(parser.read, parser.expected, lambda _: HIDDEN)
    return _field(Declaration(name=name, parser=parser, group=group, doc=doc, secret=secret), None)


def _field(declaration: Declaration, default: T) -> T:
    return field(default=default, repr=not declaration.secret, metadata={DECLARATION: declaration})
