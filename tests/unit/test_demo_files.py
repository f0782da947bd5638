"""Which files the demonstration finds, and what it finds out about one."""

import hashlib
import os
import random
from pathlib import Path

import pytest

from echomq_worker.demo.files import FileFacts, find_files, path_of, read_facts, text_of
from echomq_worker.demo.plan import make_plan


def test_every_regular_file_is_found_in_order_of_its_path(tmp_path: Path):
    for name in ("b/two.txt", "a/one.txt", "zero.txt", "b/.dotfile"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)

    found = [path.relative_to(tmp_path).as_posix() for path in find_files(tmp_path, 10)]

    assert found == ["zero.txt", "a/one.txt", "b/.dotfile", "b/two.txt"]


def test_hidden_folders_caches_and_links_are_left_out(tmp_path: Path):
    for folder in (".git", "__pycache__", "kept"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "kept" / "file")

    assert find_files(tmp_path, 10) == [tmp_path / "kept" / "file"]


def test_no_more_files_are_found_than_asked_for(tmp_path: Path):
    for number in range(5):
        (tmp_path / str(number)).write_text("")

    assert len(find_files(tmp_path, 3)) == 3


@pytest.mark.parametrize("content", [b"", b"one\ntwo\n", b"x" * 600_000 + b"\nlast"])
def test_a_file_is_measured_to_the_byte(content: bytes, tmp_path: Path):
    (tmp_path / "file").write_bytes(content)

    assert read_facts(tmp_path / "file") == FileFacts(
        size=len(content),
        lines=content.count(b"\n"),
        sha256=hashlib.sha256(content).hexdigest(),
    )


@pytest.mark.parametrize("name", [b"we\xffird", b"100%25 \\xff.txt", "stra\u00dfe".encode()])
def test_any_name_is_told_to_a_worker_in_plain_text_and_found_again(name: bytes, tmp_path: Path):
    (tmp_path / os.fsdecode(name)).write_bytes(b"x")
    (path,) = find_files(tmp_path, 10)

    told = text_of(path)

    assert told.encode().decode() == told
    assert path_of(told) == path


def test_a_share_of_the_files_waits_within_the_bounds():
    paths = [Path(str(number)) for number in range(1_000)]

    plan = make_plan(paths, random.Random(7), share=0.2, longest_ms=300)

    assert sorted(errand.path for errand in plan.errands) == sorted(paths)
    assert 150 < len(plan.delayed) < 250
    assert all(50 <= errand.delay_ms <= 300 for errand in plan.delayed)
    assert all(errand.delay_ms == 0 for errand in plan.immediate)


def test_those_that_wait_come_first_so_that_they_are_served_first_when_due():
    plan = make_plan(map(Path, "abcdef"), random.Random(1), share=0.5, longest_ms=60)

    assert [errand.delay_ms > 0 for errand in plan.errands] == sorted(
        (errand.delay_ms > 0 for errand in plan.errands), reverse=True
    )


def test_a_share_of_nothing_makes_no_file_wait():
    assert make_plan([Path("a")], random.Random(1), share=0, longest_ms=60).delayed == []
