"""The checks that are other people's programs can fail, and say so when one is missing."""

import sys
from pathlib import Path

import pytest

from checks import tools
from checks.tools import find_tool, formatting, layers, linting, run_tool, typing
from tests.unit.test_checks_text import put


def test_a_file_that_the_formatter_would_change_is_found(tmp_path: Path):
    put(tmp_path, "neat.py", '"""Neat."""\n')
    assert formatting(tmp_path) == []
    put(tmp_path, "untidy.py", "x = [ 1 ]\n")
    assert "untidy.py" in "\n".join(formatting(tmp_path))


def test_what_the_linter_finds_is_shown(tmp_path: Path):
    put(tmp_path, "pyproject.toml", '[tool.ruff.lint]\nselect = ["F401"]\n')
    put(tmp_path, "fine.py", "import os\n\nos.getpid()\n")
    assert linting(tmp_path) == []
    put(tmp_path, "unused.py", "import os\n")
    assert "unused.py:1:8: F401" in "\n".join(linting(tmp_path))


def test_a_wrong_type_is_found(tmp_path: Path):
    put(tmp_path, "pyproject.toml", '[tool.pyright]\ntypeCheckingMode = "strict"\n')
    put(tmp_path, "wrong.py", 'number: int = "one"\n')
    assert "wrong.py:1:15 - error" in "\n".join(typing(tmp_path))


def test_an_import_that_points_up_is_found(tmp_path: Path):
    contract = '{name = "down", type = "layers", layers = ["pkg.high", "pkg.low"]}'
    put(
        tmp_path,
        "pyproject.toml",
        f'[tool.importlinter]\nroot_package = "pkg"\ncontracts = [{contract}]\n',
    )
    put(tmp_path, "pkg/__init__.py", "")
    put(tmp_path, "pkg/high.py", "import pkg.low\n")
    put(tmp_path, "pkg/low.py", "")
    assert layers(tmp_path) == []
    put(tmp_path, "pkg/low.py", "import pkg.high\n")
    assert "pkg.low is not allowed to import pkg.high" in "\n".join(layers(tmp_path))


def test_a_missing_tool_is_a_finding_that_says_how_to_install_it(tmp_path: Path):
    assert run_tool(tmp_path, "no-such-program", install="apt-get install it") == [
        "no-such-program is not installed; install it with: apt-get install it"
    ]


def test_the_tool_beside_this_python_comes_before_the_one_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    on_path = find_tool("sh")
    assert on_path.parent != tmp_path
    put(tmp_path, "sh", "")
    (tmp_path / "sh").chmod(0o755)
    assert find_tool("sh") == tmp_path / "sh"


def test_a_tool_that_fails_without_a_word_has_failed(tmp_path: Path):
    assert run_tool(tmp_path, "false") == ["false ended with exit code 1 and said nothing"]
    assert run_tool(tmp_path, "true") == []


def test_a_tool_that_hangs_is_not_waited_for_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tools, "TIMEOUT_S", 0.01)
    assert "took longer than" in run_tool(tmp_path, "sleep", "5")[0]
