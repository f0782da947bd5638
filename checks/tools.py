"""Checks that are other people's programs: formatter, linter, type checker, layers."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

WITH_PIP = "pip install -e '.[dev]'"
TIMEOUT_S = 600
_BROKEN = "Broken contracts"
_PLACE = re.compile(r"\s*--> (\S+)")


class MissingToolError(Exception):
    """A program that a check needs is not installed."""


def find_tool(name: str, install: str = WITH_PIP) -> Path:
    """Return a program: the one beside this Python, else the one on PATH.

    Raises `MissingToolError`, which says how to install it.
    """
    beside = Path(sys.executable).with_name(name)
    if os.access(beside, os.X_OK):
        return beside
    if on_path := shutil.which(name):
        return Path(on_path)
    msg = f"{name} is not installed; install it with: {install}"
    raise MissingToolError(msg)


def run_tool(root: Path, name: str, *arguments: str, install: str = WITH_PIP) -> list[str]:
    """Run a program in the project's folder; return its output if it failed."""
    try:
        program = find_tool(name, install)
    except MissingToolError as missing:
        return [str(missing)]
    try:
        done = subprocess.run(
            [str(program), *arguments],
            cwd=root,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
            env={**os.environ, "NO_COLOR": "1", "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"},
        )
    except subprocess.TimeoutExpired:
        return [f"{name} took longer than {TIMEOUT_S} s"]
    if done.returncode == 0:
        return []
    said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    return said or [f"{name} ended with exit code {done.returncode} and said nothing"]


def formatting(root: Path) -> list[str]:
    """Return the files that `ruff format` would change."""
    said = run_tool(root, "ruff", "format", "--check", "--quiet", ".")
    places = [found[1] for line in said if (found := _PLACE.fullmatch(line))]
    return [f"{place}: run `ruff format`" for place in places] or said


def linting(root: Path) -> list[str]:
    """Return what ruff finds."""
    return run_tool(root, "ruff", "check", "--quiet", "--output-format", "concise", ".")


def typing(root: Path) -> list[str]:
    """Return what pyright finds."""
    return run_tool(root, "pyright", "--pythonpath", sys.executable)


def layers(root: Path) -> list[str]:
    """Return the import contracts that are broken, and by which imports."""
    said = run_tool(root, "lint-imports", "--no-cache")
    broken = said.index(_BROKEN) + 2 if _BROKEN in said else 0
    return said[broken:]
