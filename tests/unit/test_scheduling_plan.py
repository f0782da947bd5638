from datetime import UTC, datetime, timedelta

import pytest

from echomq_worker.domain.scheduling.plan import (
    COUNTED,
    Plan,
    first_next,
    plan_firing,
    upcoming,
    wake_ms,
)
from echomq_worker.domain.scheduling.spec import SchedulerSpec
from tests.unit.scheduling_fakes import DAY, HOUR, MINUTE, START, spec


def at(ms: int) -> datetime:
    return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=ms)


def plan(made: SchedulerSpec, late_ms: int, *, count: int = 0, held_ms: int | None = None) -> Plan:
    """What is fired by a worker that looks `late_ms` after the occurrence of new year."""
    return plan_firing(made, next_ms=START, now_ms=START + late_ms, count=count, held_ms=held_ms)


# --- the first instant ------------------------------------------------------------------------


def test_a_new_scheduler_fires_at_the_next_instant_of_its_rule():
    assert first_next(spec(), now_ms=START + 1, last_ms=None) == START + MINUTE
    assert first_next(spec(), now_ms=START, last_ms=None) == START + MINUTE


def test_it_waits_for_its_start_and_may_fire_at_the_very_start():
    later = spec(cron="0 * * * *", start=at(START + 5 * HOUR))
    assert first_next(later, now_ms=START, last_ms=None) == START + 5 * HOUR
    assert first_next(later, now_ms=START + 9 * HOUR, last_ms=None) == START + 10 * HOUR


def test_it_has_none_after_its_end_and_one_at_its_very_end():
    ending = spec(every="1h", end=at(START + 2 * HOUR))
    assert first_next(ending, now_ms=START + HOUR, last_ms=None) == START + 2 * HOUR
    assert first_next(ending, now_ms=START + 2 * HOUR, last_ms=None) is None


def test_immediately_is_now_but_only_for_one_that_has_never_fired():
    eager = spec(every="1h", immediately=True, end=at(START + 9 * HOUR))
    assert first_next(eager, now_ms=START + 7, last_ms=None) == START + 7
    assert first_next(eager, now_ms=START + 7, last_ms=START) == START + HOUR
    assert first_next(eager, now_ms=START + 10 * HOUR, last_ms=None) is None


def test_a_changed_rule_does_not_fire_what_was_fired_already():
    assert first_next(spec(), now_ms=START, last_ms=START + MINUTE) == START + 2 * MINUTE


# --- on time ----------------------------------------------------------------------------------


def test_an_occurrence_is_fired_and_the_next_follows_from_it_not_from_now():
    assert plan(spec(), 700) == Plan((START,), 0, START + MINUTE, START + MINUTE)


def test_nothing_is_fired_before_its_time():
    assert plan(spec(), -1) == Plan((), 0, START, START)


def test_a_first_occurrence_beside_the_grid_leads_back_to_it():
    now = START + 7
    planned = plan_firing(spec(every="1h", immediately=True), next_ms=now, now_ms=now, count=0)
    assert planned == Plan((now,), 0, START + HOUR, START + HOUR)


# --- missed occurrences -----------------------------------------------------------------------


def test_latest_makes_up_for_the_newest_and_counts_the_others():
    assert plan(spec(), 10 * MINUTE + 5) == Plan(
        (START + 10 * MINUTE,), 10, START + 11 * MINUTE, START + 11 * MINUTE
    )


def test_latest_with_a_bound_drops_what_is_older():
    bounded = spec(every="1h", misfire="latest(within=10m)")
    assert plan(bounded, HOUR + 10 * MINUTE).occurrences == (START + HOUR,)
    assert plan(bounded, HOUR + 11 * MINUTE) == Plan((), 2, START + 2 * HOUR, START + 2 * HOUR)


def test_none_fires_what_is_hardly_late_and_drops_the_rest():
    strict = spec(every="1h", misfire="none")
    assert plan(strict, MINUTE).occurrences == (START,)
    assert plan(strict, MINUTE + 1) == Plan((), 1, START + HOUR, START + HOUR)
    assert plan(strict, 5 * HOUR + 3).occurrences == (START + 5 * HOUR,)
    assert plan(spec(every="1h", misfire="none(within=5m)"), 5 * MINUTE).occurrences == (START,)


def test_all_makes_up_for_the_newest_few_from_the_oldest_on():
    replaying = spec(every="1h", misfire="all(max=3)")
    assert plan(replaying, 7 * HOUR + 5) == Plan(
        (START + 5 * HOUR, START + 6 * HOUR, START + 7 * HOUR),
        5,
        START + 8 * HOUR,
        START + 8 * HOUR,
    )
    assert plan(replaying, HOUR).occurrences == (START, START + HOUR)


def test_all_with_a_bound_drops_what_is_older():
    bounded = spec(every="1h", misfire="all(within=90m)")
    assert plan(bounded, 7 * HOUR).occurrences == (START + 6 * HOUR, START + 7 * HOUR)


# --- limits and ends --------------------------------------------------------------------------


def test_a_limit_counts_jobs_and_ends_the_scheduler_with_the_last():
    limited = spec(limit=3)
    assert plan(limited, 0, count=1).ended == ""
    assert plan(limited, 0, count=2) == Plan((START,), 0, None, None, "limit")
    assert plan(limited, 0, count=3) == Plan((), 0, None, None, "limit")


def test_a_limit_cuts_what_is_made_up_for_from_its_end():
    limited = spec(every="1h", misfire="all", limit=2)
    assert plan(limited, 5 * HOUR).occurrences == (START, START + HOUR)


