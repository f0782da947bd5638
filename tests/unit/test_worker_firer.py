"""Schedulers fire at their millisecond, by one worker, for the price of one timer."""

from datetime import timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

from echomq_worker.domain.scheduling.spec import SchedulerSpec, scheduler_spec
from echomq_worker.domain.scheduling.template import Template
from echomq_worker.errors import OutOfMemoryError, UnavailableError
from tests.fakes import NOW_MS, settled
from tests.unit.worker_rig import Rig

HOUR_MS = 3_600_000


def every(ms: int, name: str = "tick", **options: Any) -> SchedulerSpec:
    """A scheduler whose grid begins with the fake clock."""
    options.setdefault("offset", timedelta(milliseconds=NOW_MS % ms))
    return scheduler_spec(
        name, template=Template(name="work"), every=timedelta(milliseconds=ms), **options
    )


def stamping(rig: Rig) -> list[int]:
    """Note when each job starts."""
    started: list[int] = []

    async def work() -> None:
        started.append(rig.clock.ms)

    rig.handle(work)
    return started


async def test_an_occurrence_fires_and_its_job_starts_in_its_millisecond():
    rig = Rig()
    started = stamping(rig)
    async with rig.running():
        rig.queue.schedulers.add(every(237))
        await rig.clock.advance(236)
        assert started == []
        await rig.clock.advance(1)
        assert started == [237]
        await rig.clock.advance(2 * 237)
        assert started == [237, 474, 711]


async def test_one_that_is_put_is_on_time_although_the_firer_sleeps_toward_another():
    rig = Rig()
    started = stamping(rig)
    async with rig.running():
        rig.queue.schedulers.add(every(HOUR_MS, "far"))
        await rig.clock.advance(450)
        rig.queue.schedulers.add(every(500, "near"))
        await rig.clock.advance(50)
        assert started == [500]


async def test_schedulers_that_are_far_away_cost_no_call_at_all():
    rig = Rig()
    for number in range(50):
        rig.queue.schedulers.add(every(HOUR_MS, f"s{number}"))
    async with rig.running():
        await rig.clock.advance(100)  # the registrar looks through them at the start
        rig.queue.schedulers.calls.clear()
        before = len(rig.queue.calls)
        await rig.clock.advance(600_000)
        assert rig.queue.schedulers.calls == []
        assert len(rig.queue.calls) - before <= 601


async def test_others_leave_what_is_due_to_the_watcher():
    rig = Rig()
    rig.queue.watching = False
    rig.queue.schedulers.add(every(1_500))
    async with rig.running():
        await rig.clock.advance(3_000)
        assert rig.queue.schedulers.kinds().count("due") == 0


async def test_others_fire_what_has_been_due_for_more_than_two_beats():
    rig = Rig()
    rig.queue.watching = False
    rig.queue.schedulers.add(every(1_500, misfire="all"))
    async with rig.running():
        await rig.clock.advance(3_999)
        assert rig.queue.schedulers.made == []
        await rig.clock.advance(1)
        # What is due for less is the watcher's still, if there is one again.
        assert rig.queue.schedulers.made == [
            ("tick", NOW_MS + 1_500, 4_000),
            ("tick", NOW_MS + 3_000, 4_000),
        ]
        await rig.clock.advance(2_000)
        assert len(rig.queue.schedulers.made) == 2


async def test_whoever_becomes_the_watcher_fires_from_then_on():
    rig = Rig()
    rig.queue.watching = False
    rig.queue.schedulers.add(every(10_300))
    async with rig.running():
        await rig.clock.advance(10_000)
        rig.queue.watching = True
        await rig.clock.advance(1_000)
        assert rig.queue.schedulers.made == [("tick", NOW_MS + 10_300, 11_000)]
        await rig.clock.advance(10_000)
        assert rig.queue.schedulers.made[-1] == ("tick", NOW_MS + 20_600, 20_600)


async def test_more_than_one_call_can_take_is_fired_at_once_all_the_same():
    rig = Rig()
    for number in range(1_201):
        rig.queue.schedulers.add(every(5_000, f"s{number}"))
    async with rig.running():
        await rig.clock.advance(5_000)
        assert len(rig.queue.schedulers.made) == 1_201
        assert {at for _, _, at in rig.queue.schedulers.made} == {5_000}
        assert rig.queue.schedulers.kinds().count("fire") == 3


