"""Every case of a fault has a test or a reason; marks, lists and the table are held together."""

import json
from pathlib import Path

import pytest

from checks.cases import CASES, TABLE, UNMAPPED, cases, write_cases

TESTS = """
import pytest

@pytest.mark.case("LSE-01", "MX-F1-claim")
async def test_one(): ...

@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.case("SRV-01")), 2])
def test_two(x): ...
"""
LISTED = '"SRV-02" = { waits = "cluster" }\n"SRV-03" = { because = "there is no such server" }\n'
IDS = {
    "LSE-01": "lease",
    "MX-F1-claim": "matrix",
    "SRV-01": "server",
    "SRV-02": "server",
    "SRV-03": "server",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project whose cases are all answered for."""
    known = [{"id": id_, "kind": kind} for id_, kind in IDS.items()]
    put(tmp_path, CASES, json.dumps(known))
    put(tmp_path, "tests/faults/test_it.py", TESTS)
    put(tmp_path, UNMAPPED / "server.toml", LISTED)
    assert write_cases(tmp_path) == []
    return tmp_path


def put(root: Path, name: str | Path, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_a_project_that_answers_for_every_case_passes_and_has_a_table_of_the_answers(root: Path):
    assert cases(root) == []
    table = (root / TABLE).read_text()
    assert "5 cases: 3 covered by tests, 1 wait for a later capability, 1 do not apply." in table
    assert "| LSE-01 | `faults/test_it.py::test_one` |" in table
    assert "| SRV-01 | `faults/test_it.py::test_two` |" in table
    assert "| SRV-02 | waits for cluster |" in table
    assert "| SRV-03 | there is no such server |" in table


@pytest.mark.parametrize(
    ("file", "text", "problem"),
    [
        (UNMAPPED / "server.toml", "", "SRV-02 (server): mark a test with it, or list it in"),
        (
            UNMAPPED / "lease.toml",
            '"LSE-01" = { waits = "cluster" }',
            "LSE-01 is listed as not mapped, but faults/test_it.py::test_one covers it",
        ),
        (
            UNMAPPED / "lease.toml",
            '"SRV-01" = { waits = "cluster" }',
            "lease.toml: SRV-01 is no case of the kind lease",
        ),
        (UNMAPPED / "server.toml", LISTED.replace("cluster", "better times"), "SRV-02: say"),
        (UNMAPPED / "server.toml", LISTED.replace("there is no such server", " "), "SRV-03: say"),
        ("tests/faults/test_it.py", TESTS.replace("LSE-01", "LSE-99"), "there is no case LSE-99"),
        (
            "tests/faults/test_it.py",
            TESTS.replace('"MX-F1-claim"', "CLAIM"),
            "faults/test_it.py:4: write the ids of cases out, as strings",
        ),
        ("tests/faults/test_it.py", TESTS.replace("test_one", "test_1"), "CASES.md is out of date"),
        (TABLE, "an old table", "CASES.md is out of date: run `python -m checks --write cases`"),
    ],
)
def test_what_is_wrong_with_the_answers_is_found(
    root: Path, file: str | Path, text: str, problem: str
):
    put(root, file, text)
    assert problem in "\n".join(cases(root))
