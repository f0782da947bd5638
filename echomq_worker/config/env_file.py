"""Files of `NAME=value` lines."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from echomq_worker.errors import InvalidArgumentError

LARGEST_FILE = 1 << 20

_LINE = re.compile(r"(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*(.*)", re.DOTALL)
_DOUBLE_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"[ \t]*(?:#.*)?')
_SINGLE_QUOTED = re.compile(r"'([^']*)'[ \t]*(?:#.*)?")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "$": "$"}


@dataclass(frozen=True, slots=True)
class Line:
    """One assignment."""

    number: int
    """The line's number in its file, from 1."""
    name: str
    value: str


def read_env_file(path: Path) -> list[Line]:
    """Read a file of settings.

    Each line is `NAME=value`, empty, or a comment that begins with `#`; `export` may stand in
    front. A value may be quoted: single quotes take it as it is, double quotes understand
    backslashes. Nothing is substituted.

    Raises:
        InvalidArgumentError: if the file cannot be read or a line is something else. The text
            names the line and repeats nothing of it.
    """
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            msg = f"{path} is larger than 1MiB: expected a file of NAME=value lines"
            raise InvalidArgumentError(msg)
        return list(_lines(path, content.decode("utf-8-sig")))
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror or type(error).__name__}"
        raise InvalidArgumentError(msg) from None
    except UnicodeDecodeError:
        msg = f"{path} is not UTF-8 text: expected a file of NAME=value lines"
        raise InvalidArgumentError(msg) from None


def _lines(path: Path, content: str) -> Iterator[Line]:
    for number, raw in enumerate(content.split("\n"), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        value = _value(match[2]) if match else None
        if match is None or value is None:
            msg = f"{path} line {number}: expected NAME=value, a comment or an empty line"
            raise InvalidArgumentError(msg)
        yield Line(number, match[1], value)


def _value(text: str) -> str | None:
    if text.startswith('"'):
        match = _DOUBLE_QUOTED.fullmatch(text)
        return match and re.sub(r"\\(.)", _unescaped, match[1])
    if text.startswith("'"):
        match = _SINGLE_QUOTED.fullmatch(text)
        return match and match[1]
    return re.sub(r"(^|[ \t]+)#.*", "", text)


def _unescaped(match: re.Match[str]) -> str:
    return _ESCAPES.get(match[1], match[0])
