"""Schedulers fire at their millisecond, by one worker, for the price of one timer."""

from structlog.testing import capture_logs

from tests.fakes import NOW_MS, settled
from tests.unit.worker_rig import Rig, stamping
from tests.unit.worker_schedules import every

HOUR_MS = 3_600_000


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
