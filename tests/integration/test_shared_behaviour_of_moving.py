"""A queue in memory behaves as one on a server: jobs that are moved, and those that expire."""

from dataclasses import replace

import pytest

from echomq_worker.domain.job import After, At, JobId, State
from echomq_worker.domain.outcome import Buried, HandedBack, Outcome, Retried, Snoozed
from echomq_worker.domain.views import JobView, Moved
from tests.support import behaviour
from tests.support.behaviour import Driver
from tests.support.jobs import A, B, C, D, E, new_job

MINUTE_MS = 60_000
LEASE_MS = 10_000

driver = behaviour.driver


async def view(driver: Driver, job_id: JobId) -> JobView:
    seen = await driver.queue.inspect(job_id)
    assert seen is not None
    return seen


async def test_a_job_is_due_when_it_was_moved_to(driver: Driver):
    now_ms = await driver.now_ms()
    await driver.queue.enqueue([new_job(id_, after_ms=MINUTE_MS) for id_ in (A, B, C)])

    later, earlier = At(now_ms + 3 * MINUTE_MS), After(2_000)
    assert await driver.queue.reschedule([A], later) == [Moved.OK]
    assert await driver.queue.reschedule([B], earlier) == [Moved.OK]

    assert (await view(driver, A)).due_ms == now_ms + 3 * MINUTE_MS
    due_ms = (await view(driver, B)).due_ms
    assert due_ms is not None
    assert now_ms + 2_000 <= due_ms <= await driver.now_ms() + 2_001
    await driver.pass_time(2_001)
    await driver.queue.promote(9)
    assert await driver.queue.pending_ids(9) == [B]
    await driver.pass_time(MINUTE_MS)
    await driver.queue.promote(9)
    assert await driver.queue.pending_ids(9) == [B, C]


async def test_a_job_that_is_moved_into_the_past_is_due_at_once(driver: Driver):
    await driver.queue.enqueue([new_job(A, after_ms=MINUTE_MS), new_job(B, after_ms=MINUTE_MS)])

    await driver.queue.reschedule([A], At(0))
    await driver.queue.reschedule([B], After(0))

    assert (await driver.queue.promote(9)).moved == 2


async def test_only_what_waits_for_its_time_is_moved(driver: Driver):
    line = driver.line()
    await driver.queue.enqueue([new_job(A), new_job(B)])
    first, _ = (await line.claim(limit=2, lease_ms=LEASE_MS, promote=0)).jobs
    await line.settle([(first, Buried("no"))])
    await driver.queue.enqueue([new_job(C), new_job(D, after_ms=MINUTE_MS)])
    no, ok, gone = Moved.NOT_SCHEDULED, Moved.OK, Moved.GONE

    assert await driver.queue.reschedule([A, B, C, D, E], After(1)) == [no, no, no, ok, gone]
    assert await driver.queue.promote_now([A, B, C, D, E, D]) == [no, no, no, ok, gone, no]

    states = [(await view(driver, id_)).state for id_ in (A, B, C, D)]
    assert states == [State.DEAD, State.ACTIVE, State.PENDING, State.PENDING]


async def test_a_retry_and_a_snoozed_job_are_moved_as_well(driver: Driver):
    line = driver.line()
    await driver.queue.enqueue([new_job(A), new_job(B)])
    first, second = (await line.claim(limit=2, lease_ms=LEASE_MS, promote=0)).jobs
    await line.settle([(first, Retried(MINUTE_MS, "no")), (second, Snoozed(MINUTE_MS))])

    assert await driver.queue.reschedule([A], After(0)) == [Moved.OK]
    assert await driver.queue.promote_now([B]) == [Moved.OK]

    jobs = (await line.claim(limit=2, lease_ms=LEASE_MS, promote=2)).jobs
    assert [(job.id, job.token, job.attempt) for job in jobs] == [(A, 2, 2), (B, 2, 1)]


async def test_a_job_snoozed_until_an_instant_is_due_then(driver: Driver):
    line = driver.line()
    until_ms = await driver.now_ms() + MINUTE_MS
    await driver.queue.enqueue([new_job(A), new_job(B)])
    first, second = (await line.claim(limit=2, lease_ms=LEASE_MS, promote=0)).jobs

    await line.settle([(first, Snoozed(0, until_ms=until_ms)), (second, Snoozed(0, until_ms=1))])

    assert (await view(driver, A)).due_ms == until_ms
    (again,) = (await line.claim(limit=2, lease_ms=LEASE_MS, promote=2)).jobs
    assert (again.id, again.token, again.attempt, again.returned) == (B, 2, 1, 1)


