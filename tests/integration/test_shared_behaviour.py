"""A queue in memory behaves as one on a server: what comes in, what is handed out, what is seen."""

from dataclasses import replace

import pytest

from echomq_worker.domain.job import Admission, JobId, NewJob, State
from echomq_worker.domain.outcome import Completed
from echomq_worker.domain.views import Places, Removed
from echomq_worker.errors import InvalidIdError
from tests.support import behaviour
from tests.support.behaviour import Driver
from tests.support.jobs import A, B, C, D, new_job

MINUTE_MS = 60_000
LEASE_MS = 10_000

driver = behaviour.driver


async def test_a_job_waits_as_it_was_enqueued(driver: Driver):
    job = NewJob(A, b'{"to":"a"}', name="send", max_attempts=3, keep_result_ms=MINUTE_MS)

    assert await driver.queue.enqueue([job]) == [Admission.ENQUEUED]

    seen = await driver.queue.inspect(A)
    assert seen is not None
    assert (seen.id, seen.state, seen.payload) == (A, State.PENDING, b'{"to":"a"}')
    assert (seen.name, seen.max_attempts, seen.token, seen.attempts) == ("send", 3, 0, 0)
    assert (seen.due_ms, seen.lease_ms, seen.died_ms, seen.last_error) == (None, None, None, None)


async def test_an_id_that_is_taken_is_a_duplicate_and_changes_nothing(driver: Driver):
    await driver.queue.enqueue([new_job(A, payload=b"first")])

    again = [new_job(A, payload=b"second", after_ms=MINUTE_MS), new_job(B), new_job(B)]
    assert await driver.queue.enqueue(again) == [
        Admission.DUPLICATE,
        Admission.ENQUEUED,
        Admission.DUPLICATE,
    ]
    seen = await driver.queue.inspect(A)
    assert seen is not None
    assert (seen.payload, seen.state) == (b"first", State.PENDING)


async def test_of_one_id_in_one_call_the_job_that_may_run_at_once_is_taken(driver: Driver):
    later, at_once = new_job(A, payload=b"later", after_ms=MINUTE_MS), new_job(A, payload=b"now")

    assert await driver.queue.enqueue([later, at_once, new_job(B, after_ms=1)]) == [
        Admission.DUPLICATE,
        Admission.ENQUEUED,
        Admission.SCHEDULED,
    ]
    seen = await driver.queue.inspect(A)
    assert seen is not None
    assert seen.payload == b"now"


async def test_a_job_that_is_lost_in_its_last_attempt_dies_by_its_own_limit(driver: Driver):
    line = driver.line()
    await driver.queue.enqueue([new_job(A, max_attempts=1), new_job(B)])
    await line.claim(limit=2, lease_ms=LEASE_MS, promote=0)
    await driver.pass_time(LEASE_MS + 1)

    reaped = await driver.queue.reap(9)

    assert (reaped.recovered, reaped.buried) == ((B,), (A,))


async def test_the_id_of_a_completed_job_may_be_used_again(driver: Driver):
    line = driver.line()
    await driver.queue.enqueue([new_job(A)])
    (held,) = (await line.claim(limit=1, lease_ms=LEASE_MS, promote=0)).jobs
    await line.settle([(held, Completed())])

    assert await driver.queue.inspect(A) is None
    assert await driver.queue.enqueue([new_job(A)]) == [Admission.ENQUEUED]


@pytest.mark.parametrize("text", ["", "JOB", "TSK00000000001", "JOB0000000000!"])
async def test_what_is_no_job_id_is_refused(driver: Driver, text: str):
    with pytest.raises(InvalidIdError):
        await driver.queue.enqueue([new_job(JobId(text))])


