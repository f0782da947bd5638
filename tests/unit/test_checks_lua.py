"""The checks of the Lua scripts can fail."""

import shutil
from pathlib import Path

import pytest

from checks.lua_headers import lua_headers
from checks.lua_lint import lint
from tests.unit.test_checks_text import put

FOLDER = "echomq_worker/lua"
PROJECT = Path(__file__).parents[2]

GOOD = """\
-- Count what waits.
--
--! keys pending
--! args limit
--! include low
--
-- Replies the count, at most `limit`.

return low(redis.call('ZCARD', pending), tonumber(limit))
"""
LOW = """\
-- The lower of two numbers.
local function low(one, other)
  return math.min(one, other)
end
local function high(one, other)
  return math.max(one, other)
end
"""
# As the loader sends it: operands, snippets, body, and no comments.
FLAT = "local pending = KEYS[1]\nlocal limit = ARGV[1]\n" + "\n".join(
    line for text in (LOW, GOOD) for line in text.splitlines() if line and not line.startswith("--")
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    put(tmp_path, f"{FOLDER}/count.lua", GOOD)
    put(tmp_path, f"{FOLDER}/lib/low.lua", LOW)
    shutil.copy(PROJECT / ".luacheckrc", tmp_path)
    return tmp_path


# --- headers ----------------------------------------------------------------------------------


def test_a_script_with_a_whole_header_passes(project: Path):
    assert lua_headers(project) == []


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("-- Count what waits.\n", "", "count.lua:1: expected a comment that says what it does"),
        ("--! keys pending\n", "", "count.lua: names no keys"),
        ("--! args limit", "--! arg limit", "count.lua:4: expected --! and one of keys, args"),
        ("--! args limit", "--! args pending", "count.lua: pending names two operands"),
        ("--! args limit", "--! args end", "count.lua: end cannot name an operand"),
        ("--! args limit", "--! args Limit", "count.lua: Limit cannot name an operand"),
        ("--! include low", "--! include low lower", "includes lower, but there is no lib/lower"),
        ("--! include low\n", "", "lib/low.lua: no script includes it"),
        ("-- Replies the", "-- The", "count.lua: the header does not say what it replies"),
        ("(limit)", "(ARGV[1])", "count.lua:9: takes an operand by number"),
        ("'ZCARD', pending", "'ZCARD', KEYS[1]", "count.lua:9: takes an operand by number"),
        ("return", "--! keys other\nreturn", "count.lua:9: a directive stands in the header"),
    ],
)
def test_what_is_wrong_with_a_script_is_found(project: Path, old: str, new: str, problem: str):
    put(project, f"{FOLDER}/count.lua", GOOD.replace(old, new, 1))
    assert problem in "\n".join(lua_headers(project))


def test_a_snippet_takes_no_operands_of_its_own(project: Path):
    put(project, f"{FOLDER}/lib/low.lua", LOW.replace("numbers.\n", "numbers.\n--! keys a\n"))
    (problem,) = lua_headers(project)
    assert "lib/low.lua:2: expected --! and one of needs, include" in problem


def test_only_one_snippet_reads_the_clock(project: Path):
    clock = "-- Read the clock.\nlocal now = redis.call('TIME')\n"
    put(project, f"{FOLDER}/lib/time.lua", clock)
    included = GOOD.replace("include low", "include low time")
    put(project, f"{FOLDER}/count.lua", included)
    assert lua_headers(project) == []
    put(project, f"{FOLDER}/count.lua", included + "redis.call('TIME')\n")
    assert lua_headers(project) == [
        f"{FOLDER}/count.lua:10: reads the clock: include time and use `now`"
    ]


def test_a_package_without_scripts_is_a_finding(tmp_path: Path):
    assert lua_headers(tmp_path) == [f"no script in {FOLDER}"]


# --- luacheck ---------------------------------------------------------------------------------


def test_what_only_some_scripts_use_of_a_snippet_passes(project: Path):
    other = FLAT.replace("return low(", "return high(")
    put(project, f"{FOLDER}/other.lua", GOOD.replace("return low(", "return high("))
    assert lint(project, {"count": FLAT, "other": other}) == []


def test_what_no_script_uses_of_a_snippet_is_found_where_it_was_written(project: Path):
    (problem,) = lint(project, {"count": FLAT})
    assert problem == f"{FOLDER}/lib/low.lua:5: (W211) unused function 'high'"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("tonumber(limit)", "5", "count.lua: the header: (W211) unused variable 'limit'"),
        ("tonumber(limit)", "limits", "count.lua:9: (W113) accessing undefined variable 'limits'"),
        ("return low", "found = low", "count.lua:9: (W111) setting non-standard global variable"),
        ("tonumber(limit)", "cjson.decode(limit)", "accessing undefined variable 'cjson'"),
        ("tonumber(limit)", "tonumber(limit", "count.lua:9: (E011) expected ')'"),
    ],
)
def test_what_luacheck_finds_is_shown_at_the_line_that_was_written(
    project: Path, old: str, new: str, problem: str
):
    put(project, f"{FOLDER}/count.lua", GOOD.replace(old, new))
    assert problem in "\n".join(lint(project, {"count": FLAT.replace(old, new)}))
