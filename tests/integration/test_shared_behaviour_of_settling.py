"""A queue in memory behaves as one on a server: who may settle, and where a job goes then."""

from dataclasses import replace

import pytest

from echomq_worker.domain.job import Held, State
from echomq_worker.domain.outcome import (
    Buried,
    Completed,
    HandedBack,
    Outcome,
    Retried,
    Snoozed,
    Verdict,
)
from echomq_worker.domain.replies import Presence, Reaped
from echomq_worker.domain.views import JobView, Places, Removed, Requeued
from tests.support import behaviour
from tests.support.behaviour import Driver, LinePort
from tests.support.jobs import A, B, C, new_job

MINUTE_MS = 60_000
LEASE_MS = 10_000

driver = behaviour.driver

LASTING: list[Outcome] = [
    Retried(MINUTE_MS, "ValueError: no", b"[]"),
    Retried(MINUTE_MS, "ValueError: no", counted=False),
    Buried("ValueError: no"),
    Snoozed(MINUTE_MS),
    Snoozed(MINUTE_MS, unknown=True),
    HandedBack(),
]
ALL: list[Outcome] = [Completed(), *LASTING]


async def claim(line: LinePort) -> Held:
    (held,) = (await line.claim(limit=1, lease_ms=LEASE_MS, promote=10)).jobs
    return held


async def held_job(driver: Driver, line: LinePort) -> Held:
    await driver.queue.enqueue([new_job(A)])
    return await claim(line)


async def settle(line: LinePort, held: Held, outcome: Outcome) -> Verdict:
    (verdict,) = (await line.settle([(held, outcome)])).verdicts
    return verdict


async def seen(driver: Driver) -> JobView:
    view = await driver.queue.inspect(A)
    assert view is not None
    return view


@pytest.mark.parametrize("outcome", ALL)
async def test_the_holder_settles(driver: Driver, outcome: Outcome):
    line = driver.line()

    assert await settle(line, await held_job(driver, line), outcome) is Verdict.OK
    assert (await driver.queue.counts()).active == 0


@pytest.mark.parametrize("outcome", LASTING)
async def test_settling_twice_is_answered_already(driver: Driver, outcome: Outcome):
    line = driver.line()
    held = await held_job(driver, line)
    await settle(line, held, outcome)

    assert await settle(line, held, Completed()) is Verdict.ALREADY
    assert await driver.queue.inspect(A) is not None


async def test_settling_a_completed_job_is_answered_gone(driver: Driver):
    line = driver.line()
    held = await held_job(driver, line)
    await settle(line, held, Completed())

    assert await settle(line, held, Buried("late")) is Verdict.GONE
    assert (await driver.queue.counts()).dead == 0


async def test_settling_twice_in_one_call_is_answered_already(driver: Driver):
    line = driver.line()
    held = await held_job(driver, line)

    settled = await line.settle([(held, Completed()), (held, Buried("no"))])

    assert settled.verdicts == [Verdict.OK, Verdict.ALREADY]


@pytest.mark.parametrize("wrong", [{"token": 2}, {"token": 0}, {"claim": "x"}, {"claim": ""}])
async def test_nobody_settles_with_another_token_or_claim(
    driver: Driver, wrong: dict[str, int | str]
):
    line = driver.line()
    held = await held_job(driver, line)

    assert await settle(line, replace(held, **wrong), Completed()) is Verdict.STALE  # pyright: ignore[reportArgumentType]
    assert (await seen(driver)).state is State.ACTIVE


@pytest.mark.parametrize("outcome", ALL)
async def test_a_late_outcome_is_taken_while_the_job_waits_unclaimed(
    driver: Driver, outcome: Outcome
):
    line = driver.line()
    held = await held_job(driver, line)
    await driver.pass_time(LEASE_MS)
    await driver.queue.reap(10)

    assert (await seen(driver)).state is State.PENDING
    assert await settle(line, held, outcome) is Verdict.OK
    assert (await driver.queue.counts()).pending == isinstance(outcome, HandedBack)


async def test_a_late_outcome_is_refused_once_somebody_else_has_the_job(driver: Driver):
    line, other = driver.line(), driver.line()
    held = await held_job(driver, line)
    await driver.pass_time(LEASE_MS)
    await driver.queue.reap(10)
    again = await claim(other)

    assert (again.token, again.attempt) == (2, 2)
    assert await settle(line, held, Completed()) is Verdict.STALE
    assert await settle(other, again, Completed()) is Verdict.OK


async def test_a_retry_waits_and_is_the_next_attempt(driver: Driver):
    line = driver.line()
    held = await held_job(driver, line)
    await settle(line, held, Retried(MINUTE_MS, "ValueError: no", b'[{"attempt":1}]'))

    view = await seen(driver)
    assert (view.state, view.last_error) == (State.SCHEDULED, "ValueError: no")
    assert (view.failures, view.attempts) == (b'[{"attempt":1}]', 1)

    await driver.pass_time(MINUTE_MS + 1)
    again = await claim(line)
    assert (again.token, again.attempt, again.failures) == (2, 2, b'[{"attempt":1}]')


@pytest.mark.parametrize(
    "outcome",
    [Retried(MINUTE_MS, "no", counted=False), Snoozed(MINUTE_MS), HandedBack()],
)
async def test_what_does_not_count_is_not_counted(driver: Driver, outcome: Outcome):
    line = driver.line()
    await settle(line, await held_job(driver, line), outcome)
    assert (await seen(driver)).attempts == 0

    await driver.pass_time(MINUTE_MS + 1)
    again = await claim(line)
    assert (again.token, again.attempt, again.returned) == (2, 1, 1)


