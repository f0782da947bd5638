"""The checker of histories: each law, and the history that breaks it."""

import pytest

from tests.chaos.figures import LAWS, figures_of
from tests.chaos.history import OK, REFUSED, UNKNOWN, History

LEASE_MS = 2_000
JOB = "JOB00000000001"

Line = tuple[int, str, int]
"""When, what the log says, and the attempt."""


def history_of(
    *lines: Line,
    kind: str = "q",
    delay_ms: int = 0,
    answer: int | None = OK,
    starts: int = 0,
    ends: int | list[tuple[int, int]] = 0,
) -> History:
    """`ends` are the attempts that came to their end, and when; or how many did, in time."""
    history = History(LEASE_MS)
    history.invoked(JOB, kind, delay_ms)
    if answer is not None:
        history.answered(JOB, answer)
    for _ in range(starts):
        history.started(JOB)
    if isinstance(ends, int):
        ends = [(attempt, 0) for attempt in range(1 + starts - ends, 1 + starts)]
    for attempt, at_ms in ends:
        history.ended(JOB, attempt, at_ms)
    for at_ms, event, token in lines:
        history.event(at_ms, event, JOB, token)
    history.judge()
    return history


def broken(history: History) -> set[str]:
    assert set(history.wrong) <= set(LAWS)
    return set(history.wrong)


IN, CLAIM, DONE = (10, "enqueued", 0), (20, "claimed", 1), (30, "completed", 1)


def test_a_job_that_goes_in_runs_and_completes_breaks_no_law():
    assert not broken(history_of(IN, CLAIM, DONE, starts=1, ends=1))


def test_a_job_that_fails_waits_and_completes_breaks_no_law():
    history = history_of(
        IN,
        CLAIM,
        (30, "scheduled", 1),
        (230, "promoted", 1),
        (230, "claimed", 2),
        (240, "completed", 2),
        kind="f",
        starts=2,
        ends=1,
    )

    assert not broken(history)
    assert figures_of(history).duplicated == 0
    assert figures_of(history).retried == 1


def test_a_job_whose_worker_was_killed_runs_again_and_is_counted_as_duplicated():
    history = history_of(
        IN,
        CLAIM,
        (2_020, "recovered", 1),
        (2_030, "claimed", 2),
        (2_040, "completed", 2),
        starts=2,
        ends=2,
    )

    assert not broken(history)
    figures = figures_of(history)
    assert (figures.duplicated, figures.late_finishes, figures.reaped) == (1, 1, 1)
    assert figures.duplicated_share == 1.0


def test_a_job_that_was_handed_back_is_not_duplicated():
    history = history_of(
        IN,
        CLAIM,
        (30, "returned", 1),
        (40, "claimed", 2),
        (50, "completed", 2),
        starts=2,
        ends=[(1, 45)],
    )

    assert not broken(history)
    assert (figures_of(history).duplicated, figures_of(history).handed_back) == (0, 1)


def test_a_finish_of_an_old_run_that_counts_for_a_new_claim_is_an_overlap():
    lines = (IN, CLAIM, (2_020, "recovered", 1), (2_030, "claimed", 2), (2_040, "completed", 2))

    first = history_of(*lines, starts=2, ends=[(1, 2_039), (2, 2_100)])
    second = history_of(*lines, starts=2, ends=[(1, 2_039), (2, 2_039)])

    assert broken(first) == {"overlap"}
    assert not broken(second)


def test_a_late_finish_of_a_job_that_waits_unclaimed_may_count():
    assert not broken(
        history_of(IN, CLAIM, (2_020, "recovered", 1), (2_030, "completed", 1), starts=1, ends=1)
    )


@pytest.mark.parametrize("answer", [None, UNKNOWN])
def test_a_job_whose_producer_never_learnt_that_it_went_in_is_recovered(answer: int | None):
    history = history_of(IN, CLAIM, DONE, answer=answer, starts=1, ends=1)

    assert not broken(history)
    assert (figures_of(history).unknown, figures_of(history).recovered) == (1, 1)


@pytest.mark.parametrize("answer", [None, UNKNOWN, REFUSED])
def test_a_job_that_never_went_in_need_not_run(answer: int | None):
    history = history_of(answer=answer)

    assert not broken(history)
    assert figures_of(history).jobs == figures_of(history).recovered == 0


def test_an_acknowledged_job_that_never_ran_is_lost():
    assert broken(history_of()) == {"lost"}
    assert broken(history_of(IN)) == {"lost"}