async def test_jobs_are_handed_out_in_mint_order(driver: Driver):
    await driver.queue.enqueue([new_job(C), new_job(A)])
    await driver.queue.enqueue([new_job(B)])

    assert await driver.queue.pending_ids(10) == [A, B, C]
    assert await driver.queue.pending_ids(2, newest_first=True) == [C, B]
    claimed = await driver.line().claim(limit=2, lease_ms=LEASE_MS, promote=0)
    assert [held.id for held in claimed.jobs] == [A, B]
    assert (claimed.left, claimed.next_due_ms, claimed.paused) == (1, None, False)


async def test_a_claim_gets_the_whole_job_and_a_lease(driver: Driver):
    job = NewJob(A, b"{}", name="send", max_attempts=3, keep_result_ms=7)
    await driver.queue.enqueue([job])

    claimed = await driver.line().claim(limit=5, lease_ms=LEASE_MS, promote=0)

    (held,) = claimed.jobs
    assert (held.id, held.payload, held.name) == (A, b"{}", "send")
    assert (held.token, held.attempt, held.returned, held.crashes) == (1, 1, 0, 0)
    assert (held.max_attempts, held.keep_result_ms, held.failures) == (3, 7, None)
    seen = await driver.queue.inspect(A)
    assert seen is not None
    assert (seen.state, seen.token, seen.attempts) == (State.ACTIVE, 1, 1)
    assert seen.lease_ms == claimed.now_ms + LEASE_MS


async def test_a_job_that_is_held_is_not_handed_out_again(driver: Driver):
    await driver.queue.enqueue([new_job(A)])
    await driver.line().claim(limit=5, lease_ms=LEASE_MS, promote=0)

    assert not (await driver.line().claim(limit=5, lease_ms=LEASE_MS, promote=9)).jobs


async def test_a_delayed_job_is_due_after_its_delay_and_not_before(driver: Driver):
    before_ms = await driver.now_ms()
    assert await driver.queue.enqueue([new_job(A, after_ms=MINUTE_MS)]) == [Admission.SCHEDULED]

    seen = await driver.queue.inspect(A)
    assert seen is not None
    assert seen.state is State.SCHEDULED
    assert seen.due_ms is not None
    assert before_ms + MINUTE_MS <= seen.due_ms <= await driver.now_ms() + MINUTE_MS + 1

    await driver.pass_time(MINUTE_MS - 5_000)
    assert (await driver.queue.promote(10)).moved == 0
    await driver.pass_time(5_001)
    promoted = await driver.queue.promote(10)
    assert (promoted.moved, promoted.next_due_ms) == (1, None)
    seen = await driver.queue.inspect(A)
    assert seen is not None
    assert (seen.state, seen.due_ms) == (State.PENDING, None)


async def test_an_instant_that_is_past_is_due_at_once(driver: Driver):
    at_ms = await driver.now_ms() - MINUTE_MS
    assert await driver.queue.enqueue([new_job(A, at_ms=at_ms)]) == [Admission.SCHEDULED]

    claimed = await driver.line().claim(limit=1, lease_ms=LEASE_MS, promote=1)

    assert [held.id for held in claimed.jobs] == [A]


async def test_a_claim_promotes_no_more_than_it_was_told_and_the_earliest_first(driver: Driver):
    now_ms = await driver.now_ms()
    await driver.queue.enqueue([new_job(A, at_ms=now_ms - 10), new_job(B, at_ms=now_ms - 20)])
    await driver.queue.enqueue([new_job(C, at_ms=now_ms - 15)])

    line = driver.line()
    none = await line.claim(limit=5, lease_ms=LEASE_MS, promote=0)
    some = await line.claim(limit=5, lease_ms=LEASE_MS, promote=2)

    assert (none.jobs, none.next_due_ms) == ([], now_ms - 20)
    assert [held.id for held in some.jobs] == [B, C]
    assert some.next_due_ms == now_ms - 10


async def test_a_claim_tells_when_the_next_job_is_due(driver: Driver):
    await driver.queue.enqueue([new_job(A, after_ms=MINUTE_MS), new_job(B, after_ms=5_000)])

    claimed = await driver.line().claim(limit=1, lease_ms=LEASE_MS, promote=10)

    seen = await driver.queue.inspect(B)
    assert seen is not None
    assert claimed.next_due_ms == seen.due_ms


