"""What goes wrong when schedulers fire: ids, rows, zone data, answers."""

import pytest
from structlog.testing import capture_logs

from echomq_worker.domain.scheduling.rule import Every
from echomq_worker.errors import OutOfMemoryError, UnavailableError, WrongTypeError
from tests.fakes import NOW_MS
from tests.unit.worker_rig import Rig, stamping
from tests.unit.worker_schedules import every

HOUR_MS = 3_600_000


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


@pytest.mark.parametrize("error", [UnavailableError("gone"), WrongTypeError("foreign")])
async def test_a_corrupt_one_that_cannot_be_moved_does_not_hold_up_the_others(error: Exception):
    rig = Rig()
    stamping(rig)
    for name in ("bad", "good"):
        rig.queue.schedulers.add(every(100, name))
    bad = rig.queue.schedulers.stored["bad"]
    bad.spec, bad.problem, bad.is_corrupt = None, "its every is b'x'", True
    rig.queue.schedulers.aside_fails = error
    with capture_logs() as logs:
        async with rig.running():
            await rig.clock.advance(100)
            assert [name for name, _, _ in rig.queue.schedulers.made] == ["good"]
            if isinstance(error, WrongTypeError):
                await rig.clock.advance(2_900)
                assert len(rig.queue.schedulers.made) == 30
                assert rig.queue.schedulers.kinds().count("set_aside") <= 31
    events = [line["event"] for line in logs]
    assert events.count("schedule.unreadable") == isinstance(error, WrongTypeError)


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


async def test_one_that_the_server_refuses_to_fire_does_not_stop_the_others():
    rig = Rig()
    for name in ("odd", "good", "fine"):
        rig.queue.schedulers.add(every(300, name))
    rig.queue.schedulers.refused = {"odd"}
    with capture_logs() as logs:
        async with rig.running():
            await rig.clock.advance(600)
            assert sorted(name for name, _, _ in rig.queue.schedulers.made) == [
                *("fine", "fine"),
                *("good", "good"),
            ]
    (line,) = [line for line in logs if line["event"] == "schedule.unreadable"]
    assert (line["scheduler"], line["reason"]) == ("odd", "firing is not as expected")


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
