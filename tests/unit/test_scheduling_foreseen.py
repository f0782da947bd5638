"""What a scheduler will do: its next instants, as it stands."""

from typing import Any

from echomq_worker.domain.scheduling.foreseen import foreseen, zone_of
from echomq_worker.domain.scheduling.records import SchedulerState, SchedulerView
from echomq_worker.domain.scheduling.spec import SchedulerSpec, scheduler_spec
from echomq_worker.domain.scheduling.template import Template

HOUR = 3_600_000
NOW = 1_800_000_000_000  # a full hour


def spec(**said: Any) -> SchedulerSpec:
    told: dict[str, Any] = {"every": "1h"} | said
    return scheduler_spec("s", template=Template(name="x"), **told)


def view(said: SchedulerSpec | None, **standing: Any) -> SchedulerView:
    known: dict[str, Any] = {"state": SchedulerState.WAITING, "next_ms": NOW + HOUR}
    return SchedulerView(name="s", spec=said, **(known | standing))


def test_the_next_instant_is_the_one_that_is_stored_and_the_rule_goes_on_from_there():
    off_the_grid = NOW + HOUR + 5
    found = foreseen(view(spec(), next_ms=off_the_grid), 3, now_ms=NOW)
    assert found == [off_the_grid, NOW + 2 * HOUR, NOW + 3 * HOUR]


def test_what_is_due_and_was_not_fired_yet_comes_first():
    assert foreseen(view(spec(), next_ms=NOW - HOUR), 2, now_ms=NOW) == [NOW - HOUR, NOW]


def test_a_limit_counts_what_was_made():
    assert len(foreseen(view(spec(limit=5), count=3), 9, now_ms=NOW)) == 2
    assert len(foreseen(view(spec(limit=5), count=4), 9, now_ms=NOW)) == 1


def test_one_that_has_ended_or_cannot_be_read_does_nothing():
    ended = view(spec(), state=SchedulerState.ENDED, ended="limit", next_ms=None)
    assert foreseen(ended, 3, now_ms=NOW) == []
    paused = view(spec(), state=SchedulerState.PAUSED, ended="end", next_ms=None)
    assert foreseen(paused, 3, now_ms=NOW) == []
    assert foreseen(view(None), 3, now_ms=NOW) == []


def test_a_paused_one_tells_what_would_come_if_it_were_resumed_now():
    paused = view(spec(), state=SchedulerState.PAUSED, next_ms=NOW - 9 * HOUR, last_ms=NOW + 5)
    assert foreseen(paused, 2, now_ms=NOW) == [NOW + HOUR, NOW + 2 * HOUR]


def test_a_rule_is_read_in_its_own_zone_and_an_interval_in_utc():
    assert str(zone_of(spec().rule)) == "UTC"
    assert str(zone_of(spec(every=None, cron="@daily", tz="Asia/Tokyo").rule)) == "Asia/Tokyo"
