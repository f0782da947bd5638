"""Occurrences whose predecessor still waits or runs: allowed, skipped, or kept back."""

import pytest

from echomq_worker.domain.outcome import Buried, Completed, Retried
from echomq_worker.domain.scheduling.records import (
    SchedulerState,
)
from echomq_worker.store.line import Line
from tests.support.jobs import A, claim_one, settle
from tests.support.look import Look
from tests.support.schedulers import (
    DONE,
    FIRED,
    HELD,
    PERIOD_MS,
    SKIPPED,
    Timetable,
    every,
    firing,
    words,
)


async def test_an_occurrence_is_skipped_while_its_predecessor_waits_or_runs(
    times: Timetable, line: Line
):
    await times.put(every(overlap="skip"))
    await times.make_due()
    assert await times.fire_one() == [FIRED]

    await times.make_due()
    assert await times.fire_one() == [SKIPPED]
    held = await claim_one(line)
    await times.make_due()
    assert await times.fire_one() == [SKIPPED]
    await settle(line, held, Retried(3_600_000, "later"))
    await times.make_due()
    assert await times.fire_one() == [SKIPPED]
    view = await times.view()
    assert (view.count, view.skipped, len(view.runs)) == (1, 3, 1)


@pytest.mark.parametrize("outcome", [Completed(), Buried("no")])
async def test_an_occurrence_fires_when_its_predecessor_has_ended(
    times: Timetable, line: Line, outcome: Completed | Buried
):
    await times.put(every(overlap="skip"))
    await times.make_due()
    await times.fire_due()
    await settle(line, await claim_one(line), outcome)

    await times.make_due()
    assert await times.fire_one() == [FIRED]


@pytest.mark.parametrize("policy", ["skip", "queue-one"])
@pytest.mark.parametrize("by_hand", [False, True])
async def test_a_new_overlap_policy_sees_the_jobs_from_before(
    times: Timetable, line: Line, policy: str, *, by_hand: bool
):
    await times.put(every())
    await times.make_due()
    await times.fire_due()
    held = await claim_one(line)
    await times.put(every(overlap=policy))
    if by_hand:
        await times.store.trigger("s1", A)
        await settle(line, await claim_one(line), Completed())

    await times.make_due()
    assert await times.fire_one() == [SKIPPED if policy == "skip" else HELD]
    await settle(line, held, Completed())
    if policy == "skip":
        await times.make_due()
    assert await times.fire_one() == [FIRED]


async def test_of_missed_ones_that_may_not_overlap_one_fires(times: Timetable):
    await times.put(every(overlap="skip", misfire="all"))
    await times.make_due(periods=3)

    assert await times.fire_one() == [FIRED, SKIPPED, SKIPPED]


async def test_one_occurrence_is_kept_back_until_its_predecessor_ends(times: Timetable, line: Line):
    await times.put(every(overlap="queue-one"))
    await times.make_due()
    await times.fire_due()
    instant = await times.make_due()
    assert await times.fire_one() == [HELD]
    view = await times.view()
    assert (view.held_ms, view.skipped, view.count) == (instant, 0, 1)
    assert (await times.due()).schedulers == ()

    await settle(line, await claim_one(line), Completed())
    assert await times.fire_one() == [FIRED]
    view = await times.view()
    assert (view.held_ms, view.count) == (None, 2)
    assert view.runs[-1].instant_ms == instant
    assert view.next_ms == instant + PERIOD_MS


async def test_the_newest_is_kept_back_and_the_older_one_counts_as_skipped(times: Timetable):
    await times.put(every(overlap="queue-one", misfire="all"))
    await times.make_due(periods=3)
    assert await times.fire_one() == [FIRED, HELD, HELD]

    view = await times.view()
    assert (view.held_ms, view.skipped) == (view.last_ms, 1)


async def test_what_is_kept_back_is_looked_at_again_though_nobody_says_that_it_may_fire(
    times: Timetable, look: Look
):
    """A peer that ends the predecessor tells us nothing."""
    await times.put(every(overlap="queue-one"))
    await times.make_due()
    await times.fire_due()
    await times.make_due()
    await times.fire_due()

    wakes = (await look.scores(look.keys.schedulers))["s1"]
    assert wakes - await times.store.now_ms() <= 10_000


