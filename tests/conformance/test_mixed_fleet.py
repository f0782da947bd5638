"""Golden vectors of a mixed fleet: our code for the jobs, a stand-in peer for lanes and flows.

They show that our scripts keep the rows, lanes and parents of another runtime's worker right.
"""

import json
from pathlib import Path

import pytest

from tests.conformance.playing import lines_of, names_in, play

ADAPTER = "tests.conformance.peer:MixedFleet"
LISTED = Path(__file__).with_name("mixed_fleet.txt")
PLANES = ("lanes", "flows", "hazards", "reap_stalled", "ops", "locks")


@pytest.mark.parametrize("plane", PLANES)
def test_every_listed_vector_passes_with_a_peer_of_another_runtime(plane: str, tmp_path: Path):
    played = {one["name"]: one for one in play(plane, tmp_path / "report.json", ADAPTER)}
    listed = names_in(LISTED, plane)

    assert listed
    assert listed <= set(played)
    bad = {name: played[name] for name in listed if played[name]["verdict"] != "pass"}
    assert not bad, json.dumps(bad, indent=1)


def test_the_list_names_only_planes_that_are_played_in_order():
    lines = lines_of(LISTED)

    assert lines == sorted(set(lines))
    assert {line.partition("/")[0] for line in lines} == set(PLANES)
