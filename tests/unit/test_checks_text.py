"""The checks that read the project's files: sizes, words, pinned dependencies."""

import subprocess
from pathlib import Path

import pytest

from checks.constraints import constraints
from checks.files import project_files
from checks.size import sizes
from checks.words import words

HASH = f"--hash=sha256:{'0' * 64}"


def put(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


# --- sizes ------------------------------------------------------------------------------------


def a_function(lines: int) -> str:
    return "def long():\n" + "    x = 1\n" * (lines - 1)


@pytest.mark.parametrize("folder", ["echomq_worker", "tests/unit", "checks", "bench", "examples"])
def test_a_file_may_have_300_lines_and_no_more(tmp_path: Path, folder: str):
    put(tmp_path, f"{folder}/fits.py", "x = 1\n" * 300)
    assert sizes(tmp_path) == []
    put(tmp_path, f"{folder}/long.py", "x = 1\n" * 301)
    assert sizes(tmp_path) == [f"{folder}/long.py: 301 lines, at most 300: split it by ideas"]


def test_a_function_may_have_40_lines_and_no_more(tmp_path: Path):
    put(tmp_path, "echomq_worker/fits.py", a_function(40))
    assert sizes(tmp_path) == []
    put(tmp_path, "echomq_worker/long.py", "@decorated\n" + a_function(41))
    put(tmp_path, "tests/async.py", "class A:\n    async " + a_function(41).replace("\n", "\n    "))
    problems = sizes(tmp_path)
    assert [problem.partition(" has ")[0] for problem in problems] == [
        "echomq_worker/long.py:2: long",
        "tests/async.py:2: long",
    ]


def test_a_long_script_is_found_and_test_data_is_not_looked_at(tmp_path: Path):
    put(tmp_path, "echomq_worker/lua/claim.lua", "x = 1\n" * 301)
    put(tmp_path, "tests/data/vectors/run.py", "x = 1\n" * 301)
    assert sizes(tmp_path) == [
        "echomq_worker/lua/claim.lua: 301 lines, at most 300: split it by ideas"
    ]


# --- words ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("cd /wor|k/main", "a path of one machine"),
        ("see '/ro|ot/.pyenv'", "a path of one machine"),
        ("index = https://py|pi.org/simple", "the host of a package registry"),
        ("http://deb.deb|ian.org/debian", "the host of a package registry"),
        ("# TO|DO: later", "an unfinished thought"),
    ],
)
def test_a_forbidden_word_is_found_in_any_file(tmp_path: Path, line: str, what: str):
    # The bar keeps this file itself from being found.
    put(tmp_path, "docs/notes.md", "fine\n" + line.replace("|", "") + "\n")
    (problem,) = words(tmp_path)
    assert problem.startswith(f"docs/notes.md:2: {what}: ")


def test_words_that_only_look_alike_are_let_pass(tmp_path: Path):
    put(tmp_path, "a.md", "root:x:0:0:root:/root:/bin/sh\necho_work/er\nmktemp XXXXXX\nmastodon\n")
    (tmp_path / "picture").write_bytes(b"\xff\xfe\x00")
    assert words(tmp_path) == []


# --- which files ------------------------------------------------------------------------------


def test_in_a_checkout_only_what_git_would_take_is_looked_at(tmp_path: Path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)  # noqa: S603, S607
    put(tmp_path, ".gitignore", "ignored/\n")
    put(tmp_path, "ignored/a.py", "")
    put(tmp_path, "kept/b.py", "")
    assert project_files(tmp_path) == [Path(".gitignore"), Path("kept/b.py")]


def test_outside_a_checkout_hidden_and_built_folders_are_left_out(tmp_path: Path):
    for name in (".venv/a.py", "build/b.py", "pkg/__pycache__/c.pyc", "pkg/d.py", ".luacheckrc"):
        put(tmp_path, name, "")
    assert project_files(tmp_path) == [Path(".luacheckrc"), Path("pkg/d.py")]


# --- constraints ------------------------------------------------------------------------------


def test_a_pinned_and_hashed_list_passes(tmp_path: Path):
    put(
        tmp_path,
        "requirements/dev.txt",
        "# made by a tool\n"
        f"anyio==4.9.0 \\\n    {HASH} \\\n    {HASH}\n    # via echomq-worker\n"
        f"uvloop==0.21.0 ; sys_platform != 'win32' \\\n    {HASH}\n"
        f"pyright[nodejs]==1.1.400 {HASH}\n",
    )
    assert constraints(tmp_path) == []


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (f"anyio>=4.9 {HASH}", "not pinned by =="),
        ("anyio==4.9.0", "has no hash"),
        ("--index-url https://example.test/simple", "names a host or an option"),
        ("-i https://example.test/simple", "names a host or an option"),
        (f"anyio @ https://example.test/a.whl {HASH}", "names a host or an option"),
        ("# from https://example.test/simple", "names a host or an option"),
    ],
)
def test_a_loose_or_hosted_requirement_is_found(tmp_path: Path, line: str, problem: str):
    put(tmp_path, "requirements/dev.txt", f"click==8.2.0 {HASH}\n{line}\n")
    (found,) = constraints(tmp_path)
    assert found.startswith(f"requirements/dev.txt:2: {problem}")


def test_a_project_without_pinned_dependencies_is_told_to_make_them(tmp_path: Path):
    assert constraints(tmp_path) == ["no requirements/*.txt: run requirements/compile"]
