"""Declaring schedulers: what a declaration becomes, by what stands there already."""

from datetime import UTC, datetime, timedelta

import pytest

from echomq_worker.domain.scheduling.records import PutVerdict, SchedulerState
from echomq_worker.domain.scheduling.spec import SchedulerSpec
from echomq_worker.domain.scheduling.template import Template
from tests.support.look import Look
from tests.support.schedulers import PERIOD_MS, Timetable, cron, every

OTHER = Template(name="other")


async def test_a_new_scheduler_waits_for_its_first_instant(times: Timetable, look: Look):
    assert await times.put(every()) is PutVerdict.CREATED

    view = await times.view()
    now_ms = await times.store.now_ms()
    assert view.state is SchedulerState.WAITING
    assert view.next_ms is not None
    assert view.next_ms % PERIOD_MS == 0
    assert now_ms < view.next_ms <= now_ms + PERIOD_MS
    assert await look.scores(look.keys.schedulers) == {"s1": view.next_ms}
    assert (view.count, view.last_ms, view.runs) == (0, None, ())


async def test_a_jitter_moves_the_wake_and_not_the_instant(times: Timetable):
    await times.put(every(jitter="5m"))

    view = await times.view()
    assert view.next_ms is not None
    assert view.wake_ms is not None
    assert view.next_ms % PERIOD_MS == 0
    assert view.next_ms <= view.wake_ms <= view.next_ms + 300_000


async def test_immediately_means_now(times: Timetable):
    await times.put(every(immediately=True))

    due = await times.due()
    assert [one.name for one in due.schedulers] == ["s1"]
    assert due.schedulers[0].next_ms is not None
    assert due.now_ms - due.schedulers[0].next_ms < PERIOD_MS


async def test_a_scheduler_whose_end_has_come_is_kept_as_ended(times: Timetable, look: Look):
    await times.put(every(period_ms=3_600_000))
    first = (await times.view()).next_ms or 0
    await times.store.remove("s1")
    spec = cron("0 0 1 1 *")
    await times.put(spec)
    assert (await times.view()).next_ms is not None

    assert await times.put(_until(first)) is PutVerdict.RETIMED
    view = await times.view()
    assert (view.state, view.ended, view.next_ms) == (SchedulerState.ENDED, "end", None)
    assert (await look.do("ZSCORE", look.keys.schedulers, "s1")) == b"inf"


def _until(unix_ms: int) -> SchedulerSpec:
    end = datetime.fromtimestamp(unix_ms / 1000, UTC) - timedelta(hours=2)
    return every(period_ms=3_600_000, end=end)


async def test_declaring_it_again_changes_nothing(times: Timetable, look: Look):
    await times.put(every())
    before = await look.dumps()

    assert await times.put(every()) is PutVerdict.UNCHANGED
    assert await look.dumps() == before


async def test_declaring_it_again_does_not_move_what_is_due(times: Timetable):
    await times.put(every())
    instant = await times.make_due()

    assert await times.put(every()) is PutVerdict.UNCHANGED
    assert (await times.due_one()).next_ms == instant


async def test_a_new_template_keeps_the_next_instant(times: Timetable):
    await times.put(every())
    instant = await times.make_due()

    assert await times.put(every(template=OTHER)) is PutVerdict.CHANGED
    assert (await times.due_one()).next_ms == instant
    view = await times.view()
    assert view.spec == every(template=OTHER)


async def test_a_new_rule_has_a_new_next_instant_and_keeps_the_counts(times: Timetable):
    await times.put(every())
    await times.make_due()
    await times.fire_due()

    assert await times.put(every(period_ms=3 * PERIOD_MS)) is PutVerdict.RETIMED
    view = await times.view()
    assert view.next_ms is not None
    assert view.last_ms is not None
    assert view.next_ms % (3 * PERIOD_MS) == 0
    assert view.next_ms > view.last_ms
    assert (view.count, len(view.runs)) == (1, 1)


async def test_an_interval_may_become_a_cron_rule(times: Timetable, look: Look):
    await times.put(every(offset="1m"))

    assert await times.put(cron("0 0 * * *")) is PutVerdict.RETIMED
    assert (await times.view()).spec == cron("0 0 * * *")
    stored = await look.hash(look.keys.scheduler("s1"))
    assert not {"every", "offset"} & set(stored)


async def test_a_nearer_rule_nudges_the_watcher_once(times: Timetable, look: Look):
    await times.put(cron("0 0 1 1 *"))
    assert await look.do("LLEN", look.keys.clock) == 1
    await look.do("DEL", look.keys.clock)

    await times.put(cron("0 0 1 1 *", "s2"))
    await times.put(cron("0 0 2 1 *", "s3"))
    assert await look.do("LLEN", look.keys.clock) == 0

    await times.put(every())
    await times.put(every("s4", period_ms=60_000))
    assert await look.do("LLEN", look.keys.clock) == 1