async def test_what_was_missed_by_many_is_split_into_calls_of_a_thousand_occurrences():
    rig = Rig()
    for number in range(30):
        rig.queue.schedulers.add(
            every(1_000, f"s{number}", misfire="all(max=100)"), next_ms=NOW_MS - 100_000
        )
    async with rig.running():
        await rig.clock.advance(1)
        assert len(rig.queue.schedulers.made) == 3_000
        assert rig.queue.schedulers.kinds().count("fire") == 3


async def test_the_log_tells_of_each_occurrence_and_sums_up_many():
    rig = Rig()
    with capture_logs() as logs:
        async with rig.running():
            rig.queue.schedulers.add(every(2_000), next_ms=NOW_MS - 5_000)
            await rig.clock.advance(1)
            for number in range(25):
                rig.queue.schedulers.add(every(2_000, f"s{number}"))
            await rig.clock.advance(1_999)
    (single,) = [line for line in logs if line["event"] == "schedule.fired"]
    assert (single["queue"], single["scheduler"]) == ("default", "tick")
    assert (single["instant"], single["late"]) == ("2025-06-15T15:06:40.000+00:00", 0.0)
    (many,) = [line for line in logs if line["event"] == "schedules.fired"]
    assert (many["count"], many["latest"]) == (26, 0.0)
    assert len(many["schedulers"]) == 20


async def test_the_lateness_counts_from_when_it_was_to_fire():
    rig = Rig()
    rig.queue.schedulers.add(every(60_000, misfire="latest"), next_ms=NOW_MS - 90_000)
    with capture_logs() as logs:
        async with rig.running():
            await settled()
    (line,) = [line for line in logs if line["event"] == "schedule.fired"]
    assert line["late"] == 0.0  # the newest instant is now; the one before was missed

    rig = Rig()
    rig.queue.schedulers.add(every(60_000, offset="0s"), next_ms=NOW_MS - 40_000)
    with capture_logs() as logs:
        async with rig.running():
            await settled()
    (line,) = [line for line in logs if line["event"] == "schedule.fired"]
    assert line["late"] == 40.0
    assert rig.parts.stats.fired == 1
    assert "1 fired" in str(rig.parts.stats)


async def test_an_id_that_is_taken_is_minted_anew():
    rig = Rig()
    started = stamping(rig)
    rig.queue.schedulers.taken_ids = 2
    async with rig.running():
        rig.queue.schedulers.add(every(100))
        await rig.clock.advance(100)
        assert started == [100]


async def test_ids_that_are_taken_again_and_again_make_no_hot_loop():
    rig = Rig()
    rig.queue.schedulers.taken_ids = 1_000
    async with rig.running():
        rig.queue.schedulers.add(every(100))
        await rig.clock.advance(5_000)
        assert rig.queue.schedulers.kinds().count("fire") <= 18
        rig.queue.schedulers.taken_ids = 0
        await rig.clock.advance(1_000)
        assert rig.queue.schedulers.made


async def test_a_corrupt_one_is_moved_aside_and_the_others_fire():
    rig = Rig()
    for name in ("bad", "good"):
        rig.queue.schedulers.add(every(100, name))
    bad = rig.queue.schedulers.stored["bad"]
    bad.spec, bad.problem, bad.is_corrupt = None, "its every is b'x'", True
    with capture_logs() as logs:
        async with rig.running():
            await rig.clock.advance(100)
            assert [name for name, _, _ in rig.queue.schedulers.made] == ["good"]
            assert rig.queue.schedulers.aside == {"bad": "its every is b'x'"}
    (line,) = [line for line in logs if line["event"] == "schedule.set_aside"]
    assert (line["scheduler"], line["reason"]) == ("bad", "its every is b'x'")


async def test_one_with_a_zone_that_is_not_known_here_stays_for_others_and_is_told_once():
    rig = Rig()
    for name in ("odd", "good"):
        rig.queue.schedulers.add(every(100, name))
    odd = rig.queue.schedulers.stored["odd"]
    odd.spec, odd.problem = None, "'Mars/Olympus' is no time zone"
    with capture_logs() as logs:
        async with rig.running():
            await rig.clock.advance(10_000)
            assert len(rig.queue.schedulers.made) == 100
            assert rig.queue.schedulers.aside == {}
    assert [line["event"] for line in logs].count("schedule.unreadable") == 1


