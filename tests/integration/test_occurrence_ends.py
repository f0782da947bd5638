"""A job that a scheduler has made tells it how it ended, and lets go what was held back for it."""

from collections.abc import Awaitable, Callable

import pytest

from echomq_worker.domain.job import Held, JobId
from echomq_worker.domain.outcome import Buried, Completed, HandedBack, Retried, Snoozed
from echomq_worker.domain.scheduling.records import (
    OccurrenceVerdict,
    RunOutcome,
    SchedulerState,
)
from echomq_worker.domain.views import Places, Removed
from echomq_worker.store import QueueStore
from echomq_worker.store.line import Line
from tests.support.jobs import LEASE_MS, claim_one, handout, job_id
from tests.support.look import Look
from tests.support.schedulers import Timetable, every, firing

FIRST, SECOND = job_id(50), job_id(51)


async def fire(times: Timetable, id_: JobId, *, periods: int = 2) -> int:
    """Fire the occurrence of so many whole periods ago with this id; return its instant."""
    instant = await times.make_due(periods=periods)
    (due,) = (await times.store.due()).schedulers
    (fired,) = await times.store.fire([firing(due, [(id_, instant)])])
    assert fired.verdicts == (OccurrenceVerdict.FIRED,)
    return instant


async def settle(line: Line, held: Held, outcome: Completed | Buried) -> None:
    await line.settle([(held, outcome)])


async def test_the_handler_is_told_which_scheduler_and_which_instant(times: Timetable, line: Line):
    await times.put(every())
    instant = await fire(times, FIRST)

    held = await claim_one(line)

    assert (held.scheduler, held.instant_ms) == ("s1", instant)


@pytest.mark.parametrize(
    ("outcome", "told"),
    [(Completed(), RunOutcome.COMPLETED), (Buried("no"), RunOutcome.DEAD)],
)
async def test_an_end_is_noted_with_the_occurrence(
    times: Timetable, line: Line, outcome: Completed | Buried, told: RunOutcome
):
    await times.put(every())
    instant = await fire(times, FIRST)

    await settle(line, await claim_one(line), outcome)

    (run,) = (await times.view()).runs
    assert (run.instant_ms, run.job_id, run.outcome) == (instant, FIRST, told)


@pytest.mark.parametrize(
    "outcome", [Retried(60_000, "later"), Snoozed(60_000), HandedBack()], ids=repr
)
async def test_what_is_no_end_is_not_noted(
    times: Timetable, line: Line, outcome: Retried | Snoozed | HandedBack
):
    await times.put(every())
    await fire(times, FIRST)

    await line.settle([(await claim_one(line), outcome)])

    (run,) = (await times.view()).runs
    assert run.outcome == RunOutcome.FIRED


async def test_a_job_that_dies_of_lost_leases_is_noted_as_dead(
    times: Timetable, line: Line, queue: QueueStore
):
    await times.put(every())
    await fire(times, FIRST)
    await line.claim(limit=1, lease_ms=1, promote=0)

    while not (swept := await queue.sweep_stalled(limit=10, max_stalled=1)).buried:
        assert swept.recovered == ()

    assert swept.buried == (FIRST,)

    (run,) = (await times.view()).runs
    assert run.outcome == RunOutcome.DEAD


async def test_a_removed_job_is_noted_as_removed_and_a_dead_one_stays_dead(
    times: Timetable, line: Line, queue: QueueStore
):
    await times.put(every())
    await fire(times, FIRST)
    await settle(line, await claim_one(line), Buried("no"))
    await fire(times, SECOND, periods=1)

    assert await queue.remove(FIRST, Places.ANY) is Removed.OK
    assert await queue.remove(SECOND, Places.ANY) is Removed.OK

    assert [run.outcome for run in (await times.view()).runs] == ["dead", "removed"]


async def test_the_end_of_another_job_of_that_instant_changes_nothing(
    times: Timetable, line: Line, look: Look
):
    await times.put(every())
    instant = await fire(times, FIRST)
    held = await claim_one(line)
    key = look.keys.scheduler("s1")
    await look.client.hset(key, f"run:{instant}", f"{SECOND} fired 1")

    await settle(line, held, Completed())

    (run,) = (await times.view()).runs
    assert (run.job_id, run.outcome) == (SECOND, RunOutcome.FIRED)


Ends = Callable[[Line, QueueStore, Held], Awaitable[object]]


async def completes(line: Line, _queue: QueueStore, held: Held) -> object:
    return await line.settle([(held, Completed())])


async def dies(line: Line, _queue: QueueStore, held: Held) -> object:
    return await line.settle([(held, Buried("no"))])


async def is_removed(line: Line, queue: QueueStore, held: Held) -> object:
    await line.settle([(held, HandedBack())])
    return await queue.remove(held.id, Places.ANY)