@pytest.mark.parametrize("overlap", ["skip", "queue-one"])
def test_where_an_occurrence_may_make_no_job_the_limit_is_seen_at_the_next_look(overlap: str):
    limited = spec(limit=1, overlap=overlap)
    assert plan(limited, 0) == Plan((START,), 0, START + MINUTE, START + MINUTE)
    assert plan(limited, 0, count=1).ended == "limit"
    many = spec(limit=2, overlap=overlap, misfire="all")
    assert len(plan(many, 2 * MINUTE, count=1).occurrences) == 3


def test_nothing_is_fired_after_the_end_however_late_one_looks():
    ending = spec(every="1h", end=at(START + 2 * HOUR + 5))
    assert plan(ending, HOUR).ended == ""
    assert plan(ending, 50 * HOUR) == Plan((START + 2 * HOUR,), 2, None, None, "end")
    assert plan(spec(every="1h", end=at(START - 1)), 0) == Plan((), 0, None, None, "end")


def test_ids_end_in_2093_and_so_does_everything():
    yearly = spec(cron="0 0 1 1 *")
    assert upcoming(yearly, 1_000, after_ms=START)[-1] == 3_881_606_400_000
    assert plan_firing(yearly, next_ms=START, now_ms=4 * 10**12, count=0).ended == "end"


# --- held back --------------------------------------------------------------------------------


def test_a_held_occurrence_is_fired_first_and_leaves_the_rule_alone():
    single = spec(overlap="queue-one")
    held = START - MINUTE
    assert plan(single, -5, held_ms=held) == Plan((held,), 0, START, START)
    assert plan(single, 5, held_ms=held).occurrences == (held, START)


def test_a_held_occurrence_outlives_the_end_of_the_rule():
    single = spec(overlap="queue-one")
    planned = plan_firing(single, next_ms=None, now_ms=START, count=0, held_ms=START - 5)
    assert planned == Plan((START - 5,), 0, None, None, "end")


def test_a_held_occurrence_counts_in_the_limit():
    single = spec(limit=1)
    assert plan(single, 5, held_ms=START - MINUTE).occurrences == (START - MINUTE,)


# --- jitter -----------------------------------------------------------------------------------


def test_jitter_is_drawn_from_name_and_instant_and_is_the_same_for_everybody():
    made = spec(every="1h", jitter="10m")
    drawn = [wake_ms(made, START + hour * HOUR) - START - hour * HOUR for hour in range(50)]
    assert drawn[:3] == [wake_ms(made, START) - START, *drawn[1:3]]
    assert all(0 <= late <= 10 * MINUTE for late in drawn)
    assert len(set(drawn)) > 45
    other = wake_ms(spec("weekly", every="1h", jitter="10m"), START)
    assert other != wake_ms(made, START)


def test_the_draw_of_jitter_never_changes_between_versions():
    assert wake_ms(spec(every="1h", jitter="10m"), START) - START == 558_691


def test_lateness_counts_from_the_drawn_moment():
    made = spec(every="1h", jitter="50m", misfire="none")
    wake = wake_ms(made, START)
    assert plan(made, wake - START - 1) == Plan((), 0, START, wake)
    assert plan(made, wake - START + MINUTE).occurrences == (START,)


# --- bounds of time ---------------------------------------------------------------------------


class Counting:
    """A rule that counts how often it is asked."""

    def __init__(self, made: SchedulerSpec) -> None:
        self.rule = made.rule
        self.asked = 0

    def next_ms(self, after_ms: int) -> int | None:
        self.asked += 1
        return self.rule.next_ms(after_ms)

    def describe(self) -> str:
        return self.rule.describe()


@pytest.mark.parametrize(
    "cron", ["* * * * * *", "* * * * *", "0 9 * * MON-FRI", "0 0 29 2 *", "* * * * 1 *"]
)
@pytest.mark.parametrize("misfire", ["latest", "none", "all(max=100)"])
def test_years_of_absence_cost_a_bounded_number_of_questions(cron: str, misfire: str):
    made = spec(cron=cron, tz="Europe/Berlin", misfire=misfire)
    rule = Counting(made)
    object.__setattr__(made, "rule", rule)
    first = first_next(made, now_ms=START, last_ms=None)
    planned = plan_firing(made, next_ms=first, now_ms=START + 20 * 365 * DAY, count=0)
    assert planned.missed <= COUNTED
    assert rule.asked < 6_000


def test_missed_occurrences_of_an_interval_are_counted_however_many():
    planned = plan(spec(every=0.1), 10 * 365 * DAY)
    assert planned.missed == 10 * 365 * DAY // 100


# --- what comes -------------------------------------------------------------------------------


def test_what_comes_ends_with_the_end_and_with_the_limit():
    ending = spec(every="1h", end=at(START + 2 * HOUR))
    assert upcoming(ending, 10, after_ms=START) == [START + HOUR, START + 2 * HOUR]
    assert len(upcoming(spec(limit=5), 10, after_ms=START)) == 5
    assert len(upcoming(spec(limit=5), 10, after_ms=START, count=4)) == 1
    assert upcoming(spec(limit=5), 10, after_ms=START, count=9) == []
    assert upcoming(spec(), 0, after_ms=START) == []


def test_what_comes_begins_with_the_start():
    starting = spec(cron="0 0 * * *", start=at(START + 3 * DAY))
    assert upcoming(starting, 2, after_ms=START) == [START + 3 * DAY, START + 4 * DAY]
