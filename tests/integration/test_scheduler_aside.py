"""What workers do about schedulers: move those of older tz data, set aside what is broken."""

import pytest

from echomq_worker.domain.scheduling.records import PutVerdict, SchedulerState
from tests.support.jobs import C
from tests.support.look import Look
from tests.support.schedulers import FIRED, PERIOD_MS, Timetable, cron, every


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
