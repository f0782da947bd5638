"""Where the text of a setting comes from: flag, environment, secret file, env file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from echomq_worker.config.declare import Declaration
from echomq_worker.config.env_file import Line, read_env_file
from echomq_worker.errors import InvalidArgumentError

LARGEST_SECRET = 64 << 10


@dataclass(frozen=True, slots=True)
class Source:
    """Where a value came from, for `config show --sources` and for errors."""

    kind: str
    """flag, env, file, env file, derived or default; or the call or argument that gave it."""
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.detail}".rstrip()


DEFAULT = Source("default")
DERIVED = Source("derived")


def decided_in_code(attribute: str) -> Source:
    """Return the source of what an application says when it is made."""
    return Source(f"EchoMQ({attribute}=...)")


@dataclass(frozen=True, slots=True)
class Given:
    """A text that somebody gave for a setting."""

    text: str
    source: Source


class Sources:
    """All places to look at, the strongest first. An empty text counts as not given.

    Args:
        environ: the process environment.
        flags: command-line values by attribute of `Settings`; None was not given.
        env_files: a later file wins over an earlier one.
        origins: by attribute, where a value among the flags came from, if from no flag.

    Raises:
        InvalidArgumentError: if an env file cannot be read.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        flags: Mapping[str, str | None],
        env_files: Sequence[Path],
        origins: Mapping[str, Source],
    ) -> None:
        self._origins = origins
        self._environ = environ
        self._flags = flags
        self._lines: dict[str, tuple[Path, Line]] = {}
        for path in env_files:
            for line in read_env_file(path):
                self._lines[line.name] = (path, line)

    @property
    def names(self) -> set[str]:
        """Every variable of the environment and the env files that has a value."""
        lines = {name for name, (_, line) in self._lines.items() if line.value}
        return {name for name, value in self._environ.items() if value} | lines

    def find(self, attribute: str, declaration: Declaration) -> Given | None:
        """Return what was given for a setting; None if nothing was.

        Raises:
            InvalidArgumentError: if both the variable and its `_FILE` twin are set, or the
                file cannot be read.
        """
        if flag := self._flags.get(attribute):
            return Given(flag, self._origins.get(attribute) or Source("flag", declaration.flag))
        return (
            self._from(self._in_environ, declaration)
            or self._from(self._in_lines, declaration)
            or (declaration.fallback and self._fallback(declaration.fallback))
            or None
        )

    def _from(self, place: Callable[[str], Given | None], declaration: Declaration) -> Given | None:
        value = place(declaration.variable)
        if not declaration.secret:
            return value
        name = f"{declaration.variable}_FILE"
        file = place(name)
        if value and file:
            msg = f"both it and {name} are set: expected one of them"
            raise InvalidArgumentError(msg)
        return Given(_secret(name, file.text), Source("file", file.text)) if file else value

    def _fallback(self, name: str) -> Given | None:
        given = self._in_environ(name)
        return Given(given.text, Source("env", name)) if given else self._in_lines(name)

    def _in_environ(self, name: str) -> Given | None:
        text = self._environ.get(name)
        return Given(text, Source("env")) if text else None

    def _in_lines(self, name: str) -> Given | None:
        path, line = self._lines.get(name, (None, None))
        if line is None or not line.value:
            return None
        return Given(line.value, Source("env file", f"{path}:{line.number}"))


def _secret(name: str, path: str) -> str:
    try:
        with Path(path).open("rb") as file:
            content = file.read(LARGEST_SECRET + 1)
        text = content.decode()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        msg = f"{name} names {path}, which cannot be read as UTF-8 text: {reason}"
        raise InvalidArgumentError(msg) from None
    if len(content) > LARGEST_SECRET:
        msg = f"{name} names {path}, which is larger than 64KiB: expected a file with one secret"
        raise InvalidArgumentError(msg)
    text = text.removesuffix("\n").removesuffix("\r")
    if not text:
        msg = f"{name} names {path}, which is empty: expected a file with one secret"
        raise InvalidArgumentError(msg)
    return text