async def test_one_whose_rule_fails_here_does_not_stop_the_others(
    monkeypatch: pytest.MonkeyPatch,
):
    from echomq_worker.domain.scheduling.rule import Every  # noqa: PLC0415 - next to its use

    rig = Rig()
    for name, ms in (("odd", 200), ("good", 300)):
        rig.queue.schedulers.add(every(ms, name))
    original = Every.next_ms

    def failing(rule: Every, after_ms: int) -> int | None:
        if rule.period_ms == 200:
            raise ZeroDivisionError
        return original(rule, after_ms)

    monkeypatch.setattr(Every, "next_ms", failing)
    async with rig.running():
        await rig.clock.advance(600)
        assert [name for name, _, _ in rig.queue.schedulers.made] == ["good", "good"]


async def test_one_that_newer_zone_data_has_timed_is_left_to_workers_that_have_them():
    rig = Rig()
    rig.zone_data = "2026a"
    rig.queue.schedulers.add(every(HOUR_MS), tz="2026b", next_ms=NOW_MS + 700)
    async with rig.running():
        await rig.clock.advance(5_000)
        assert rig.queue.schedulers.made == []
        assert rig.queue.schedulers.kinds().count("due") <= 6
        await rig.clock.advance(2_000)
        assert [at for _, _, at in rig.queue.schedulers.made] == [5_700]


async def test_what_is_left_does_not_delay_the_others():
    rig = Rig()
    rig.zone_data = "2026a"
    rig.queue.schedulers.add(every(HOUR_MS, "left"), tz="2026b", next_ms=NOW_MS + 700)
    rig.queue.schedulers.add(every(250, "other"))
    async with rig.running():
        await rig.clock.advance(2_000)
        made = [(name, at) for name, _, at in rig.queue.schedulers.made]
        assert made == [("other", at) for at in range(250, 2_001, 250)]


async def test_same_and_older_zone_data_are_no_reason_to_leave_it():
    for told in ("2026b", "2025a", ""):
        rig = Rig()
        rig.queue.schedulers.add(every(HOUR_MS), tz=told, next_ms=NOW_MS + 700)
        async with rig.running():
            await rig.clock.advance(700)
            assert len(rig.queue.schedulers.made) == 1


async def test_a_firing_that_goes_unanswered_is_asked_again_and_makes_no_second_job():
    rig = Rig()
    started = stamping(rig)
    rig.queue.schedulers.unanswered = [UnavailableError("cut"), UnavailableError("cut")]
    async with rig.running():
        rig.queue.schedulers.add(every(100))
        await rig.clock.advance(399)
        assert [instant - NOW_MS for _, instant, _ in rig.queue.schedulers.made] == [100, 200, 300]
        await rig.clock.advance(1_000)
        assert len(started) == len(rig.queue.schedulers.made)


async def test_while_the_server_is_away_it_waits_and_then_goes_on():
    rig = Rig()
    stamping(rig)
    async with rig.running():
        rig.queue.schedulers.add(every(1_000))
        await rig.clock.advance(1_000)
        rig.queue.schedulers.failing = [UnavailableError("gone")] * 8
        await rig.clock.advance(2_000)
        assert 2 <= 8 - len(rig.queue.schedulers.failing) < 8, "it asks now and then"
        await rig.clock.advance(10_000)
        assert len(rig.queue.schedulers.made) >= 9
        assert not rig.stop.draining.is_set()


async def test_a_full_server_is_asked_again():
    rig = Rig()
    rig.queue.schedulers.failing = [None, OutOfMemoryError("full"), OutOfMemoryError("full")]
    async with rig.running():
        rig.queue.schedulers.add(every(1_000))
        await rig.clock.advance(1_900)
        assert [at for _, _, at in rig.queue.schedulers.made] == [1_150]


async def test_it_stops_when_the_worker_drains():
    rig = Rig()
    async with rig.running():
        rig.queue.schedulers.add(every(100))
        await rig.clock.advance(100)
        rig.stop.drain("enough")
        await rig.clock.advance(3_000)
        assert len(rig.queue.schedulers.made) == 1


async def test_what_is_put_while_it_fires_is_fired_on_time():
    rig = Rig()
    stamping(rig)
    schedulers = rig.queue.schedulers

    async def slow() -> None:
        schedulers.on_fire = None
        schedulers.add(every(650, "near"))
        await rig.clock.sleep_ms(300)

    async with rig.running():
        schedulers.add(every(500, "first"))
        schedulers.on_fire = slow
        await rig.clock.advance(850)
        assert [(name, at) for name, _, at in schedulers.made] == [("first", 800), ("near", 800)]
