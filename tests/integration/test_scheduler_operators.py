"""What is done to schedulers: pause, resume, trigger, retime, remove, set aside."""

import pytest

from echomq_worker.domain.outcome import Completed
from echomq_worker.domain.scheduling.records import PutVerdict, SchedulerState, Whole
from echomq_worker.domain.scheduling.template import Template
from echomq_worker.errors import CorruptSchedulerError, UnknownZoneError
from echomq_worker.store.line import Line
from tests.support.jobs import A, claim_one, settle
from tests.support.look import Look
from tests.support.schedulers import FIRED, HELD, PERIOD_MS, Timetable, cron, every


async def test_a_pause_says_why_by_whom_and_since_when(times: Timetable, look: Look):
    await times.put(every())
    before_ms = await times.store.now_ms()
    assert await times.store.pause("s1", reason="deploy", by="ann")

    paused = (await times.view()).paused
    assert paused is not None
    assert (paused.reason, paused.by) == ("deploy", "ann")
    assert paused.since_ms is not None
    assert before_ms <= paused.since_ms <= await times.store.now_ms()
    assert await look.do("ZSCORE", look.keys.schedulers, "s1") == b"inf"


async def test_a_paused_scheduler_is_never_due(times: Timetable):
    await times.put(every())
    await times.make_due()
    await times.store.pause("s1")

    assert (await times.due()).schedulers == ()


async def test_a_paused_scheduler_that_wakes_nevertheless_is_put_to_rest(
    times: Timetable, look: Look
):
    await times.put(every())
    instant = await times.make_due()
    await times.store.pause("s1")
    await look.do("ZADD", look.keys.schedulers, instant, "s1")

    assert [fired.whole for fired in await times.fire_due()] == [Whole.TAKEN]
    assert (await times.due()).schedulers == ()
    assert (await times.view()).next_ms == instant
    assert await times.jobs() == []


async def test_it_is_known_since_when_a_rule_counts(times: Timetable):
    before_ms = await times.store.now_ms()
    await times.put(every())
    declared = await times.view()
    assert before_ms <= (declared.since_ms or 0) <= await times.store.now_ms()
    await times.put(every(limit=None, overlap="skip"))
    assert (await times.view()).since_ms == declared.since_ms

    await times.store.pause("s1")
    resumed_ms = await times.store.now_ms()
    await times.store.resume("s1")
    assert ((await times.view()).since_ms or 0) >= resumed_ms
    await times.make_due()
    assert (await times.due_one()).since_ms == (await times.view()).since_ms


async def test_the_newest_reason_stands_and_a_pause_without_one_leaves_it(times: Timetable):
    await times.put(every())
    await times.store.pause("s1", reason="deploy", by="ann")
    await times.store.pause("s1")

    paused = (await times.view()).paused
    assert paused is not None
    assert (paused.reason, paused.by) == ("deploy", "ann")

    await times.store.pause("s1", reason="an incident")

    paused = (await times.view()).paused
    assert paused is not None
    assert (paused.reason, paused.by) == ("an incident", None)


async def test_a_long_reason_is_cut(times: Timetable):
    await times.put(every())
    await times.store.pause("s1", reason="x" * 600, by="y" * 300)

    paused = (await times.view()).paused
    assert paused is not None
    assert (len(paused.reason or ""), len(paused.by or "")) == (500, 200)


async def test_resuming_goes_on_from_now_and_leaves_no_trace(times: Timetable, look: Look):
    await times.put(every())
    await times.make_due(periods=5)
    await times.store.pause("s1", reason="deploy", by="ann")
    await look.do("DEL", look.keys.clock)
    assert await times.store.resume("s1")

    view = await times.view()
    now_ms = await times.store.now_ms()
    assert view.next_ms is not None
    assert now_ms < view.next_ms <= now_ms + PERIOD_MS
    assert (view.state, view.wake_ms) == (SchedulerState.WAITING, view.next_ms)
    assert (view.count, view.missed) == (0, 0)
    stored = await look.hash(look.keys.scheduler("s1"))
    assert not [field for field in stored if field.startswith("paused")]
    assert await look.do("LLEN", look.keys.clock) == 1


async def test_resuming_what_is_not_paused_changes_nothing(times: Timetable, look: Look):
    await times.put(every())
    instant = await times.make_due()

    assert await times.store.resume("s1")
    assert (await times.due_one()).next_ms == instant


async def test_resuming_an_ended_scheduler_does_not_revive_it(times: Timetable):
    await times.put(every(limit=1))
    await times.make_due()
    await times.fire_due()
    await times.store.pause("s1")
    assert await times.store.resume("s1")

    view = await times.view()
    assert (view.state, view.ended) == (SchedulerState.ENDED, "limit")


async def test_what_was_kept_back_fires_after_a_pause(times: Timetable, line: Line):
    await times.put(every(overlap="queue-one"))
    await times.make_due()
    await times.fire_due()
    await times.make_due()
    assert await times.fire_one() == [HELD]
    await times.store.pause("s1")
    await settle(line, await claim_one(line), Completed())
    assert (await times.due()).schedulers == ()

    await times.store.resume("s1")
    assert await times.fire_one() == [FIRED]


async def test_one_that_cannot_be_read_is_not_resumed(times: Timetable, look: Look):
    await times.put(every("s1"))
    await times.put(cron("0 9 * * *", "s2", tz="Europe/Berlin"))
    for name in ("s1", "s2"):
        await times.store.pause(name)
    await look.do("HSET", look.keys.scheduler("s1"), "every", "x")
    await look.do("HSET", look.keys.scheduler("s2"), "zone", "Europe/Atlantis")

    with pytest.raises(CorruptSchedulerError, match="every"):
        await times.store.resume("s1")
    with pytest.raises(UnknownZoneError, match="Atlantis"):
        await times.store.resume("s2")
    for name in ("s1", "s2"):
        assert await times.store.remove(name)


async def test_removing_leaves_its_jobs_and_nothing_else(times: Timetable, look: Look, line: Line):
    await times.put(every())
    await times.make_due()
    await times.fire_due()
    assert await times.store.remove("s1")

    assert await times.store.get("s1") is None
    left = set(await look.key_names())
    assert not {look.keys.schedulers, look.keys.scheduler("s1")} & left
    held = await claim_one(line)
    assert held.scheduler == "s1"
    await settle(line, held, Completed())
    assert not await look.do("EXISTS", look.keys.scheduler("s1"))


async def test_a_removed_scheduler_starts_afresh_when_it_is_declared_again(times: Timetable):
    await times.put(every(template=Template(name="a")))
    await times.put(every())
    await times.make_due()
    await times.fire_due()
    await times.store.pause("s1")
    await times.store.remove("s1")

    assert await times.put(every(template=Template(name="a"))) is PutVerdict.CREATED
    view = await times.view()
    assert (view.state, view.count, view.runs) == (SchedulerState.WAITING, 0, ())


async def test_there_is_nothing_to_do_about_one_that_is_not_there(times: Timetable, look: Look):
    assert not await times.store.pause("s1")
    assert not await times.store.resume("s1")
    assert not await times.store.remove("s1")
    assert await times.store.trigger("s1", A) is None
    assert not await times.store.set_aside("s1", "no")
    assert not await times.store.retime(
        "s1", expected_ms=None, digest="", next_ms=5, wake_ms=5, tz=""
    )
    assert await times.jobs() == []
    assert not await look.do("EXISTS", look.keys.scheduler("s1"), look.keys.schedulers)
