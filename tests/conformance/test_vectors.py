"""The golden vectors of the wire, played through our own code by their own checker."""

import json
from pathlib import Path

import pytest

from tests.conformance.playing import CHECKER, Played, lines_of, names_in, play

ADAPTER = "tests.conformance.adapter:Adapter"
SKIPPED = Path(__file__).with_name("skipped.txt")
PLANES = (
    *("ids", "keyspace", "jobs", "schedule", "retry", "reap_stalled", "fence", "hazards"),
    "repeat",
    "lanes",
    "ops",
    "locks",
    "batches",
)


@pytest.mark.parametrize("plane", PLANES)
def test_every_golden_vector_passes_or_is_listed_as_skipped(plane: str, tmp_path: Path):
    played = play(plane, tmp_path / "report.json", ADAPTER)
    assert played
    if failures(played) & waiting(plane):
        # What is to last 40 ms is over between two steps of a busy machine, but not each time.
        played = play(plane, tmp_path / "report.json", ADAPTER)

    failed = {one["name"]: one["problems"] for one in played if one["verdict"] == "FAIL"}
    assert not failed, json.dumps(failed, indent=1)

    skipped = {one["name"]: one["problems"][0] for one in played if one["verdict"] == "SKIP"}
    listed = names_in(SKIPPED, plane)
    unlisted = {name: why for name, why in skipped.items() if name not in listed}
    assert not unlisted, f"skipped, but not listed in {SKIPPED.name}: {unlisted}"
    assert not listed - set(skipped), f"listed in {SKIPPED.name}, but not skipped: take them out"


def failures(played: list[Played]) -> set[str]:
    """Return the names of those that failed."""
    return {one["name"] for one in played if one["verdict"] == "FAIL"}


def waiting(plane: str) -> set[str]:
    """Return the names of the vectors in which time passes."""
    vectors = json.loads((CHECKER.parent / f"{plane}.json").read_text())["vectors"]
    return {
        each["name"] for each in vectors if any(step["op"] == "wait_ms" for step in each["steps"])
    }


def test_the_list_of_skipped_vectors_names_only_planes_that_are_played():
    lines = lines_of(SKIPPED)
    assert lines == sorted(set(lines))
    assert {line.partition("/")[0] for line in lines} <= set(PLANES)


def test_the_copied_checker_covers_the_planes_that_are_played():
    files = {path.stem for path in CHECKER.parent.glob("*.json")}
    assert set(PLANES) <= files
