"""What other queues got wrong about time, decided here without a server."""

import pytest

from tests.unit.scheduling_fakes import DAY, HOUR, MINUTE, SECOND, START, Kept, spec


@pytest.mark.case("MIS-02")
def test_a_run_that_was_missed_while_nobody_was_there_is_made_up_for_once():
    daily = Kept.put(spec(cron="0 9 * * *"), START)
    back = START + 2 * DAY + 12 * HOUR
    made = [daily.look(back + later * MINUTE) for later in range(60)]
    assert made[0] == (START + 2 * DAY + 9 * HOUR,)
    assert not any(made[1:])
    assert daily.missed == 2


@pytest.mark.case("MIS-03")
def test_a_weekly_job_runs_also_where_the_workers_restart_every_hour():
    weekly = Kept.put(spec(every="7d"), START)
    for hour in range(1, 30 * 24 + 1):
        # A restart declares the same again, which changes nothing; were the rule a new one, its
        # grid would be the same.
        again = Kept.put(spec(every="7d"), START + hour * HOUR - 1)
        assert again.next_ms == weekly.next_ms
        weekly.look(START + hour * HOUR)
    assert len(weekly.made) == 4
    assert [
        later - earlier for earlier, later in zip(weekly.made, weekly.made[1:], strict=False)
    ] == [7 * DAY] * 3


@pytest.mark.case("MIS-05")
@pytest.mark.parametrize(
    ("misfire", "most"), [("latest", 1), ("none", 1), ("all", 10), ("all(max=3)", 3)]
)
def test_after_a_long_stop_no_more_runs_come_than_were_asked_for(misfire: str, most: int):
    every_minute = Kept.put(spec(misfire=misfire), START)
    back = START + DAY
    made = every_minute.look(back + 500)
    assert len(made) == most
    assert made[-1] == back
    assert every_minute.missed == DAY // MINUTE - most
    assert every_minute.look(back + 501) == ()
    assert every_minute.look(back + MINUTE) == (back + MINUTE,)


@pytest.mark.case("MIS-06")
def test_slow_work_does_not_let_the_times_creep():
    every_ten = Kept.put(spec(every="10s"), START)
    now = START
    while len(every_ten.made) < 1_000:
        assert every_ten.wake_ms is not None
        now = max(now, every_ten.wake_ms) + 300
        every_ten.look(now)
    assert every_ten.made == [START + n * 10 * SECOND for n in range(1, 1_001)]
    assert every_ten.missed == 0


@pytest.mark.case("SDU-07")
def test_whoever_looks_twice_a_minute_fires_a_job_of_every_minute_once():
    every_minute = Kept.put(spec(cron="* * * * *"), START)
    for poll in range(1, DAY // (30 * SECOND) + 1):
        every_minute.look(START + poll * 30 * SECOND)
    assert every_minute.made == [START + n * MINUTE for n in range(1, 1_441)]


def test_of_two_workers_with_one_decision_only_the_first_fires():
    every_minute = Kept.put(spec(), START)
    due = START + MINUTE
    first, second = every_minute.plan(due), every_minute.plan(due + 40)
    assert first is not None
    assert second is not None
    assert every_minute.fire(due, first)
    assert not every_minute.fire(due, second)
    assert every_minute.made == [due]
