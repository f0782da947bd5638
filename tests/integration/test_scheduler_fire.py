"""Firing: each occurrence makes one job by its policies, whoever fires and how often."""

from dataclasses import replace

import pytest

from echomq_worker.domain.job import Held
from echomq_worker.domain.lanes import lane_group
from echomq_worker.domain.outcome import Buried, Completed
from echomq_worker.domain.scheduling.records import (
    RunNote,
    SchedulerState,
    Whole,
)
from echomq_worker.domain.scheduling.template import Template
from echomq_worker.store import QueueStore
from echomq_worker.store.line import Line
from tests.support.jobs import A, B, C, claim, claim_one, enqueue, settle
from tests.support.look import Look
from tests.support.schedulers import (
    DONE,
    FIRED,
    PERIOD_MS,
    Timetable,
    cron,
    every,
    firing,
    words,
)


async def test_an_occurrence_makes_a_job_of_the_template(times: Timetable, look: Look):
    template = Template(
        name="report",
        payload=b"\x00{}",
        max_attempts=3,
        keep_result_ms=60_000,
        timeout_ms=5_000,
        ttl_ms=9_000,
    )
    await times.put(every(template=template))
    instant = await times.make_due()
    before_ms = await times.store.now_ms()
    assert await times.fire_one() == [FIRED]

    (job,) = await times.jobs()
    row = await look.row(job)
    expires = int(row.pop("expires"))
    assert before_ms + 9_000 <= expires <= await times.store.now_ms() + 9_000
    assert row == {
        "state": "pending",
        "attempts": "0",
        "payload": "\x00{}",
        "name": "report",
        "max": "3",
        "keep": "60000",
        "timeout": "5000",
        "expires_in": "9000",
        "scheduler": "s1",
        "instant": str(instant),
        "more": "1",
    }
    assert await look.bells() == 1


async def test_jobs_of_a_template_wait_where_it_says(
    times: Timetable, queue: QueueStore, line: Line, look: Look
):
    await times.put(every("ranked", template=Template(name="r", priority=-7)))
    await times.put(every("laned", template=Template(name="l", lane="acme")))
    for name in ("ranked", "laned"):
        await times.make_due(name)
    await times.fire_due()
    await times.store.trigger("ranked", A)
    await times.store.trigger("laned", B)

    assert await look.places() == {}
    ranked = await look.scores(f"{look.keys.root}prioritized")
    laned = await look.members(look.keys.lane(lane_group("acme")))
    assert sorted(ranked.values()) == [-7 * 2**32 + 1, -7 * 2**32 + 2]
    assert len(laned) == 2
    assert A in ranked
    assert B in laned
    jobs = await claim(line, 9)
    assert [(job.name, job.priority, job.lane) for job in jobs] == [
        *[("r", -7, None)] * 2,
        *[("l", 0, "acme")] * 2,
    ]
    assert (await queue.counts()).is_ready is False


async def test_what_the_template_leaves_open_is_not_on_the_row(times: Timetable, look: Look):
    await times.put(every(template=Template(name=None)))
    await times.make_due()
    await times.fire_due()

    (job,) = await times.jobs()
    assert set(await look.row(job)) == {
        *("state", "attempts", "payload", "scheduler", "instant", "more")
    }


async def test_a_fired_scheduler_waits_for_its_next_instant(times: Timetable, look: Look):
    await times.put(every())
    instant = await times.make_due()
    await times.fire_due()

    view = await times.view()
    assert (view.last_ms, view.next_ms, view.count) == (instant, instant + PERIOD_MS, 1)
    assert await look.scores(look.keys.schedulers) == {"s1": instant + PERIOD_MS}
    due = await times.due()
    assert (due.schedulers, due.next_ms) == ((), instant + PERIOD_MS)


async def test_a_job_of_a_scheduler_tells_its_worker_of_it(times: Timetable, line: Line):
    await times.put(every(template=Template(name="report", timeout_ms=5_000)))
    instant = await times.make_due()
    await times.fire_due()

    held: Held = await claim_one(line)
    assert (held.scheduler, held.instant_ms, held.timeout_ms) == ("s1", instant, 5_000)


async def test_what_is_fired_twice_makes_one_job(times: Timetable):
    await times.put(every())
    await times.make_due()
    due = await times.due()
    first, second = await times.plan(due), await times.plan(due)

    assert [each.whole for each in await times.store.fire(first)] == [Whole.OK]
    assert [each.whole for each in await times.store.fire(second)] == [Whole.TAKEN]
    assert [each.whole for each in await times.store.fire(first)] == [Whole.TAKEN]
    assert await times.jobs() == [first[0].occurrences[0][0]]
    assert (await times.view()).count == 1


async def test_one_that_is_named_twice_in_a_call_fires_once(times: Timetable):
    await times.put(every())
    await times.make_due()
    due = await times.due()
    both = [*await times.plan(due), *await times.plan(due)]

    assert [each.whole for each in await times.store.fire(both)] == [Whole.OK, Whole.TAKEN]
    assert len(await times.jobs()) == 1