@pytest.mark.parametrize("ends", [completes, dies, is_removed])
async def test_what_was_held_back_fires_as_soon_as_the_job_before_has_ended(
    times: Timetable, line: Line, queue: QueueStore, ends: Ends
):
    await times.put(every(overlap="queue-one"))
    await fire(times, FIRST)
    instant = await times.make_due()
    (due,) = (await times.store.due()).schedulers
    (fired,) = await times.store.fire([firing(due, [(SECOND, instant)])])
    assert fired.verdicts == (OccurrenceVerdict.HELD,)
    assert (await times.store.due()).schedulers == ()

    await ends(line, queue, await claim_one(line))

    (due,) = (await times.store.due()).schedulers
    assert due.held_ms == instant
    assert (await handout(line)).next_fire_ms is not None
    go_on = firing(due, [(SECOND, instant)], next_ms=due.next_ms, wake_ms=due.next_ms)
    (fired,) = await times.store.fire([go_on])
    assert fired.verdicts == (OccurrenceVerdict.FIRED,)
    assert (await claim_one(line)).id == SECOND


async def test_what_is_held_back_stays_so_while_the_scheduler_is_paused(
    times: Timetable, line: Line
):
    await times.put(every(overlap="queue-one"))
    await fire(times, FIRST)
    instant = await times.make_due()
    (due,) = (await times.store.due()).schedulers
    await times.store.fire([firing(due, [(SECOND, instant)])])
    await times.store.pause("s1", reason="inventory")

    await settle(line, await claim_one(line), Completed())

    assert (await times.store.due()).schedulers == ()
    view = await times.view()
    assert (view.state, view.held_ms) == (SchedulerState.PAUSED, instant)


async def test_a_job_whose_handler_nobody_knows_pauses_its_scheduler(times: Timetable, line: Line):
    await times.put(every())
    await fire(times, FIRST)

    await settle(line, await claim_one(line), Buried("no handler 'report'", pauses=True))

    view = await times.view()
    assert view.state is SchedulerState.PAUSED
    assert view.paused is not None
    assert view.paused.reason == "no handler 'report'"
    assert [run.outcome for run in view.runs] == ["dead"]
    assert (await handout(line)).next_fire_ms is None


async def test_a_scheduler_that_names_another_handler_by_now_is_not_paused(
    times: Timetable, line: Line, look: Look
):
    await times.put(every())
    await fire(times, FIRST)
    held = await claim_one(line)
    await look.client.hset(look.keys.job(FIRST), "name", "of-old")

    await settle(line, held, Buried("no handler 'of-old'", pauses=True))

    assert (await times.view()).state is SchedulerState.WAITING


async def test_a_pause_by_hand_keeps_its_reason(times: Timetable, line: Line):
    await times.put(every())
    await fire(times, FIRST)
    await times.store.pause("s1", reason="inventory")

    await settle(line, await claim_one(line), Buried("no handler", pauses=True))

    paused = (await times.view()).paused
    assert paused is not None
    assert paused.reason == "inventory"


async def test_the_end_of_a_job_whose_scheduler_is_gone_makes_none(
    times: Timetable, line: Line, look: Look
):
    await times.put(every())
    await fire(times, FIRST)
    held = await claim_one(line)
    await times.store.remove("s1")

    await settle(line, held, Buried("no handler", pauses=True))

    assert await look.client.exists(look.keys.scheduler("s1"), look.keys.schedulers) == 0


@pytest.mark.broken_state("a key of a foreign type in a scheduler's place")
async def test_a_foreign_key_in_its_place_does_not_stop_a_settlement(
    times: Timetable, line: Line, look: Look, queue: QueueStore
):
    await times.put(every())
    await fire(times, FIRST)
    held = await claim_one(line)
    await look.client.set(look.keys.scheduler("s1"), "not ours")

    await settle(line, held, Buried("no handler", pauses=True))

    assert (await queue.counts()).dead == 1
    assert await look.client.get(look.keys.scheduler("s1")) in {"not ours", b"not ours"}


async def test_claims_and_beats_tell_when_the_next_one_fires(
    times: Timetable, line: Line, queue: QueueStore
):
    assert (await handout(line)).next_fire_ms is None
    await times.put(every())
    next_ms = (await times.view()).next_ms

    assert (await handout(line)).next_fire_ms == next_ms
    beat = await line.beat(
        limit=0, lease_ms=LEASE_MS, promote=0, reap=0, crash_limit=0, max_attempts=0
    )
    assert beat.claimed.next_fire_ms == next_ms
    await queue.repeats.register("r", every_ms=60_000, template=b"tick", first_in_ms=0)
    told = (await handout(line)).next_fire_ms
    assert told is not None
    assert next_ms is not None
    assert told < next_ms