async def test_a_job_that_is_handed_back_may_be_claimed_at_once(driver: Driver):
    line = driver.line()
    held = await held_job(driver, line)

    settled = await line.settle([(held, HandedBack())], limit=1, lease_ms=LEASE_MS)

    assert [job.id for job in settled.claimed.jobs] == [A]


async def test_a_job_without_a_handler_remembers_since_when(driver: Driver):
    line = driver.line()
    held = await held_job(driver, line)
    await settle(line, held, Snoozed(1_000, unknown=True))
    await driver.pass_time(1_001)
    first = await claim(line)
    assert first.unknown_since_ms is not None

    await settle(line, first, Snoozed(1_000, unknown=True))
    await driver.pass_time(1_001)
    second = await claim(line)
    assert second.unknown_since_ms == first.unknown_since_ms

    await settle(line, second, Retried(0, "no"))
    assert (await claim(line)).unknown_since_ms is None


async def test_settling_and_claiming_go_in_one_call(driver: Driver):
    line = driver.line()
    await driver.queue.enqueue([new_job(A), new_job(B), new_job(C)])
    held = await claim(line)

    settled = await line.settle([(held, Completed())], limit=1, lease_ms=LEASE_MS)

    assert settled.verdicts == [Verdict.OK]
    assert [job.id for job in settled.claimed.jobs] == [B]
    assert settled.claimed.left == 1


async def test_a_buried_job_is_dead_until_it_is_requeued(driver: Driver):
    line = driver.line()
    held = await held_job(driver, line)
    await settle(line, held, Buried("ValueError: no", b'[{"attempt":1}]'))

    (dead,) = await driver.queue.dead(10)
    assert (dead.id, dead.state, dead.last_error) == (A, State.DEAD, "ValueError: no")
    assert dead.died_ms is not None
    assert (await driver.queue.counts()).failed == 1
    assert not (await line.claim(limit=1, lease_ms=LEASE_MS, promote=1)).jobs

    assert await driver.queue.requeue([A, A, B]) == [
        Requeued.OK,
        Requeued.NOT_DEAD,
        Requeued.GONE,
    ]
    view = await seen(driver)
    assert (view.state, view.last_error, view.attempts) == (State.PENDING, None, 0)
    assert (view.died_ms, view.failures) == (None, b'[{"attempt":1}]')
    again = await claim(line)
    assert (again.token, again.attempt) == (2, 1)


async def test_the_dead_are_listed_from_the_newest_and_can_be_removed(driver: Driver):
    line = driver.line()
    await driver.queue.enqueue([new_job(A), new_job(B), new_job(C)])
    claimed = await line.claim(limit=3, lease_ms=LEASE_MS, promote=0)
    await line.settle([(held, Buried("no")) for held in claimed.jobs])

    assert [view.id for view in await driver.queue.dead(10)] == [C, B, A]
    assert [view.id for view in await driver.queue.dead(1, offset=1)] == [B]
    assert await driver.queue.remove(B, Places.WAITING) is Removed.ELSEWHERE
    assert await driver.queue.remove(B, Places.DEAD) is Removed.OK
    assert [view.id for view in await driver.queue.dead(10)] == [C, A]


async def test_leases_lost_too_often_in_a_row_bury_a_job(driver: Driver):
    line = driver.line()
    await held_job(driver, line)
    assert await driver.queue.reap(10, crash_limit=2) == Reaped()
    await driver.pass_time(LEASE_MS)
    assert (await driver.queue.reap(10, crash_limit=2)).recovered == (A,)
    assert (await claim(line)).crashes == 1
    await driver.pass_time(LEASE_MS)

    assert (await driver.queue.reap(10, crash_limit=2)).buried == (A,)
    view = await seen(driver)
    assert (view.state, view.last_error) == (
        State.DEAD,
        "the lease was lost 2 times in a row",
    )


async def test_an_outcome_ends_the_row_of_crashes(driver: Driver):
    line = driver.line()
    await held_job(driver, line)
    await driver.pass_time(LEASE_MS)
    await driver.queue.reap(10)
    await settle(line, await claim(line), HandedBack())

    assert (await claim(line)).crashes == 0


async def test_a_lease_lost_in_the_last_attempt_buries_a_job(driver: Driver):
    line = driver.line()
    await held_job(driver, line)
    await driver.pass_time(LEASE_MS)

    assert (await driver.queue.reap(10, max_attempts=1)).buried == (A,)
    assert (await seen(driver)).last_error == "the lease was lost in attempt 1 of 1"


async def test_a_beat_reaps_promotes_claims_and_says_who_is_there(driver: Driver):
    line = driver.line()
    await held_job(driver, line)
    await driver.queue.enqueue([new_job(B, after_ms=LEASE_MS - 1)])
    await driver.pass_time(LEASE_MS)

    beat = await line.beat(
        limit=2,
        lease_ms=LEASE_MS,
        promote=5,
        reap=5,
        crash_limit=5,
        max_attempts=5,
        worker=Presence("w1"),
    )

    assert beat.reaped.recovered == (A,)
    assert [held.id for held in beat.claimed.jobs] == [A, B]
    assert (await driver.queue.counts()).workers == 1


async def test_a_run_from_before_a_requeue_counts_no_more(driver: Driver):
    line = driver.line()
    await driver.queue.enqueue([new_job(A)])
    (lost,) = (await line.claim(limit=1, lease_ms=LEASE_MS, promote=0)).jobs
    await driver.pass_time(LEASE_MS + 1)
    await driver.queue.reap(1, crash_limit=1)
    await driver.queue.requeue([A])
    assert (await line.settle([(lost, Completed())])).verdicts == [Verdict.STALE]
