"""Fixtures of the fault matrix."""

import json
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Protocol

import pytest

from tests.faults.matrix.field import Field
from tests.faults.matrix.forks import Forker

CASES = Path(__file__).resolve().parents[2] / "data" / "fault_cases.json"


class MakeField(Protocol):
    """Makes the field of a test on a server, its workers set up by these settings besides."""

    def __call__(self, url: str, **settings: str) -> Field: ...


@pytest.fixture
def forker(tmp_path: Path) -> Generator[Forker]:
    """Starts processes that end with the test."""
    with Forker(tmp_path) as forker:
        yield forker


def codes_of(ids: tuple[str, ...]) -> Mapping[str, str]:
    """Return the law of each moment that a test is marked with, as the cases state it."""
    laws = {case["id"]: case["then"].partition(":")[0] for case in json.loads(CASES.read_text())}
    return {id_.rsplit("-", 1)[1]: laws[id_] for id_ in ids if id_.startswith("MX-")}


@pytest.fixture
def new_field(request: pytest.FixtureRequest, forker: Forker, tmp_path: Path) -> MakeField:
    """Make the field of a test on a server: its cells are those that the test is marked with."""
    mark = request.node.get_closest_marker("case")
    assert mark is not None

    def make(url: str, **settings: str) -> Field:
        return Field(url, codes_of(mark.args), forker, tmp_path, settings)

    return make
