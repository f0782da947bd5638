"""What the processes of a chaos run note, and how it is read back."""

from pathlib import Path

import pytest

from tests.chaos.figures import figures_of
from tests.chaos.history import History
from tests.chaos.pen import Pen
from tests.chaos.plan import KILL_SERVER, KILL_WORKER, OTHERS, plan
from tests.chaos.records import read_log, read_producers, read_workers
from tests.chaos.recovery import Recoveries, Span, spread_of

A, B, C = "JOB0000000000A", "JOB0000000000B", "JOB0000000000C"


def write(folder: Path, name: str, *lines: str, end: str = "\n") -> None:
    (folder / name).write_text("\n".join(lines) + end)


def test_every_note_is_in_the_file_at_once(tmp_path: Path):
    first, second = Pen(tmp_path / "notes"), Pen(tmp_path / "notes")

    first.write("one")
    second.write("two")

    assert (tmp_path / "notes").read_text() == "one\ntwo\n"


def test_a_whole_run_is_read(tmp_path: Path):
    write(tmp_path, "producer-1.notes", f"I 1 5 q 0 {A} {B}", "K 1 9", f"I 2 10 n 50 {C}", "U 2 11")
    write(tmp_path, "worker-2.notes", f"S {A} 1 20", f"E {A} 1 21", f"S {B} 1 20")
    write(tmp_path, "worker-3.notes", f"S {B} 2 2050", f"E {B} 2 2051")
    log = ["6-0 q %s 0", "6-1 q %s 0", "20-0 c %s 1", "20-1 c %s 1", "22-0 x %s 1"]
    more = ["2030-0 v %s 1", "2040-0 c %s 2", "2060-0 x %s 2"]
    jobs = [A, B, A, B, A, B, B, B]
    write(
        tmp_path,
        "log.notes",
        *(line % job for line, job in zip([*log, *more], jobs, strict=True)),
    )
    history, recoveries = History(lease_ms=2_000), Recoveries()

    read_producers(tmp_path, history)
    in_flight = read_workers(tmp_path, history)
    recoveries.killed(40, in_flight[2])
    forgotten = read_log(tmp_path, history, recoveries)
    history.judge()

    assert not history.wrong
    assert forgotten == 0
    assert in_flight == {2: {B: 20}, 3: {}}
    assert recoveries.of_jobs == [2_000]
    figures = figures_of(history)
    assert (figures.jobs, figures.completed, figures.starts, figures.unknown) == (2, 2, 3, 1)


def test_a_line_that_a_killed_process_left_unfinished_is_no_line(tmp_path: Path):
    write(tmp_path, "producer-1.notes", f"I 1 5 q 0 {A}", "K 1 9", "I 2 10 q 0 JOB00", end="")
    history = History(lease_ms=2_000)

    read_producers(tmp_path, history)

    assert list(history.stories) == [A]


def test_what_a_restarted_server_has_forgotten_did_not_happen(tmp_path: Path):
    write(tmp_path, "producer-1.notes", f"I 1 5 q 0 {A}", "K 1 9")
    write(tmp_path, "worker-2.notes", f"S {A} 1 20", f"E {A} 1 21", f"S {A} 2 99", f"E {A} 2 99")
    lines = ("6-0 q", "20-0 c", "22-0 x", "R", "90-0 v", "95-0 c", "99-0 x")
    tokens = (0, 1, 1, None, 1, 2, 2)
    write(
        tmp_path,
        "log.notes",
        *(
            "R 20-0 22-0" if token is None else f"{line} {A} {token}"
            for line, token in zip(lines, tokens, strict=True)
        ),
    )
    history = History(lease_ms=10)

    read_producers(tmp_path, history)
    read_workers(tmp_path, history)
    forgotten = read_log(tmp_path, history, Recoveries())
    history.judge()

    assert forgotten == 1
    assert not history.wrong


def test_a_job_that_its_worker_still_settled_was_not_recovered():
    recoveries = Recoveries()
    recoveries.killed(100, [A])

    recoveries.event(110, "completed", A)

    assert recoveries.of_jobs == []


def test_a_recovery_during_an_outage_of_the_server_is_told_apart():
    recoveries = Recoveries(outages=[Span(150, 190)])
    recoveries.killed(100, [A])
    recoveries.killed(200, [B])
    for at_ms, event, job in (
        (2_100, "recovered", A),
        (2_110, "claimed", A),
        (2_200, "recovered", B),
        (2_230, "claimed", B),
    ):
        recoveries.event(at_ms, event, job)

    assert recoveries.of_jobs == [2_030]
    assert recoveries.of_jobs_in_outages == [2_010]


def test_a_servers_return_is_timed_from_its_first_answer_to_the_next_claim():
    recoveries = Recoveries(returns=[Span(100, 200), Span(500, 600)])
    for at_ms in (90, 230, 240, 590):
        recoveries.event(at_ms, "claimed", A)

    assert recoveries.of_server == [30, 0]


def test_a_server_that_is_broken_again_at_once_is_not_timed():
    recoveries = Recoveries(
        outages=[Span(50, 200), Span(201, 900)], returns=[Span(100, 200), Span(1_000, 1_100)]
    )
    for at_ms in (950, 1_150):
        recoveries.event(at_ms, "claimed", A)

    assert recoveries.of_server == [50]


def test_a_spread_tells_the_middle_and_the_ends():
    spread = spread_of(list(range(100)))

    assert spread is not None
    assert (spread.count, spread.p50, spread.p99, spread.max) == (100, 0.05, 0.099, 0.099)
    assert spread_of([]) is None


def test_the_same_seed_gives_the_same_plan_and_another_another():
    first, again, other = (plan(seed, 60, worker_kills=5, server_kills=2) for seed in (1, 1, 2))

    assert first == again
    assert first != other


@pytest.mark.parametrize(
    ("minutes", "workers", "servers"), [(0.2, 1, 0), (3, 27, 4), (35, 300, 50)]
)
def test_a_plan_has_the_kills_that_are_asked_for_within_the_time(
    minutes: float, workers: int, servers: int
):
    faults = plan(7, minutes * 60, worker_kills=workers, server_kills=servers)

    names = [fault.name for fault in faults]
    assert names.count(KILL_WORKER) == workers
    assert names.count(KILL_SERVER) == servers
    assert all(0 < fault.at_s < minutes * 60 for fault in faults)
    assert faults == sorted(faults)


def test_a_plan_of_some_minutes_has_every_kind_of_fault():
    assert set(OTHERS) <= {fault.name for fault in plan(1, 180, worker_kills=1, server_kills=1)}