async def test_what_a_producer_decides_reaches_the_worker(driver: Driver):
    now_ms = await driver.now_ms()
    job = replace(new_job(A), timeout_ms=5_000, backoff="steps:1000:none")
    bare = replace(new_job(B), expires=At(now_ms + MINUTE_MS))
    await driver.queue.enqueue([job, bare, new_job(C)])

    jobs = (await driver.line().claim(limit=3, lease_ms=LEASE_MS, promote=0)).jobs

    said = [(job.timeout_ms, job.backoff, job.expires_ms) for job in jobs]
    assert said == [
        (5_000, "steps:1000:none", None),
        (None, None, now_ms + MINUTE_MS),
        (None, None, None),
    ]
    assert (await view(driver, B)).expires_ms == now_ms + MINUTE_MS


async def test_a_duration_until_a_job_expires_counts_from_when_it_is_due(driver: Driver):
    now_ms = await driver.now_ms()
    await driver.queue.enqueue(
        [
            replace(new_job(A), expires=After(5_000)),
            replace(new_job(B, after_ms=MINUTE_MS), expires=After(5_000)),
            replace(new_job(C, at_ms=now_ms + MINUTE_MS), expires=After(5_000)),
            replace(new_job(D, at_ms=1), expires=After(5_000)),
        ]
    )
    slack = await driver.now_ms() - now_ms + 1

    expires = [(await view(driver, id_)).expires_ms for id_ in (A, B, C, D)]
    from_now = now_ms + 5_000
    for found, expected in zip(expires, [0, MINUTE_MS, MINUTE_MS, 0], strict=True):
        assert found is not None
        assert from_now + expected <= found <= from_now + expected + slack
    assert expires[2] == from_now + MINUTE_MS


async def test_a_duration_until_a_job_expires_moves_along_with_it(driver: Driver):
    now_ms = await driver.now_ms()
    far = At(now_ms + MINUTE_MS)
    await driver.queue.enqueue(
        [replace(new_job(id_, at_ms=far.unix_ms), expires=After(5_000)) for id_ in (A, B, C)]
        + [replace(new_job(D, at_ms=far.unix_ms), expires=At(far.unix_ms + 9))]
    )

    await driver.queue.reschedule([A, D], At(now_ms + 3 * MINUTE_MS))
    await driver.queue.reschedule([B], At(1))
    await driver.queue.promote_now([C])

    slack = await driver.now_ms() - now_ms + 1
    expires = [(await view(driver, id_)).expires_ms for id_ in (A, B, C, D)]
    assert expires[0] == now_ms + 3 * MINUTE_MS + 5_000
    for at_once in expires[1:3]:
        assert at_once is not None
        assert now_ms + 5_000 <= at_once <= now_ms + 5_000 + slack
    assert expires[3] == far.unix_ms + 9, "an instant stays"


async def test_the_expiry_of_a_job_that_no_handler_has_begun_moves_along_too(driver: Driver):
    line = driver.line()
    await driver.queue.enqueue([replace(new_job(A), expires=After(5_000))])
    (held,) = (await line.claim(limit=1, lease_ms=LEASE_MS, promote=0)).jobs
    await line.settle([(held, Snoozed(MINUTE_MS, unknown=True))])
    due_ms = await driver.now_ms() + 2 * MINUTE_MS

    await driver.queue.reschedule([A], At(due_ms))

    assert (await view(driver, A)).expires_ms == due_ms + 5_000


async def test_a_dead_job_that_is_brought_back_expires_no_more(driver: Driver):
    line = driver.line()
    await driver.queue.enqueue([replace(new_job(A), expires=After(5_000))])
    (held,) = (await line.claim(limit=1, lease_ms=LEASE_MS, promote=0)).jobs
    await line.settle([(held, Buried("a lease was lost"))])

    await driver.queue.requeue([A])

    (again,) = (await line.claim(limit=1, lease_ms=LEASE_MS, promote=0)).jobs
    assert (again.attempt, again.expires_ms) == (1, None)


@pytest.mark.parametrize(
    ("outcome", "expires"),
    [
        (Snoozed(0), False),
        (Snoozed(0, until_ms=1), False),
        (HandedBack(started=True), False),
        (HandedBack(), True),
        (Snoozed(0, unknown=True), True),
    ],
)
async def test_what_was_begun_in_time_expires_no_more(
    driver: Driver, outcome: Outcome, *, expires: bool
):
    line = driver.line()
    await driver.queue.enqueue([replace(new_job(A), expires=After(5_000))])
    (held,) = (await line.claim(limit=1, lease_ms=LEASE_MS, promote=0)).jobs
    assert held.expires_ms is not None

    await line.settle([(held, outcome)])

    (again,) = (await line.claim(limit=1, lease_ms=LEASE_MS, promote=1)).jobs
    assert again.expires_ms == (held.expires_ms if expires else None)
    assert (again.token, again.attempt) == (2, 1)
