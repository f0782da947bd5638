"""What is done to schedulers: pause, resume, trigger, retime, remove, set aside."""

import pytest

from echomq_worker.domain.job import Admission
from echomq_worker.domain.outcome import Completed
from echomq_worker.domain.scheduling.records import PutVerdict, SchedulerState
from echomq_worker.domain.scheduling.template import Template
from echomq_worker.errors import CorruptSchedulerError, InvalidIdError, UnknownZoneError
from echomq_worker.store import QueueStore
from echomq_worker.store.line import Line
from tests.support.jobs import A, B, C, claim_one, enqueue, job_id, settle
from tests.support.look import Look
from tests.support.schedulers import FIRED, HELD, PERIOD_MS, SKIPPED, Timetable, cron, every


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


async def test_the_newest_pause_stands(times: Timetable):
    await times.put(every())
    await times.store.pause("s1", reason="deploy", by="ann")
    await times.store.pause("s1")

    paused = (await times.view()).paused
    assert paused is not None
    assert (paused.reason, paused.by) == (None, None)


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


async def test_a_trigger_makes_a_job_at_once_and_moves_nothing(times: Timetable, look: Look):
    await times.put(every(template=Template(name="report", payload=b"p", ttl_ms=1_000)))
    before = await times.view()
    assert await times.store.trigger("s1", A) is Admission.ENQUEUED

    view = await times.view()
    assert (view.next_ms, view.wake_ms) == (before.next_ms, before.wake_ms)
    assert (view.count, view.last_ms) == (0, None)
    (run,) = view.runs
    assert (run.job_id, run.outcome) == (A, "triggered")
    row = await look.row(A)
    assert (row["scheduler"], row["instant"]) == ("s1", str(run.instant_ms))
    assert (row["payload"], row["name"]) == ("p", "report")
    assert int(row["expires"]) == run.at_ms + 1_000
    assert await look.bells() == 1


async def test_a_paused_and_an_ended_scheduler_can_be_triggered(times: Timetable):
    await times.put(every("s1"))
    await times.store.pause("s1")
    await times.put(every("s2", limit=1))
    await times.make_due("s2")
    await times.fire_due()

    assert await times.store.trigger("s1", A) is Admission.ENQUEUED
    assert await times.store.trigger("s2", B) is Admission.ENQUEUED
    assert (await times.view("s1")).state is SchedulerState.PAUSED
    assert (await times.view("s2")).state is SchedulerState.ENDED


async def test_a_trigger_does_not_ask_about_overlaps_but_later_occurrences_do(
    times: Timetable, line: Line
):
    await times.put(every(overlap="skip"))
    await times.make_due()
    await times.fire_due()
    assert await times.store.trigger("s1", job_id(500)) is Admission.ENQUEUED
    assert len(await times.jobs()) == 2

    held = await claim_one(line)
    assert held.id != job_id(500)
    await settle(line, held, Completed())
    await times.make_due()
    assert await times.fire_one() == [SKIPPED]
    await settle(line, await claim_one(line), Completed())
    await times.make_due()
    assert await times.fire_one() == [FIRED]


async def test_many_triggers_do_not_hide_the_predecessor(times: Timetable, line: Line, look: Look):
    await times.put(every(overlap="skip"))
    await times.make_due()
    await times.fire_due()
    held = await claim_one(line)
    for number in range(15):
        await times.store.trigger("s1", job_id(500 + number))

    live = (await look.hash(look.keys.scheduler("s1")))["live"].split()
    assert (live[0], len(live)) == (held.id, 10)
    for _ in range(15):
        await settle(line, await claim_one(line), Completed())
    await times.make_due()
    assert await times.fire_one() == [SKIPPED]
    await settle(line, held, Completed())
    await times.make_due()
    assert await times.fire_one() == [FIRED]


async def test_a_trigger_is_told_of_an_id_that_another_job_has(
    times: Timetable, queue: QueueStore, look: Look
):
    await times.put(every())
    await enqueue(queue, A)
    before = await look.dumps()

    assert await times.store.trigger("s1", A) is Admission.DUPLICATE
    assert await look.dumps() == before
    with pytest.raises(InvalidIdError):
        await times.store.trigger("s1", "A")  # pyright: ignore[reportArgumentType]


async def test_a_trigger_does_not_take_the_note_of_another_occurrence(times: Timetable, look: Look):
    await times.put(every())
    soon = await times.store.now_ms() + 5
    runs = " ".join(str(soon + i) for i in range(500))
    await look.do("HSET", look.keys.scheduler("s1"), "runs", runs)
    while await times.store.now_ms() < soon:
        pass

    await times.store.trigger("s1", A)
    assert int((await look.row(A))["instant"]) == soon + 500


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
    assert not await _retime(times, None, "", 5)
    assert await times.jobs() == []
    assert not await look.do("EXISTS", look.keys.scheduler("s1"), look.keys.schedulers)


async def _retime(
    times: Timetable,
    expected: int | None,
    digest: str,
    next_ms: int | None,
    *,
    expected_tz: str | None = None,
) -> bool:
    return await times.store.retime(
        "s1",
        expected_ms=expected,
        digest=digest,
        next_ms=next_ms,
        wake_ms=next_ms,
        tz="2027a",
        expected_tz=expected_tz,
    )


