"""Which files belong to the project."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

TEST_DATA = "tests/data/"
"""Kept byte for byte as published: no rule of style holds there."""

_NOT_OURS = frozenset({"__pycache__", "node_modules", "build", "dist"})


def project_files(root: Path) -> list[Path]:
    """Return the files of the project, relative to its folder, in order.

    In a git checkout those are the ones git knows or would add; elsewhere all but hidden and
    built ones.
    """
    found = _known_to_git(root) if (root / ".git").exists() else _found_in(root)
    return sorted(path for path in found if (root / path).is_file())


def sources(root: Path, suffix: str, *folders: str) -> Iterator[tuple[Path, str]]:
    """Yield the path and text of each source file with a suffix, in some folders of the project."""
    for path in project_files(root):
        name = path.as_posix()
        inside = any(name.startswith(f"{folder}/") for folder in folders)
        if inside and path.suffix == suffix and not name.startswith(TEST_DATA):
            yield path, (root / path).read_text(encoding="utf-8")


def _known_to_git(root: Path) -> set[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607
        cwd=root,
        capture_output=True,
        check=True,
    )
    return {Path(name) for name in listed.stdout.decode().split("\0") if name}


def _found_in(root: Path) -> set[Path]:
    paths = (path.relative_to(root) for path in root.rglob("*"))
    return {
        path
        for path in paths
        if not any(part in _NOT_OURS or part.startswith(".") for part in path.parts[:-1])
    }
