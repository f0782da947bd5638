"""Every Lua file says what it does, what it takes and what it replies."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER = "echomq_worker/lua"
SCRIPT_SAYS = ("keys", "args", "rest", "include")
SNIPPET_SAYS = ("needs", "include")
_DIRECTIVE = re.compile(r"--! (\w+)((?: \w+)*)")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_BY_NUMBER = re.compile(r"\bKEYS\b|\bARGV\[\d+\]")
_LUA_WORDS = frozenset(
    {
        *("and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in"),
        *("local", "nil", "not", "or", "repeat", "return", "then", "true", "until", "while"),
    }
)


@dataclass(frozen=True, slots=True)
class LuaFile:
    """A Lua file, taken apart."""

    path: str
    header: Sequence[str]
    """The comment lines that it begins with."""
    body: Sequence[str]

    @classmethod
    def read(cls, path: str, text: str) -> "LuaFile":
        """Take a text apart."""
        lines = text.splitlines()
        size = next((i for i, line in enumerate(lines) if not line.startswith("--")), len(lines))
        return cls(path, lines[:size], lines[size:])

    def directives(self) -> list[tuple[str, list[str]]]:
        """Return what the header says to the loader, in order."""
        found = (_DIRECTIVE.fullmatch(line) for line in self.header)
        return [(match[1], match[2].split()) for match in found if match]

    def names(self, *kinds: str) -> list[str]:
        """Return all names that directives of some kinds list."""
        return [name for kind, names in self.directives() if kind in kinds for name in names]


def lua_headers(root: Path) -> list[str]:
    """Return what is missing from, or wrong in, the headers of the Lua files."""
    folder = root / FOLDER
    scripts = _read(folder, "*.lua")
    snippets = _read(folder, "lib/*.lua")
    if not scripts:
        return [f"no script in {FOLDER}"]
    known = {Path(file.path).stem for file in snippets}
    used = {name for file in [*scripts, *snippets] for name in file.names("include")}
    problems = [
        *(p for file in scripts for p in (*_common(file, SCRIPT_SAYS, known), *_script(file))),
        *(p for file in snippets for p in _common(file, SNIPPET_SAYS, known)),
        *(f"lib/{name}.lua: no script includes it" for name in sorted(known - used)),
        *_clocks([*scripts, *snippets]),
    ]
    return [f"{FOLDER}/{problem}" for problem in problems]


def _read(folder: Path, pattern: str) -> list[LuaFile]:
    return [
        LuaFile.read(path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8"))
        for path in sorted(folder.glob(pattern))
    ]


def _common(file: LuaFile, may_say: Sequence[str], known: set[str]) -> Iterator[str]:
    if not file.header or not re.match(r"-- [A-Z]", file.header[0]):
        yield f"{file.path}:1: expected a comment that says what it does"
    for number, line in enumerate(file.header, 1):
        said = _DIRECTIVE.fullmatch(line)
        if line.startswith("--!") and (said is None or said[1] not in may_say):
            yield f"{file.path}:{number}: expected --! and one of {', '.join(may_say)}: {line}"
    for number, line in enumerate(file.body, len(file.header) + 1):
        if line.startswith("--!"):
            yield f"{file.path}:{number}: a directive stands in the header, not below it"
    for name in file.names("include"):
        if name not in known:
            yield f"{file.path}: includes {name}, but there is no lib/{name}.lua"


def _script(file: LuaFile) -> Iterator[str]:
    operands = file.names("keys", "args", "rest")
    for name in operands:
        if not _NAME.fullmatch(name) or name in _LUA_WORDS:
            yield f"{file.path}: {name} cannot name an operand"
        if operands.count(name) > 1:
            yield f"{file.path}: {name} names two operands"
    if not file.names("keys"):
        yield f"{file.path}: names no keys: expected --! keys NAME..."
    if not any(re.search(r"\b[Rr]epl(?:y|ies)\b", line) for line in file.header):
        yield f"{file.path}: the header does not say what it replies"
    for number, line in enumerate(file.body, len(file.header) + 1):
        if _BY_NUMBER.search(line):
            yield f"{file.path}:{number}: takes an operand by number: give it a name"


def _clocks(files: Sequence[LuaFile]) -> Iterator[str]:
    """Time is read once a script, so only one snippet may ask for it."""
    asking: Mapping[str, int] = {
        file.path: number
        for file in files
        for number, line in enumerate(file.body, len(file.header) + 1)
        if re.search(r"""['"]TIME['"]""", line)
    }
    if len(asking) > 1:
        for path, number in asking.items():
            if path != "lib/time.lua":
                yield f"{path}:{number}: reads the clock: include time and use `now`"