async def test_what_is_kept_back_fires_once(times: Timetable, line: Line):
    await times.put(every(overlap="queue-one"))
    await times.make_due()
    await times.fire_due()
    await times.make_due()
    await times.fire_due()
    await settle(line, await claim_one(line), Completed())
    due = await times.due()
    first, second = await times.plan(due), await times.plan(due)

    assert [words(each) for each in await times.store.fire(first)] == [[FIRED]]
    assert [words(each) for each in await times.store.fire(second)] == [[DONE]]
    assert [words(each) for each in await times.store.fire(first)] in ([[DONE]], [[]])
    assert len(await times.jobs()) == 1
    assert (await times.view()).count == 2


async def test_what_is_kept_back_fires_also_after_the_last_occurrence(times: Timetable, line: Line):
    await times.put(every(overlap="queue-one"))
    await times.make_due()
    await times.fire_due()
    await times.make_due()
    due = await times.due_one()
    last = firing(due, [(A, due.next_ms or 0)], next_ms=None, wake_ms=None, ended="end")
    assert [words(each) for each in await times.store.fire([last])] == [[HELD]]
    assert (await times.view()).state is SchedulerState.WAITING

    await settle(line, await claim_one(line), Completed())
    assert await times.fire_one() == [FIRED]
    assert (await times.view()).state is SchedulerState.ENDED


async def test_a_policy_that_allows_overlaps_fires_what_was_kept_back(times: Timetable):
    await times.put(every(overlap="queue-one", misfire="all"))
    await times.make_due(periods=2)
    assert await times.fire_one() == [FIRED, HELD]

    await times.put(every())
    await times.look.do("ZADD", times.look.keys.schedulers, 1, "s1")
    assert await times.fire_one() == [FIRED]
    view = await times.view()
    assert (view.held_ms, view.count, len(await times.jobs())) == (None, 2, 2)


async def test_what_is_kept_back_is_dropped_when_a_lower_limit_has_been_reached(times: Timetable):
    await times.put(every(overlap="queue-one", limit=5))
    await times.make_due()
    await times.fire_due()
    await times.make_due()
    assert await times.fire_one() == [HELD]

    await times.put(every(overlap="queue-one", limit=1))
    await times.make_due()
    await times.fire_due()
    view = await times.view()
    assert (view.state, view.held_ms, view.count) == (SchedulerState.ENDED, None, 1)
    assert view.skipped == 1


async def test_what_is_skipped_does_not_use_up_the_limit(times: Timetable, line: Line):
    await times.put(every(overlap="skip", misfire="all", limit=2))
    await times.make_due()
    await times.fire_due()
    await times.make_due(periods=3)
    assert await times.fire_one() == [SKIPPED, SKIPPED, SKIPPED]
    view = await times.view()
    assert (view.count, view.skipped) == (1, 3)

    await settle(line, await claim_one(line), Completed())
    await times.make_due(periods=2)
    assert await times.fire_one() == [FIRED, DONE]
    await times.make_due()
    assert await times.fire_one() == []
    view = await times.view()
    assert (view.state, view.count, view.skipped) == (SchedulerState.ENDED, 2, 3)


async def test_the_newest_is_kept_back_also_where_the_limit_leaves_one(
    times: Timetable, line: Line
):
    await times.put(every(overlap="queue-one", limit=2))
    await times.make_due(periods=2)
    await times.fire_due()
    first = await times.make_due(periods=2)
    await times.set_next("s1", first)
    due = await times.due_one()
    kept = firing(due, [(times.mint(), first)], next_ms=first + PERIOD_MS)
    assert [words(each) for each in await times.store.fire([kept])] == [[HELD]]
    await times.set_next("s1", first + PERIOD_MS)
    assert await times.fire_one() == [HELD, HELD]
    view = await times.view()
    assert (view.held_ms, view.skipped) == (first + PERIOD_MS, 1)

    await settle(line, await claim_one(line), Completed())
    assert await times.fire_one() == [FIRED]
    assert (await times.view()).count == 2
