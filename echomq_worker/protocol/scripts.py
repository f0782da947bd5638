"""Loads the Lua scripts: one file a state change, operands named in its header.

A script starts with what it does, then says `--! keys …`, `--! args …`, `--! rest …` (a tail of any
length, whose first index gets that name) and `--! include …` for snippets of `lua/lib/`. A snippet
says `--! needs …` for the operands it uses, so that a script that forgets one does not load.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_DIRECTIVE = re.compile(r"^--! (keys|args|rest|include|needs)\b[ ]*(.*)$", re.MULTILINE)
_LUA = files("echomq_worker") / "lua"

Operand = str | bytes | int


@dataclass(frozen=True, slots=True)
class Script:
    """A script as it is sent, and the operands that it takes."""

    name: str
    keys: tuple[str, ...]
    args: tuple[str, ...]
    rest: str | None
    source: str
    sha: str

    def bind(self, keys: Mapping[str, str]) -> "BoundScript":
        """Fix the keys, given by name. Raises `TypeError` if they are not the script's."""
        if set(keys) != set(self.keys):
            msg = f"{self.name}.lua takes the keys {self.keys}, got {tuple(keys)}"
            raise TypeError(msg)
        return BoundScript(self, tuple(keys[name] for name in self.keys))


@dataclass(frozen=True, slots=True)
class BoundScript:
    """A script with its keys in place."""

    script: Script
    keys: tuple[str, ...]

    def operands(self, args: Mapping[str, Operand], rest: Sequence[Operand] = ()) -> list[Operand]:
        """Return what follows the hash (or the source): count of keys, keys and arguments.

        Raises:
            TypeError: if the names are not those of the script's header.
        """
        script = self.script
        if len(args) != len(script.args) or (rest and script.rest is None):
            msg = f"{script.name}.lua takes {script.args} and {script.rest}, got {tuple(args)}"
            raise TypeError(msg)
        try:
            named = [args[name] for name in script.args]
        except KeyError as missing:
            msg = f"{script.name}.lua takes {script.args}: {missing} is not given"
            raise TypeError(msg) from None
        return [len(self.keys), *self.keys, *named, *rest]


def script_names() -> list[str]:
    """Return the names of all scripts, in order."""
    return sorted(
        entry.name.removesuffix(".lua") for entry in _LUA.iterdir() if entry.name.endswith(".lua")
    )


@cache
def script(name: str) -> Script:
    """Load `lua/<name>.lua`, flatten its snippets and turn its header into local names.

    Raises:
        ValueError: if a snippet needs an operand that the script does not take.
    """
    body = _read(f"{name}.lua")
    header = _header(body)
    keys, args = header.get("keys", ()), header.get("args", ())
    rest = header.get("rest", (None,))[0]
    given = {*keys, *args, *((rest,) if rest else ())}
    snippets: list[str] = []
    for snippet, text in _includes(header.get("include", ())):
        if missing := set(_header(text).get("needs", ())) - given:
            msg = f"{name}.lua includes {snippet}.lua, which needs {', '.join(sorted(missing))}"
            raise ValueError(msg)
        snippets.append(text)
    lines = [
        *(f"local {key} = KEYS[{i}]" for i, key in enumerate(keys, 1)),
        *(f"local {arg} = ARGV[{i}]" for i, arg in enumerate(args, 1)),
        *([f"local {rest} = {len(args) + 1}"] if rest else []),
        *snippets,
        body,
    ]
    source = "\n".join(_without_comments(lines))
    sha = hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest()
    return Script(name, keys, args, rest, source, sha)


def _includes(names: Sequence[str], seen: set[str] | None = None) -> Iterator[tuple[str, str]]:
    seen = set() if seen is None else seen
    for name in names:
        if name not in seen:
            seen.add(name)
            text = _read(f"lib/{name}.lua")
            yield from _includes(_header(text).get("include", ()), seen)
            yield name, text


def _header(text: str) -> dict[str, tuple[str, ...]]:
    return {kind: tuple(names.split()) for kind, names in _DIRECTIVE.findall(text)}


def _without_comments(parts: list[str]) -> Iterator[str]:
    for part in parts:
        for line in part.splitlines():
            if line.strip() and not line.lstrip().startswith("--"):
                yield line


def _read(path: str) -> str:
    return (_LUA / path).read_text(encoding="utf-8")