async def test_of_two_versions_of_one_revision_the_newer_declaration_stays(times: Timetable):
    await times.put(every())
    assert await times.put(every(template=OTHER)) is PutVerdict.CHANGED

    assert await times.put(every()) is PutVerdict.SUPERSEDED
    assert await times.put(every(template=OTHER)) is PutVerdict.UNCHANGED
    assert (await times.view()).spec == every(template=OTHER)


async def test_an_explicit_declaration_of_the_same_revision_always_replaces(times: Timetable):
    await times.put(every())
    await times.put(every(template=OTHER))

    assert await times.put(every(), force=True) is PutVerdict.CHANGED
    assert await times.put(every(template=OTHER)) is PutVerdict.SUPERSEDED
    assert (await times.view()).spec == every()


@pytest.mark.parametrize("force", [False, True])
async def test_a_higher_revision_is_not_replaced(times: Timetable, *, force: bool):
    await times.put(every(template=OTHER, revision=2))

    assert await times.put(every(revision=1), force=force) is PutVerdict.OLDER
    assert (await times.view()).spec == every(template=OTHER, revision=2)


async def test_a_higher_revision_replaces_and_brings_back_what_was_replaced(times: Timetable):
    await times.put(every())
    await times.put(every(template=OTHER))

    assert await times.put(every(revision=1)) is PutVerdict.CHANGED
    assert await times.put(every(template=OTHER)) is PutVerdict.OLDER
    assert await times.put(every(template=OTHER, revision=1)) is PutVerdict.CHANGED
    assert await times.put(every(revision=1)) is PutVerdict.SUPERSEDED


async def test_a_raised_revision_alone_is_remembered(times: Timetable):
    await times.put(every())

    assert await times.put(every(revision=3)) is PutVerdict.UNCHANGED
    assert (await times.view()).revision == 3
    assert await times.put(every(revision=2)) is PutVerdict.UNCHANGED
    assert (await times.view()).revision == 3
    assert await times.put(every(template=OTHER, revision=2)) is PutVerdict.OLDER


async def test_what_was_replaced_may_come_back_under_a_raised_revision(times: Timetable):
    await times.put(every())
    await times.put(every(template=OTHER))
    await times.put(every(template=OTHER, revision=1))

    assert await times.put(every(revision=1)) is PutVerdict.CHANGED


async def test_what_is_kept_back_is_looked_at_soon_also_under_a_new_rule(
    times: Timetable, look: Look
):
    await times.put(every(overlap="queue-one", misfire="all"))
    await times.make_due(periods=2)
    await times.fire_due()

    assert await times.put(cron("0 0 1 1 *", overlap="queue-one")) is PutVerdict.RETIMED
    assert (await times.view()).held_ms is not None
    wakes = (await look.scores(look.keys.schedulers))["s1"]
    assert wakes <= await times.store.now_ms()


async def test_ten_replaced_declarations_are_remembered(times: Timetable, look: Look):
    for attempts in range(1, 15):
        await times.put(every(template=Template(name="report", max_attempts=attempts)))

    stored = await look.hash(look.keys.scheduler("s1"))
    assert len(stored["old"].split()) == 10
    recent = every(template=Template(name="report", max_attempts=5))
    assert await times.put(recent) is PutVerdict.SUPERSEDED


async def test_a_paused_scheduler_stays_paused_whatever_is_declared(times: Timetable, look: Look):
    await times.put(every())
    await times.store.pause("s1", reason="by hand")

    await times.put(every(period_ms=60_000))
    await times.put(every(period_ms=60_000, template=OTHER))
    view = await times.view()
    assert (view.state, view.wake_ms) == (SchedulerState.PAUSED, None)
    assert await look.do("ZSCORE", look.keys.schedulers, "s1") == b"inf"


async def test_an_ended_scheduler_with_a_new_rule_goes_on(times: Timetable):
    await times.put(every(limit=1))
    await times.make_due()
    await times.fire_due()
    assert (await times.view()).state is SchedulerState.ENDED

    assert await times.put(every(limit=2)) is PutVerdict.RETIMED
    view = await times.view()
    assert (view.state, view.ended) == (SchedulerState.WAITING, "")
    assert view.wake_ms is not None


async def test_a_damaged_declaration_is_mended_by_declaring_it_again(times: Timetable, look: Look):
    await times.put(every())
    await look.do("HSET", look.keys.scheduler("s1"), "every", "nonsense")

    assert await times.put(every()) is PutVerdict.RETIMED
    assert (await times.view()).spec == every()


async def test_one_that_is_missing_from_the_index_is_put_back(times: Timetable, look: Look):
    await times.put(every())
    await look.do("ZREM", look.keys.schedulers, "s1")

    assert await times.put(every()) is PutVerdict.UNCHANGED
    assert await look.scores(look.keys.schedulers) == {"s1": (await times.view()).next_ms}


async def test_the_tz_data_is_noted_where_the_rule_depends_on_it(times: Timetable):
    await times.put(cron("0 9 * * *", tz="Europe/Berlin"), tz="2026b")
    await times.put(cron("0 9 * * *", "s2"), tz="2026b")
    await times.put(every("s3"), tz="2026b")

    assert [(await times.view(name)).tz for name in ("s1", "s2", "s3")] == ["2026b", "", ""]
