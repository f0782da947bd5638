"""The guard on commands notices what costs more, and nothing else."""

from pathlib import Path

import pytest

from checks.traffic.baseline import Cost, read_baseline, regressions, told, write_baseline
from checks.traffic.watch import Traffic

BEFORE = {"drain": Cost("job", sent=0.1, inside=10), "idle": Cost("beat", sent=1, inside=0)}


@pytest.mark.parametrize("now", [Cost("job", 0.11, 11.0), Cost("job", 0.05, 3)])
def test_up_to_ten_percent_more_passes(now: Cost):
    assert regressions(BEFORE, BEFORE | {"drain": now}) == []


@pytest.mark.parametrize(
    ("now", "problem"),
    [
        (Cost("job", 0.111, 10), "drain: 0.111 commands sent per job, was 0.1"),
        (Cost("job", 0.1, 11.01), "drain: 11.01 commands run inside scripts per job, was 10"),
    ],
)
def test_more_than_ten_percent_more_is_a_finding(now: Cost, problem: str):
    assert regressions(BEFORE, BEFORE | {"drain": now}) == [problem]


def test_what_cost_nothing_must_go_on_costing_nothing():
    (problem,) = regressions(BEFORE, BEFORE | {"idle": Cost("beat", 1, 0.001)})
    assert problem.startswith("idle: 0.001 commands run inside scripts")


def test_scenarios_and_baseline_must_name_each_other():
    measured = {"drain": BEFORE["drain"], "new": Cost("job", 1, 1)}
    assert regressions(BEFORE, measured) == [
        "idle: in the baseline, but not measured",
        "new: not in the baseline: run `python -m checks --write traffic`",
    ]


def test_a_baseline_is_read_as_it_was_written(tmp_path: Path):
    path = tmp_path / "baseline.json"
    assert read_baseline(path) == {}
    write_baseline(path, BEFORE)
    assert read_baseline(path) == BEFORE


def test_costs_are_told_for_one_unit():
    cost = Cost.of("job", 1_000, sent=33, inside=3_912)
    assert told("drain", cost).split() == [
        *("drain", "0.033", "sent", "3.912", "inside", "per", "job")
    ]


def test_commands_of_clients_and_of_scripts_are_told_apart_and_set_up_is_not_counted():
    traffic = Traffic()
    traffic.count(
        [
            (False, "HELLO 3"),
            (False, "CLIENT SETINFO LIB-NAME redis-py"),
            (False, "evalsha abc 0"),
            (True, "HSET a b c"),
            (True, "hset a b c"),
            (True, "PING"),
        ]
    )
    assert traffic.sent == {"EVALSHA": 1}
    assert traffic.inside == {"HSET": 2, "PING": 1}