def test_a_claimed_job_that_never_ended_is_lost():
    assert broken(history_of(IN, CLAIM, starts=1)) == {"lost"}


def test_a_job_that_went_in_unknown_and_never_ended_is_lost():
    assert broken(history_of(IN, answer=UNKNOWN)) == {"lost"}


def test_a_job_that_completed_twice_is_double_completed():
    history = history_of(IN, CLAIM, DONE, (40, "completed", 1), starts=1, ends=1)

    assert "double-completed" in broken(history)


def test_a_job_that_completed_and_died_is_double_completed():
    history = history_of(IN, CLAIM, DONE, (40, "dead", 1), starts=1, ends=1)

    assert "double-completed" in broken(history)


def test_a_job_that_is_claimed_after_its_end_is_double_completed():
    history = history_of(IN, CLAIM, DONE, (40, "claimed", 2), starts=2, ends=1)

    assert "double-completed" in broken(history)


def test_a_second_claim_while_the_first_is_held_is_an_overlap():
    history = history_of(IN, CLAIM, (25, "claimed", 2), (30, "completed", 2), starts=2, ends=2)

    assert broken(history) == {"overlap"}


def test_a_job_taken_back_before_its_lease_was_over_is_an_overlap():
    history = history_of(
        IN,
        CLAIM,
        (20 + LEASE_MS - 1, "recovered", 1),
        (2_030, "claimed", 2),
        (2_040, "completed", 2),
        starts=2,
        ends=1,
    )

    assert broken(history) == {"overlap"}


def test_a_finish_of_an_attempt_that_counts_no_more_is_an_overlap():
    history = history_of(
        IN,
        CLAIM,
        (2_020, "recovered", 1),
        (2_030, "claimed", 2),
        (2_040, "completed", 1),
        starts=2,
        ends=1,
    )

    assert broken(history) == {"overlap"}


def test_two_runs_under_one_claim_are_an_overlap():
    assert broken(history_of(IN, CLAIM, DONE, starts=2, ends=2)) == {"overlap"}


def test_a_delayed_job_that_is_claimed_before_its_time_is_early():
    late = ((10, "scheduled", 0), (110, "promoted", 0), (110, "claimed", 1), (120, "completed", 1))
    soon = ((10, "scheduled", 0), (109, "claimed", 1), (120, "completed", 1))

    assert not broken(history_of(*late, delay_ms=100, starts=1, ends=1))
    assert broken(history_of(*soon, delay_ms=100, starts=1, ends=1)) == {"early"}


def test_a_retry_before_the_backoff_is_over_is_early():
    history = history_of(
        IN,
        CLAIM,
        (30, "scheduled", 1),
        (229, "promoted", 1),
        (230, "claimed", 2),
        (240, "completed", 2),
        kind="f",
        starts=2,
        ends=1,
    )

    assert broken(history) == {"early"}


def test_a_refused_job_that_went_in_all_the_same_is_unexpected():
    history = history_of(IN, CLAIM, DONE, answer=REFUSED, starts=1, ends=1)

    assert broken(history) == {"unexpected"}


def test_a_job_that_went_in_twice_is_unexpected():
    history = history_of(IN, IN, CLAIM, DONE, starts=1, ends=1)

    assert broken(history) == {"unexpected"}


def test_a_job_that_completed_without_a_run_is_unexpected():
    assert broken(history_of(IN, CLAIM, DONE)) == {"unexpected"}


@pytest.mark.parametrize("event", [None, "claimed"])
def test_a_job_that_nobody_enqueued_is_unexpected(event: str | None):
    history = History(LEASE_MS)

    if event is None:
        history.started("JOB00000000009")
    else:
        history.event(10, event, "JOB00000000009", 1)

    assert "unexpected" in broken(history)


def test_a_job_that_cannot_work_is_to_be_dead_and_no_other():
    died = (30, "dead", 1)

    assert not broken(history_of(IN, CLAIM, died, kind="d", starts=1))
    assert broken(history_of(IN, CLAIM, died, kind="q", starts=1)) == {"wrong-end"}
    assert broken(history_of(IN, CLAIM, DONE, kind="d", starts=1, ends=1)) == {"wrong-end"}


def test_an_event_that_the_harness_does_not_know_is_told():
    assert "unexpected" in broken(history_of(IN, CLAIM, (25, "melted", 1), DONE, starts=1, ends=1))


def test_the_first_cases_of_a_broken_law_are_told_in_words():
    history = history_of(IN)

    (told,) = history.examples["lost"]
    assert JOB in told
    assert "answer ok" in told
