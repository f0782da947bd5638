"""The README's generated parts are noticed when they are stale, missing or strange."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from checks import tables
from checks.tables import Generator, renewed, stale
from echomq_worker.worker import stop


def numbers() -> str:
    return "| n |\n|---|\n| 1 |\n"


GENERATORS: Mapping[str, Generator] = {"numbers": numbers}
OLD = "before\n<!-- generated: numbers -->\nold\n<!-- end -->\nafter\n"
NEW = "before\n<!-- generated: numbers -->\n\n| n |\n|---|\n| 1 |\n\n<!-- end -->\nafter\n"


def test_renewing_replaces_what_is_between_the_marks_and_nothing_else():
    assert renewed(OLD, GENERATORS) == NEW
    assert renewed(NEW, GENERATORS) == NEW
    assert stale(NEW, GENERATORS) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (OLD, "the part numbers is out of date"),
        (NEW.replace("| 1 |", "| 2 |"), "the part numbers is out of date"),
        ("nothing generated\n", "no part numbers: put <!-- generated: numbers -->"),
        (NEW + OLD.replace("numbers", "letters"), "nothing generates the part letters"),
        (NEW + NEW, "a generated part is named twice, or has no <!-- end -->"),
        (NEW + "<!-- generated: numbers -->\n", "named twice, or has no <!-- end -->"),
    ],
)
def test_what_is_wrong_with_the_generated_parts_is_found(text: str, problem: str):
    assert problem in "\n".join(stale(text, GENERATORS))


def test_the_readme_is_compared_and_renewed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tables, "GENERATORS", GENERATORS)
    assert tables.tables(tmp_path) == ["README.md is missing"]
    (tmp_path / "README.md").write_text(OLD)
    assert tables.tables(tmp_path) != []
    assert tables.write_tables(tmp_path) == []
    assert tables.tables(tmp_path) == []
    assert (tmp_path / "README.md").read_text() == NEW


class Documented:
    FIRST = 1
    """Comes
    first."""
    SECOND = 2
    THIRD: int = 3
    """Is annotated."""


def test_the_texts_below_attributes_are_read():
    assert tables.attribute_docstrings(Documented) == {
        "FIRST": "Comes first.",
        "THIRD": "Is annotated.",
    }


def test_every_part_can_be_generated():
    for name, generate in tables.GENERATORS.items():
        assert generate().strip(), name


def test_the_exit_codes_of_the_worker_are_those_that_are_told():
    told = {int(row.split("|")[1]) for row in tables.exit_codes().splitlines()[2:]}
    assert {value for name, value in vars(stop).items() if name.startswith("EXIT_")} <= told