async def test_newer_tz_data_moves_the_next_instant(times: Timetable, look: Look):
    await times.put(cron("0 9 * * *", tz="Europe/Berlin"), tz="2026b")
    view = await times.view()
    assert view.next_ms is not None
    await look.do("DEL", look.keys.clock)
    moved = view.next_ms - 60_000

    assert await _retime(times, view.next_ms, view.digest, moved, expected_tz="2026b")
    after = await times.view()
    assert (after.next_ms, after.wake_ms, after.tz) == (moved, moved, "2027a")
    assert await look.do("LLEN", look.keys.clock) == 1
    assert not await _retime(times, view.next_ms, view.digest, moved, expected_tz="2026b")


@pytest.mark.parametrize("stale", ["next", "digest", "tz", "over"])
async def test_what_has_changed_since_it_was_read_is_not_moved(
    times: Timetable, look: Look, stale: str
):
    await times.put(cron("0 9 * * *", tz="Europe/Berlin"), tz="2026b")
    view = await times.view()
    assert view.next_ms is not None
    expected = view.next_ms + (1 if stale == "next" else 0)
    digest = "x" if stale == "digest" else view.digest
    if stale == "over":
        await look.do("HSET", look.keys.scheduler("s1"), "last", view.next_ms - 1)
    before = await look.dumps()

    expected_tz = "2026a" if stale == "tz" else "2026b"
    moved = view.next_ms - 5
    assert not await _retime(times, expected, digest, moved, expected_tz=expected_tz)
    assert await look.dumps() == before


async def test_a_paused_scheduler_stays_paused_when_its_instant_moves(times: Timetable, look: Look):
    await times.put(every())
    view = await times.view()
    await times.store.pause("s1")

    assert await _retime(times, view.next_ms, view.digest, (view.next_ms or 0) + 5)
    assert await look.do("ZSCORE", look.keys.schedulers, "s1") == b"inf"


async def test_one_without_a_further_instant_by_newer_data_ends(times: Timetable):
    await times.put(every())
    view = await times.view()

    assert await _retime(times, view.next_ms, view.digest, None)
    after = await times.view()
    assert (after.state, after.wake_ms) == (SchedulerState.ENDED, None)


DAMAGE = {
    "no hash": ("SET", "scheduler:s1", "text"),
    "nothing": ("DEL", "scheduler:s1"),
    "no digest": ("HDEL", "scheduler:s1", "digest"),
    "no next": ("HDEL", "scheduler:s1", "next"),
    "no rule": ("HDEL", "scheduler:s1", "every"),
    "two rules": ("HSET", "scheduler:s1", "cron", "* * * * *"),
    "next no number": ("HSET", "scheduler:s1", "next", "soon"),
    "count no number": ("HSET", "scheduler:s1", "count", "-1"),
    "held no number": ("HSET", "scheduler:s1", "held", "1e9"),
    "a rule of bytes": ("HSET", "scheduler:s1", "every", b"\xff\xfe"),
    "a bad limit": ("HSET", "scheduler:s1", "limit", "0"),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
async def test_one_that_cannot_be_read_is_set_aside_and_the_others_fire(
    times: Timetable, look: Look, damage: tuple[str, ...]
):
    await times.put(every("s1"))
    await times.put(every("s2"))
    for name in ("s1", "s2"):
        await times.make_due(name)
    command, suffix, *rest = damage
    await look.do("DEL", look.keys.scheduler("s1")) if command == "SET" else None
    await look.do(command, look.keys.root + suffix, *rest)

    due = (await times.due()).schedulers
    broken = next(one for one in due if one.name == "s1")
    assert (broken.spec, broken.is_corrupt) == (None, True)
    assert "s1" in broken.problem
    assert await times.fire_one() == [FIRED]
    assert await times.store.set_aside("s1", broken.problem)

    assert [one.name for one in (await times.due()).schedulers] == []
    assert await times.store.get("s1") is None
    (entry,) = await look.quarantine()
    assert (entry["id"], entry["reason"]) == ("scheduler:s1", broken.problem[:500])
    aside = look.keys.scheduler_aside("s1")
    kept = await look.do("PTTL", aside)
    assert kept == -2 if command == "DEL" else 600_000_000 < kept <= 604_800_000
    assert await times.put(every("s1")) is PutVerdict.CREATED


async def test_a_name_that_no_declaration_could_have_is_set_aside_too(times: Timetable, look: Look):
    await look.do("ZADD", look.keys.schedulers, 1, b"\xff bad\n")

    (one,) = (await times.due()).schedulers
    assert one.is_corrupt
    assert await times.store.set_aside(one.name, one.problem)
    assert not await look.do("EXISTS", look.keys.schedulers)


async def test_one_that_can_be_read_by_now_is_not_set_aside(times: Timetable):
    await times.put(every())

    assert not await times.store.set_aside("s1", "somebody has said so")
    assert (await times.view()).state is SchedulerState.WAITING


async def test_a_corrupt_scheduler_is_shown_as_far_as_it_can_be_read(times: Timetable, look: Look):
    await times.put(every())
    await times.store.trigger("s1", C)
    await look.do("HSET", look.keys.scheduler("s1"), "every", "x")
    await look.do("ZADD", look.keys.schedulers, 5, "s2")

    broken, nothing = await times.view("s1"), await times.view("s2")
    assert (broken.state, nothing.state) == (SchedulerState.CORRUPT, SchedulerState.CORRUPT)
    assert "every" in broken.problem
    assert [run.job_id for run in broken.runs] == [C]
    assert "nothing but its name" in nothing.problem
    await look.do("HSET", look.keys.scheduler("s1"), "every", PERIOD_MS)
    assert await times.store.set_aside("s2", nothing.problem)
