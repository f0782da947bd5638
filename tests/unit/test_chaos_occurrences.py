"""The checker of what schedulers have made in a chaos run."""

from pathlib import Path

from tests.chaos.figures import LAWS, figures_of
from tests.chaos.history import History
from tests.chaos.occurrences import ALONE, EVERY_MS, OFTEN
from tests.chaos.records import read_workers

A, B, C = "JOB0000000000A", "JOB0000000000B", "JOB0000000000C"


def history_of(*made: tuple[str, str, int], counted: dict[str, int] | None = None) -> History:
    history = History(2_000)
    for job_id, scheduler, instant in made:
        history.made(job_id, scheduler, instant)
        for event, token in (("enqueued", 0), ("claimed", 1), ("completed", 1)):
            history.event(instant, event, job_id, token)
        history.started(job_id)
        history.ended(job_id, 1, instant)
    history.judge(counted or {})
    assert set(history.wrong) <= set(LAWS)
    return history


def test_a_job_for_each_occurrence_breaks_no_law():
    history = history_of((A, OFTEN, 0), (B, OFTEN, EVERY_MS), counted={OFTEN: 2})
    assert not history.wrong
    figures = figures_of(history)
    assert (figures.occurrences, figures.jobs, figures.unknown, figures.recovered) == (2, 2, 0, 0)


def test_two_jobs_of_one_occurrence_are_one_too_many():
    assert set(history_of((A, ALONE, 0), (B, ALONE, 0)).wrong) == {"double-fired"}


def test_a_job_that_runs_again_is_one_job():
    history = History(2_000)
    history.made(A, ALONE, 0)
    history.made(A, ALONE, 0)
    assert list(history.occurrences.complaints({ALONE: 1})) == []


def test_an_occurrence_in_between_must_not_be_left_out_where_all_are_made_up_for():
    left_out = (A, OFTEN, 0), (B, OFTEN, 2 * EVERY_MS)
    assert set(history_of(*left_out).wrong) == {"not-fired"}
    assert not history_of((A, ALONE, 0), (B, ALONE, 2 * EVERY_MS)).wrong


def test_a_job_that_the_server_counted_and_nobody_has_seen_is_missing():
    assert set(history_of((A, ALONE, 0), counted={ALONE: 2}).wrong) == {"not-fired"}


def test_what_workers_note_of_occurrences_is_read(tmp_path: Path):
    lines = (f"O {C} {OFTEN} 700", f"S {C} 1 720", f"E {C} 1 721")
    (tmp_path / "worker-1.notes").write_text("".join(f"{line}\n" for line in lines))
    history = History(2_000)
    assert read_workers(tmp_path, history) == {1: {}}
    assert history.occurrences.jobs == {OFTEN: {700: {C}}}
    assert not history.wrong