async def test_a_paused_queue_hands_out_nothing_and_takes_everything_in(driver: Driver):
    line = driver.line()
    await driver.queue.enqueue([new_job(A)])
    await driver.queue.pause(reason="deploy", by="me")
    await driver.queue.enqueue([new_job(B, after_ms=0)])

    paused = await line.claim(limit=5, lease_ms=LEASE_MS, promote=5)
    assert (paused.jobs, paused.paused, paused.left) == ([], True, 2)
    assert (await driver.queue.counts()).paused

    await driver.queue.resume()
    resumed = await line.claim(limit=5, lease_ms=LEASE_MS, promote=0)
    assert ([held.id for held in resumed.jobs], resumed.paused) == ([A, B], False)
    assert not (await driver.queue.counts()).paused


async def test_each_place_is_counted(driver: Driver):
    line = driver.line()
    await driver.queue.enqueue([new_job(A), new_job(B), new_job(C, after_ms=MINUTE_MS)])
    (held,) = (await line.claim(limit=1, lease_ms=LEASE_MS, promote=0)).jobs

    counts = await driver.queue.counts()
    assert (counts.pending, counts.active, counts.scheduled) == (1, 1, 1)
    assert (counts.dead, counts.completed, counts.failed) == (0, 0, 0)

    await line.settle([(held, Completed())])
    counts = await driver.queue.counts()
    assert (counts.active, counts.completed) == (0, 1)


async def test_a_job_is_removed_only_from_where_it_was_looked_for(driver: Driver):
    line = driver.line()
    await driver.queue.enqueue([new_job(A), new_job(B, after_ms=MINUTE_MS), new_job(C)])
    await line.claim(limit=1, lease_ms=LEASE_MS, promote=0)

    remove = driver.queue.remove
    assert await remove(A, Places.ANY) is Removed.ACTIVE
    assert await remove(B, Places.DEAD) is Removed.ELSEWHERE
    assert await remove(B, Places.WAITING) is Removed.OK
    assert await remove(B, Places.WAITING) is Removed.GONE
    assert await remove(C, Places.ANY) is Removed.OK
    assert await remove(D, Places.ANY) is Removed.GONE
    counts = await driver.queue.counts()
    assert (counts.pending, counts.active, counts.scheduled) == (0, 1, 0)


async def test_a_kept_result_is_there_until_its_time_is_over(driver: Driver):
    line = driver.line()
    await driver.queue.enqueue([new_job(A), new_job(B)])
    jobs = (await line.claim(limit=2, lease_ms=LEASE_MS, promote=0)).jobs
    await line.settle([(jobs[0], Completed(b"42", keep_ms=MINUTE_MS)), (jobs[1], Completed())])

    kept = await driver.queue.result(A)
    assert kept is not None
    assert (kept.outcome, kept.result) == ("completed", b"42")
    assert abs(kept.finished_ms - await driver.now_ms()) < MINUTE_MS
    assert await driver.queue.result(B) is None

    await driver.pass_time(MINUTE_MS)
    assert await driver.queue.result(A) is None


async def test_only_the_holder_extends_a_lease(driver: Driver):
    line = driver.line()
    await driver.queue.enqueue([new_job(A)])
    (held,) = (await line.claim(limit=1, lease_ms=LEASE_MS, promote=0)).jobs
    others = [replace(held, token=2), replace(held, claim="other"), replace(held, id=B)]

    assert await driver.queue.extend([*others, held], MINUTE_MS) == [
        "stale",
        "stale",
        "gone",
        "ok",
    ]
    seen = await driver.queue.inspect(A)
    assert seen is not None
    assert seen.lease_ms is not None
    assert seen.lease_ms > await driver.now_ms() + LEASE_MS
