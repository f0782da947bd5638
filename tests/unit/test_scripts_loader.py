"""The loader of the Lua scripts: named operands, snippets, one constant text for each."""

import hashlib
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from echomq_worker.protocol import scripts
from echomq_worker.protocol.scripts import script, script_names

Write = Callable[[str, str], None]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Write]:
    """Let the loader read from a folder that the test fills."""
    (tmp_path / "lib").mkdir()
    monkeypatch.setattr(scripts, "_LUA", tmp_path)
    script.cache_clear()

    def write(name: str, text: str) -> None:
        (tmp_path / f"{name}.lua").write_text(text, encoding="utf-8")

    yield write
    script.cache_clear()


def test_every_script_of_the_package_loads():
    names = script_names()

    assert {"enqueue", "schedule", "claim", "settle", "extend", "promote", "reap"} <= set(names)
    for name in names:
        assert script(name).source.strip()


def test_the_hash_is_that_of_the_text_which_is_sent():
    claim = script("claim")

    assert claim.sha == hashlib.sha1(claim.source.encode(), usedforsecurity=False).hexdigest()


def test_a_script_is_loaded_once():
    assert script("claim") is script("claim")


def test_names_in_the_header_become_locals_in_order(write: Write):
    write("move", "-- Move.\n--! keys from to\n--! args count who\n--! rest jobs\nreturn from\n")

    loaded = script("move")

    assert (loaded.keys, loaded.args, loaded.rest) == (("from", "to"), ("count", "who"), "jobs")
    assert loaded.source.splitlines() == [
        "local from = KEYS[1]",
        "local to = KEYS[2]",
        "local count = ARGV[1]",
        "local who = ARGV[2]",
        "local jobs = 3",
        "return from",
    ]


def test_a_script_may_take_nothing(write: Write):
    write("nothing", "-- Nothing.\n--! keys\n--! args\nreturn 1\n")

    loaded = script("nothing")

    assert (loaded.keys, loaded.args, loaded.rest) == ((), (), None)
    assert loaded.source == "return 1"
    assert loaded.bind({}).operands({}) == [0]


def test_snippets_come_before_the_body_each_once_and_after_what_it_includes(write: Write):
    write("lib/low", "-- Low.\nlocal low = 1\n")
    write("lib/middle", "-- Middle.\n--! include low\nlocal middle = low\n")
    write("lib/other", "-- Other.\n--! include low middle\nlocal other = middle\n")
    write("top", "-- Top.\n--! keys\n--! args\n--! include other middle low\nreturn other\n")

    assert script("top").source.splitlines() == [
        "local low = 1",
        "local middle = low",
        "local other = middle",
        "return other",
    ]


def test_snippets_that_include_each_other_end(write: Write):
    write("lib/one", "-- One.\n--! include two\nlocal one = 1\n")
    write("lib/two", "-- Two.\n--! include one\nlocal two = 2\n")
    write("top", "-- Top.\n--! keys\n--! args\n--! include one\nreturn one\n")

    assert script("top").source.splitlines() == ["local two = 2", "local one = 1", "return one"]


def test_what_a_snippet_needs_must_be_an_operand_of_the_script(write: Write):
    write("lib/low", "-- Low.\n--! needs root limit\nlocal low = root\n")
    write("lib/middle", "-- Middle.\n--! include low\nlocal middle = low\n")
    write("top", "-- Top.\n--! keys root\n--! args\n--! include middle\nreturn 1\n")

    with pytest.raises(ValueError, match=r"top.lua includes low.lua, which needs limit"):
        script("top")


@pytest.mark.parametrize("line", ["--! keys root", "--! args root", "--! rest root"])
def test_any_kind_of_operand_is_what_a_snippet_may_need(write: Write, line: str):
    write("lib/low", "-- Low.\n--! needs root\nlocal low = root\n")
    write("top", f"-- Top.\n{line}\n--! include low\nreturn low\n")

    assert script("top").source.endswith("local low = root\nreturn low")


def test_comments_and_empty_lines_are_not_sent(write: Write):
    write("top", "-- Top.\n--! keys\n--! args\n\n  -- why\nreturn '--'\n")

    assert script("top").source == "return '--'"


def test_a_script_that_is_not_there_is_an_error(write: Write):
    write("top", "-- Top.\n--! keys\n--! args\n--! include missing\nreturn 1\n")

    with pytest.raises(FileNotFoundError):
        script("nowhere")
    with pytest.raises(FileNotFoundError):
        script("top")


@pytest.mark.parametrize("keys", [{}, {"from": "a"}, {"from": "a", "to": "b", "by": "c"}])
def test_keys_must_be_those_of_the_header(write: Write, keys: dict[str, str]):
    write("move", "-- Move.\n--! keys from to\n--! args\nreturn 1\n")

    with pytest.raises(TypeError, match=r"move.lua takes the keys \('from', 'to'\)"):
        script("move").bind(keys)


@pytest.mark.parametrize(
    "args", [{}, {"count": 1}, {"count": 1, "whom": 2}, {"count": 1, "who": 2, "why": 3}]
)
def test_arguments_must_be_those_of_the_header(write: Write, args: dict[str, scripts.Operand]):
    write("move", "-- Move.\n--! keys from\n--! args count who\nreturn 1\n")
    bound = script("move").bind({"from": "a"})

    with pytest.raises(TypeError, match=r"move.lua takes \('count', 'who'\)"):
        bound.operands(args)


def test_operands_stand_in_the_order_of_the_header(write: Write):
    write("move", "-- Move.\n--! keys from to\n--! args count who\n--! rest jobs\nreturn 1\n")
    bound = script("move").bind({"to": "b", "from": "a"})

    operands = bound.operands({"who": "w", "count": 7}, [b"x", b"y"])

    assert operands == [2, "a", "b", 7, "w", b"x", b"y"]


def test_a_script_without_a_rest_takes_none(write: Write):
    write("move", "-- Move.\n--! keys from\n--! args\nreturn 1\n")

    with pytest.raises(TypeError, match=r"move.lua"):
        script("move").bind({"from": "a"}).operands({}, ["x"])
