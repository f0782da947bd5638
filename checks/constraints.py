"""The pinned dependencies: exact, hashed, and bound to no host."""

import re
from collections.abc import Iterator
from pathlib import Path

from checks.files import project_files

FILES = re.compile(r"requirements/[\w.-]+\.txt")
_PINNED = re.compile(
    r"[A-Za-z0-9][\w.-]*(?:\[[\w.,-]+\])?==[^\s;]+(?:\s*;[^#]*?)?(?P<hashes>(?:\s+--hash=sha256:[0-9a-f]{64})*)"
)


def constraints(root: Path) -> list[str]:
    """Return what is wrong with the lists of pinned dependencies."""
    paths = [path for path in project_files(root) if FILES.fullmatch(path.as_posix())]
    if not paths:
        return ["no requirements/*.txt: run requirements/compile"]
    return [
        f"{path}:{problem}" for path in paths for problem in _problems((root / path).read_text())
    ]


def _problems(text: str) -> Iterator[str]:
    for number, line in _logical_lines(text):
        pinned = _PINNED.fullmatch(line)
        if "://" in line or " @ " in line or line.startswith("-"):
            yield f"{number}: names a host or an option: {line[:80]}"
        elif pinned is None:
            yield f"{number}: not pinned by ==: {line[:80]}"
        elif not pinned["hashes"]:
            yield f"{number}: has no hash: {line[:80]}"


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    start, parts = 0, list[str]()
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.split(" #")[0].strip()
        if line.startswith("#"):
            if "://" in line:
                yield number, line
            continue
        start = start if parts else number
        parts.append(line.removesuffix("\\").strip())
        if not line.endswith("\\"):
            if joined := " ".join(part for part in parts if part):
                yield start, joined
            parts = []
