"""What a worker does for schedulers at its start: declare those of the code, and mind zone data."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from structlog.testing import capture_logs

from echomq_worker.domain.cron import CronRule, cron_rule
from echomq_worker.domain.scheduling.declared import DeclaredScheduler
from echomq_worker.domain.scheduling.records import PutVerdict
from echomq_worker.domain.scheduling.spec import SchedulerSpec, scheduler_spec
from echomq_worker.domain.scheduling.template import Template
from echomq_worker.errors import OutOfMemoryError, UnavailableError, WrongTypeError
from tests.fakes import NOW_MS, settled
from tests.unit.worker_rig import Rig, stamping
from tests.unit.worker_schedules import Stored, every

HOUR_MS = 3_600_000
BERLIN = "Europe/Berlin"


def cron(expression: str, name: str = "nightly", **options: Any) -> SchedulerSpec:
    return scheduler_spec(name, template=Template(name="work"), cron=expression, **options)


def declaring(rig: Rig, *specs: SchedulerSpec, queue: str = "default") -> None:
    rig.scheduled += (DeclaredScheduler(queue, spec) for spec in specs)


def events(logs: list[Any], prefix: str = "schedule") -> list[str]:
    return [line["event"] for line in logs if line["event"].startswith(prefix)]


async def test_the_schedulers_of_the_code_are_declared_before_the_first_claim():
    rig = Rig()
    declaring(rig, every(HOUR_MS, "one"), every(HOUR_MS, "two"))
    declaring(rig, every(HOUR_MS, "elsewhere"), queue="other")
    put_before: list[list[str]] = []
    original = rig.queue.beat

    async def beat(**args: Any) -> Any:
        put_before.append(rig.queue.schedulers.kinds())
        return await original(**args)

    rig.queue.beat = beat
    with capture_logs() as logs:
        async with rig.running():
            await settled()
    assert put_before[0][:2] == ["put", "put"]
    assert list(rig.queue.schedulers.stored) == ["one", "two"]
    created = [line for line in logs if line["event"] == "schedule.created"]
    assert [(line["scheduler"], line["queue"]) for line in created] == [
        ("one", "default"),
        ("two", "default"),
    ]
    assert created[0]["rule"].startswith("every 1h")


async def test_a_server_that_does_not_answer_delays_no_start_and_is_asked_again():
    rig = Rig()
    declaring(rig, every(500))
    started = stamping(rig)
    rig.queue.schedulers.failing = [UnavailableError("gone")] * 3
    async with rig.running():
        await settled()
        assert rig.ready == 1
        await rig.clock.advance(2_000)
        assert started == [500, 1_000, 1_500, 2_000]


async def test_a_server_that_hangs_delays_the_start_by_two_seconds_and_no_more():
    rig = Rig()
    declaring(rig, every(500))
    original, hangs = rig.queue.schedulers.put, [True]

    async def put(spec: SchedulerSpec, **args: Any) -> PutVerdict:
        if hangs:
            hangs.pop()
            await asyncio.Event().wait()
        return await original(spec, **args)

    rig.queue.schedulers.put = put
    async with rig.running():
        await rig.clock.advance(1_999)
        assert rig.ready == 0
        await rig.clock.advance(1)
        assert rig.ready == 1
        assert list(rig.queue.schedulers.stored) == ["tick"]


async def test_who_is_stopped_while_the_server_hangs_ends_at_once():
    rig = Rig()
    declaring(rig, every(500))

    async def put(spec: SchedulerSpec, **args: Any) -> PutVerdict:
        await asyncio.Event().wait()
        raise AssertionError(spec, args)

    rig.queue.schedulers.put = put
    async with rig.running():
        await rig.clock.advance(100)
        rig.stop.drain("enough")
        await rig.clock.advance(0)
        assert (await rig.ended()).seconds == 0.0


async def test_a_full_server_is_asked_again_too():
    rig = Rig()
    declaring(rig, every(500))
    rig.queue.schedulers.failing = [OutOfMemoryError("full")] * 2
    async with rig.running():
        await rig.clock.advance(1_000)
        assert list(rig.queue.schedulers.stored) == ["tick"]


async def test_one_that_the_server_refuses_does_not_stop_the_others_and_is_tried_in_an_hour():
    rig = Rig(beat_ms=60_000)
    declaring(rig, every(HOUR_MS, "bad"), every(HOUR_MS, "good"))
    rig.queue.schedulers.failing = [WrongTypeError("a key of another type")]
    with capture_logs() as logs:
        async with rig.running():
            await settled()
            assert list(rig.queue.schedulers.stored) == ["good"]
            await rig.clock.advance(HOUR_MS)
            assert list(rig.queue.schedulers.stored) == ["good", "bad"]
    (line,) = [line for line in logs if line["event"] == "schedule.refused"]
    assert (line["scheduler"], line["error_message"]) == ("bad", "a key of another type")


@pytest.mark.parametrize("refused", [False, True])
async def test_what_is_set_aside_is_declared_anew_at_once(*, refused: bool):
    rig = Rig()
    declaring(rig, every(100, "bad"), every(100, "good"))
    if refused:
        rig.queue.schedulers.add(every(100, "bad"))
        rig.queue.schedulers.failing = [WrongTypeError("foreign")]
    else:
        rig.queue.schedulers.add(every(100, "other"))
    bad = Stored(None, NOW_MS + 50, NOW_MS + 50, problem="foreign", is_corrupt=True)
    async with rig.running():
        await rig.clock.advance(20)
        rig.queue.schedulers.stored["bad"] = bad
        await rig.clock.advance(1_000)
        assert rig.queue.schedulers.aside == {"bad": "foreign"}
        made = [name for name, _, _ in rig.queue.schedulers.made]
        assert min(made.count("bad"), made.count("good")) >= 9
    assert rig.queue.schedulers.kinds().count("put") == (2 if refused else 3)


async def test_declaring_the_same_again_says_nothing():
    rig = Rig()
    rig.queue.schedulers.add(every(HOUR_MS))
    declaring(rig, every(HOUR_MS))
    with capture_logs() as logs:
        async with rig.running():
            await settled()
    assert rig.queue.schedulers.kinds()[0] == "put"
    assert events(logs) == []


async def test_an_older_version_of_the_code_is_told_that_it_changes_nothing():
    rig = Rig()
    rig.queue.schedulers.add(every(500))
    rig.queue.schedulers.stored["tick"].revision = 7
    declaring(rig, replace(every(700), revision=3))
    with capture_logs() as logs:
        async with rig.running():
            await settled()
    (line,) = [line for line in logs if line["event"] == "schedule.not_declared"]
    assert (line["log_level"], line["reason"], line["revision"]) == ("warning", "older", 3)
    assert "ECHOMQ_REVISION" in line["hint"]


async def test_a_rule_that_falls_into_the_next_clock_change_is_warned_of():
    rig = Rig()
    declaring(
        rig,
        cron("30 2 * * *", tz=BERLIN),
        cron("30 12 * * *", "noon", tz=BERLIN),
        cron("30 2 * * *", "utc"),
        every(HOUR_MS),
    )
    with capture_logs() as logs:
        async with rig.running():
            await settled()
    (line,) = [line for line in logs if line["event"] == "schedule.clock_change"]
    assert (line["scheduler"], line["log_level"]) == ("nightly", "warning")
    assert BERLIN in line["effect"]
    assert "2025-10-26" in line["effect"]  # the first after the fake clock's June


def in_berlin(rig: Rig, name: str, *, tz: str, next_ms: int) -> None:
    rig.queue.schedulers.add(cron("0 9 * * *", name, tz=BERLIN), tz=tz, next_ms=next_ms)


async def test_newer_zone_data_compute_the_next_instants_anew():
    rig = Rig()
    wrong_ms = NOW_MS + HOUR_MS
    in_berlin(rig, "stale", tz="2025a", next_ms=wrong_ms)
    in_berlin(rig, "fresh", tz="2026b", next_ms=wrong_ms)
    rig.queue.schedulers.add(cron("0 9 * * *", "utc"), next_ms=wrong_ms)
    rig.queue.schedulers.add(every(HOUR_MS, "interval"))
    with capture_logs() as logs:
        async with rig.running():
            await rig.clock.advance(100)
    stored = rig.queue.schedulers.stored
    rule = cron_rule("0 9 * * *", tz=BERLIN)
    assert isinstance(rule, CronRule)
    assert (stored["stale"].next_ms, stored["stale"].tz) == (rule.next_ms(NOW_MS), "2026b")
    assert stored["stale"].wake_ms == stored["stale"].next_ms
    assert [stored[name].next_ms for name in ("fresh", "utc")] == [wrong_ms, wrong_ms]
    assert rig.queue.schedulers.kinds().count("retime") == 1
    (line,) = [line for line in logs if line["event"] == "schedules.recomputed"]
    assert (line["count"], line["tz_data"]) == (1, "2026b")


async def test_what_has_fired_is_not_fired_again_by_newer_zone_data():
    rig = Rig()
    in_berlin(rig, "stale", tz="2025a", next_ms=NOW_MS + HOUR_MS)
    rule = cron_rule("0 9 * * *", tz=BERLIN)
    last_ms = rule.next_ms(NOW_MS)
    assert last_ms is not None
    rig.queue.schedulers.stored["stale"].last_ms = last_ms
    async with rig.running():
        await rig.clock.advance(100)
    assert rig.queue.schedulers.stored["stale"].next_ms == rule.next_ms(last_ms)


async def test_what_is_due_already_is_left_to_whoever_fires_it():
    rig = Rig()
    rig.queue.watching = False
    in_berlin(rig, "stale", tz="2025a", next_ms=NOW_MS - 5)
    async with rig.running():
        await rig.clock.advance(100)
    assert rig.queue.schedulers.stored["stale"].next_ms == NOW_MS - 5


async def test_a_worker_with_older_zone_data_recomputes_nothing_and_warns_once():
    rig = Rig(beat_ms=60_000)
    rig.workers = {"w2": "2027a", "w3": "2026b"}
    in_berlin(rig, "stale", tz="2025a", next_ms=NOW_MS + 5 * HOUR_MS)
    with capture_logs() as logs:
        async with rig.running():
            await rig.clock.advance(HOUR_MS)
    assert rig.queue.schedulers.kinds() == []
    (line,) = [line for line in logs if line["event"] == "tz_data.differ"]
    assert line["workers"] == {"2026b": 2, "2027a": 1}
    assert (line["own"], line["log_level"]) == ("2026b", "warning")


async def test_of_workers_with_the_same_zone_data_one_looks_through_all_schedulers():
    for others, looks in (({"0": "2026b"}, False), ({"zz": "2026b"}, True), ({"0": ""}, True)):
        rig = Rig(worker_id="m")
        rig.workers = others
        in_berlin(rig, "stale", tz="2025a", next_ms=NOW_MS + HOUR_MS)
        async with rig.running():
            await rig.clock.advance(100)
        assert ("list" in rig.queue.schedulers.kinds()) is looks


async def test_without_zone_data_nothing_is_looked_through():
    rig = Rig()
    rig.zone_data = ""
    rig.queue.schedulers.add(every(HOUR_MS))
    async with rig.running():
        await rig.clock.advance(100)
    assert rig.queue.schedulers.kinds() == []


async def test_a_worker_says_with_each_beat_which_zone_data_it_uses():
    rig = Rig()
    async with rig.running():
        await settled()
    assert rig.queue.presences[0].fields["tz"] == "2026b"


async def test_a_burst_declares_what_it_fires():
    rig = Rig()
    declaring(rig, every(60_000, immediately=True))
    started = stamping(rig)
    async with rig.running(burst=True):
        await rig.clock.advance(5)
        await rig.ended()
    assert started == [0]
