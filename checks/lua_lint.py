"""Lint the Lua scripts as they are sent: operands and snippets in place."""

import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from checks.tools import run_tool

INSTALL = "apt-get install lua-check"
FOLDER = "echomq_worker/lua"
HEADER = "the header"
_WARNING = re.compile(r".*?(?P<script>[\w-]+)\.lua:(?P<line>\d+):\d+: (?P<text>.*)")
_UNUSED = re.compile(r"\((?:W211|W221)\)")

Part = Sequence[tuple[int, str]]
"""The lines of a file that the loader sends: number and text."""


class Warned(NamedTuple):
    """One warning of luacheck, at the line that somebody wrote."""

    where: str
    text: str


def lua_lint(root: Path) -> list[str]:
    """Return what luacheck finds in the scripts of the package."""
    from echomq_worker.protocol.scripts import script, script_names  # noqa: PLC0415

    return lint(root, {name: script(name).source for name in script_names()})


def lint(root: Path, flattened: Mapping[str, str]) -> list[str]:
    """Return what luacheck finds in flattened scripts whose parts are files of the project."""
    with tempfile.TemporaryDirectory() as folder:
        for name, source in flattened.items():
            Path(folder, f"{name}.lua").write_text(source, encoding="utf-8")
        options = ("--config", str(root / ".luacheckrc"), "--formatter", "plain", "--codes")
        said = run_tool(root, "luacheck", *options, folder, install=INSTALL)
    parts = _parts(root / FOLDER)
    origins = {name: list(_origins(name, source, parts)) for name, source in flattened.items()}
    found = [_WARNING.fullmatch(line) for line in said]
    if not all(found):
        return said
    warned = (
        Warned(origins[warning["script"]][int(warning["line"]) - 1], warning["text"])
        for warning in found
        if warning
    )
    return sorted(_worth_a_word(warned, origins))


def _worth_a_word(warned: Iterable[Warned], origins: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Leave out what a snippet defines for some of the scripts that include it."""
    included = Counter(where for lines in origins.values() for where in set(lines))
    for warning, times in Counter(warned).items():
        shared = warning.where.startswith("lib/") and _UNUSED.search(warning.text)
        if not (shared and times < included[warning.where]):
            yield f"{FOLDER}/{warning.where}: {warning.text}"


def _origins(name: str, source: str, parts: Mapping[str, Part]) -> Iterator[str]:
    """Yield where each line of a flattened script was written."""
    lines = source.splitlines()
    while lines:
        for path, part in parts.items():
            if part and lines[: len(part)] == [text for _, text in part]:
                yield from (f"{path}:{number}" for number, _ in part)
                lines = lines[len(part) :]
                break
        else:
            yield f"{name}.lua: {HEADER}"
            lines = lines[1:]


def _parts(folder: Path) -> dict[str, Part]:
    return {
        path.relative_to(folder).as_posix(): [
            (number, line)
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
            if line.strip() and not line.lstrip().startswith("--")
        ]
        for path in [*folder.glob("lib/*.lua"), *folder.glob("*.lua")]
    }