async def test_missed_occurrences_fire_oldest_first_and_are_counted(times: Timetable):
    await times.put(every(misfire="all(max=3)"))
    instant = await times.make_due(periods=5)

    assert await times.fire_one() == [FIRED] * 3
    view = await times.view()
    assert (view.count, view.missed) == (3, 2)
    newest = instant + 4 * PERIOD_MS
    assert [run.instant_ms for run in view.runs] == [
        newest - 2 * PERIOD_MS,
        newest - PERIOD_MS,
        newest,
    ]
    assert view.last_ms == newest


async def test_an_instant_that_is_over_is_refused(times: Timetable):
    await times.put(every())
    instant = await times.make_due()
    due = await times.due_one()
    stale = firing(due, [(A, instant - PERIOD_MS), (B, instant)])
    await times.look.do("HSET", times.look.keys.scheduler("s1"), "last", instant - PERIOD_MS)

    (fired,) = await times.store.fire([stale])
    assert words(fired) == [DONE, FIRED]
    assert await times.jobs() == [B]


async def test_an_id_that_is_taken_stops_the_whole_scheduler_and_no_other(
    times: Timetable, queue: QueueStore
):
    await enqueue(queue, A)
    await times.put(every("s1", misfire="all"))
    await times.put(every("s2"))
    for name in ("s1", "s2"):
        await times.make_due(name)
    one, two = (await times.due()).schedulers
    instant = one.next_ms or 0
    taken = firing(one, [(B, instant - 1), (A, instant)])
    other = firing(two, [(C, instant)])

    fired = await times.store.fire([taken, other])
    assert [(each.name, each.whole) for each in fired] == [
        (one.name, Whole.ID_TAKEN),
        (two.name, Whole.OK),
    ]
    assert await times.jobs() == [A, C]
    assert [each.name for each in (await times.due()).schedulers] == [one.name]


async def test_one_id_for_two_schedulers_is_taken_for_the_second(times: Timetable):
    for name in ("s1", "s2"):
        await times.put(every(name))
        await times.make_due(name)
    both = [firing(one, [(A, one.next_ms or 0)]) for one in (await times.due()).schedulers]

    assert [each.whole for each in await times.store.fire(both)] == [Whole.OK, Whole.ID_TAKEN]


@pytest.mark.parametrize("said", ["paused", "changed", "removed"])
async def test_what_has_changed_since_it_was_read_does_not_fire(times: Timetable, said: str):
    await times.put(every())
    await times.make_due()
    plan = await times.plan(await times.due())
    if said == "paused":
        await times.store.pause("s1")
    elif said == "changed":
        await times.put(every(template=Template(name="other")))
    else:
        await times.store.remove("s1")

    assert [each.whole for each in await times.store.fire(plan)] == [Whole.TAKEN]
    assert await times.jobs() == []


async def test_a_limit_ends_it(times: Timetable, look: Look):
    await times.put(every(limit=2, misfire="all"))
    await times.make_due(periods=3)

    assert await times.fire_one() == [FIRED, FIRED]
    view = await times.view()
    assert (view.state, view.ended, view.next_ms) == (SchedulerState.ENDED, "limit", None)
    assert await look.do("ZSCORE", look.keys.schedulers, "s1") == b"inf"


async def test_an_occurrence_is_told_how_its_job_ended(times: Timetable, line: Line):
    await times.put(every(misfire="all"))
    await times.make_due(periods=3)
    await times.fire_due()
    first, second, third = await claim(line, 3)
    await settle(line, first, Completed())
    await settle(line, second, Buried("no"))

    runs: tuple[RunNote, ...] = (await times.view()).runs
    assert [(run.job_id, run.outcome) for run in runs] == [
        (first.id, "completed"),
        (second.id, "dead"),
        (third.id, "fired"),
    ]


async def test_jobs_of_schedulers_are_in_the_log(server_url: str, times: Timetable, look: Look):
    times.store._log_size = 100
    await times.put(every())
    await times.make_due()
    await times.fire_due()
    await times.store.trigger("s1", A)

    events = [fields[1] for _, fields in await look.do("XRANGE", look.keys.log, "-", "+")]
    assert events == [b"enqueued", b"enqueued"]


async def test_a_zone_that_is_not_known_here_is_no_damage(times: Timetable, look: Look):
    await times.put(cron("0 9 * * *", tz="Europe/Berlin"))
    await look.do("HSET", look.keys.scheduler("s1"), "zone", "Europe/Atlantis")
    await times.set_next("s1", 1_000_000_000_000)

    one = await times.due_one()
    assert (one.spec, one.is_corrupt) == (None, False)
    assert "Europe/Atlantis" in one.problem
    assert not await times.store.set_aside("s1", "no")
    assert (await times.view()).state is SchedulerState.WAITING


async def test_the_hand_of_a_scheduler_without_a_further_instant_needs_no_memory(
    times: Timetable,
):
    """A firing may have no occurrence: all were dropped by the misfire policy."""
    await times.put(every(misfire="none"))
    await times.make_due(periods=3)
    due = await times.due()
    (plan,) = await times.plan(due)
    dropped = replace(plan, occurrences=(), missed=3)

    (fired,) = await times.store.fire([dropped])
    assert (fired.whole, fired.verdicts) == (Whole.OK, ())
    view = await times.view()
    assert (view.missed, view.count, view.runs) == (3, 0, ())
