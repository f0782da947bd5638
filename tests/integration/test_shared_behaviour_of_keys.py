"""A queue in memory behaves as one on a server: jobs that are enqueued under a key."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from echomq_worker.domain.job import Admission, After, Held, JobId, NewJob, State
from echomq_worker.domain.lanes import lane_group
from echomq_worker.domain.outcome import Buried, Completed, HandedBack, Retried
from echomq_worker.domain.unique import Conflict, Mode, Release, Unique, debounce, throttle
from echomq_worker.domain.views import Places, Removed
from tests.support import behaviour
from tests.support.behaviour import Driver
from tests.support.jobs import A, B, C, D, new_job

LEASE_MS = 10_000
KEY = "order-42"
REJECT = Conflict(Mode.REJECT)
REPLACE = Conflict(Mode.REPLACE)
KEEP = Conflict(Mode.KEEP_LATEST)
HELD = Admission.HELD
driver = behaviour.driver


async def send(
    driver: Driver, job: JobId | NewJob, conflict: Conflict = REJECT, key: str = KEY
) -> tuple[Admission, JobId]:
    found = job if isinstance(job, NewJob) else new_job(job)
    unique = Unique(key, conflict)
    return await driver.queue.enqueue_unique(replace(found, unique=unique), unique)


async def claim(driver: Driver, limit: int = 9) -> Sequence[Held]:
    return (await driver.line().claim(limit=limit, lease_ms=LEASE_MS, promote=9)).jobs


async def holder(driver: Driver) -> JobId | None:
    return await driver.queue.operator.holder(KEY)


async def payload(driver: Driver, job_id: JobId) -> bytes | None:
    seen = await driver.queue.inspect(job_id)
    return None if seen is None else seen.payload


@pytest.mark.parametrize("mode", [Mode.REJECT, Mode.REPLACE, Mode.KEEP_LATEST])
async def test_the_first_one_holds_the_key_and_no_second_one_goes_in(driver: Driver, mode: Mode):
    assert await send(driver, A, Conflict(mode)) == (Admission.ENQUEUED, A)
    expected = HELD if mode is Mode.REJECT else Admission.REPLACED
    assert await send(driver, B, Conflict(mode)) == (expected, A)
    assert await send(driver, C, Conflict(mode), key="other") == (Admission.ENQUEUED, C)
    assert await send(driver, A, Conflict(mode), key="third") == (Admission.DUPLICATE, A)
    assert await holder(driver) == A
    assert await driver.queue.pending_ids(9) == [A, C]
    assert await payload(driver, A) == (A if mode is Mode.REJECT else B).encode()


@pytest.mark.parametrize("outcome", [Completed(), Buried("no"), Retried(1_000, "no"), HandedBack()])
async def test_only_an_end_frees_the_key(
    driver: Driver, outcome: Completed | Buried | Retried | HandedBack
):
    await send(driver, A)
    line = driver.line()
    (held,) = (await line.claim(limit=1, lease_ms=LEASE_MS, promote=0)).jobs
    await line.settle([(held, outcome)])

    ended = isinstance(outcome, Completed | Buried)
    assert await holder(driver) == (None if ended else A)
    assert await send(driver, B) == ((Admission.ENQUEUED, B) if ended else (HELD, A))


async def test_a_removed_job_leaves_its_key_whatever_was_to_free_it(driver: Driver):
    releases = (Conflict(Mode.REJECT, release=Release.START), throttle("1h"), REJECT)
    for id_, conflict in zip((A, B, C), releases, strict=True):
        assert await send(driver, id_, conflict) == (Admission.ENQUEUED, id_)
        assert await driver.queue.remove(id_, Places.WAITING) is Removed.OK
    assert await holder(driver) is None


async def test_a_dead_job_that_is_brought_back_takes_its_key_again_if_it_is_free(driver: Driver):
    line = driver.line()
    await send(driver, A)
    (held,) = (await line.claim(limit=1, lease_ms=LEASE_MS, promote=0)).jobs
    await line.settle([(held, Buried("no"))])
    await driver.queue.requeue([A])
    assert await send(driver, B) == (HELD, A)

    (held,) = (await line.claim(limit=1, lease_ms=LEASE_MS, promote=0)).jobs
    await line.settle([(held, Buried("no"))])
    await send(driver, B)
    await driver.queue.requeue([A])
    assert await holder(driver) == B


async def test_a_key_may_be_free_from_the_start_on_for_good(driver: Driver):
    at_start = Conflict(Mode.REJECT, release=Release.START)
    line = driver.line()
    await send(driver, A, at_start)
    assert await send(driver, B, at_start) == (HELD, A)
    (held,) = (await line.claim(limit=1, lease_ms=LEASE_MS, promote=0)).jobs
    assert await holder(driver) is None
    await line.settle([(held, Retried(60_000, "no"))])
    assert await send(driver, B, at_start) == (Admission.ENQUEUED, B)
    assert await holder(driver) == B


async def test_a_throttled_key_is_held_for_its_period(driver: Driver):
    once = throttle("1m")
    line = driver.line()
    await send(driver, A, once)
    (held,) = (await line.claim(limit=1, lease_ms=LEASE_MS, promote=0)).jobs
    await line.settle([(held, Completed())])
    await driver.pass_time(50_000)
    assert await send(driver, B, once) == (HELD, A)
    await driver.pass_time(10_001)
    assert await send(driver, B, once) == (Admission.ENQUEUED, B)


async def test_a_replaced_job_keeps_its_place_and_gets_handler_and_arguments(driver: Driver):
    await send(driver, replace(new_job(B, name="one"), due=After(60_000)), REPLACE)
    assert await send(driver, new_job(C, name="two"), REPLACE) == (Admission.REPLACED, B)
    await driver.queue.enqueue([new_job(A, after_ms=60_000)])
    seen = await driver.queue.inspect(B)
    assert seen is not None
    assert (seen.state, seen.name, seen.payload) == (State.SCHEDULED, "two", C.encode())

    await driver.pass_time(60_001)
    assert [job.id for job in await claim(driver)] == [A, B]
    assert await send(driver, D, REPLACE) == (HELD, B), "it has begun"


async def test_a_debounced_job_starts_when_it_has_been_quiet(driver: Driver):
    quiet = debounce("10s")
    assert await send(driver, A, quiet) == (Admission.SCHEDULED, A)
    for id_ in (B, C, D):
        await driver.pass_time(9_000)
        assert await claim(driver) == []
        assert await send(driver, id_, quiet) == (Admission.POSTPONED, A)
    await driver.pass_time(10_001)

    (held,) = await claim(driver)

    assert (held.id, held.payload) == (A, D.encode())
    assert await holder(driver) is None
    assert await send(driver, B, quiet) == (Admission.SCHEDULED, B)


async def test_a_debounced_job_starts_at_the_latest_when_it_must(driver: Driver):
    quiet = debounce("10s", max="25s")
    await send(driver, A, quiet)
    for id_ in (B, C):
        await driver.pass_time(9_000)
        assert await send(driver, id_, quiet) == (Admission.POSTPONED, A)
    await driver.pass_time(7_001)
    (held,) = await claim(driver)
    assert held.payload == C.encode()


@pytest.mark.parametrize("mode", [Mode.REPLACE, Mode.KEEP_LATEST])
async def test_the_latest_arguments_run_last_though_the_first_job_has_to_run_again(
    driver: Driver, mode: Mode
):
    line = driver.line()
    await send(driver, A, KEEP)
    (held,) = (await line.claim(limit=1, lease_ms=LEASE_MS, promote=0)).jobs
    assert await send(driver, B, KEEP) == (Admission.KEPT, B)
    await line.settle([(held, Retried(0, "no"))])

    assert await send(driver, C, Conflict(mode)) == (Admission.REPLACED, B)

    (again,) = (await line.claim(limit=2, lease_ms=LEASE_MS, promote=9)).jobs
    assert (again.id, again.payload) == (A, A.encode())
    await line.settle([(again, Completed())])
    (last,) = (await line.claim(limit=2, lease_ms=LEASE_MS, promote=9)).jobs
    assert (last.id, last.payload) == (B, C.encode())
    await line.settle([(last, Completed())])


async def test_the_latest_one_starts_when_the_running_one_has_ended(driver: Driver):
    line = driver.line()
    await send(driver, A, KEEP)
    (held,) = (await line.claim(limit=1, lease_ms=LEASE_MS, promote=0)).jobs
    assert await send(driver, B, KEEP) == (Admission.KEPT, B)
    assert (await driver.queue.counts()).kept_back == 1
    assert await send(driver, C, KEEP) == (Admission.REPLACED, B)
    assert await claim(driver) == []
    assert await holder(driver) == A
    seen = await driver.queue.inspect(B)
    assert seen is not None
    assert (seen.state, seen.payload) == (State.PENDING, C.encode())

    await line.settle([(held, Completed())])

    assert await holder(driver) == B
    assert await driver.queue.pending_ids(9) == [B]
    (after,) = await claim(driver)
    assert (after.id, after.payload) == (B, C.encode())


async def test_what_is_kept_may_be_taken_back(driver: Driver):
    await send(driver, A, KEEP)
    await claim(driver)
    await send(driver, B, KEEP)
    assert await driver.queue.remove(B, Places.WAITING) is Removed.OK
    assert await driver.queue.inspect(B) is None
    assert await send(driver, C, KEEP) == (Admission.KEPT, C)


async def test_lane_and_priority_count_for_jobs_with_a_key(driver: Driver):
    laned = replace(new_job(C), group=lane_group("acme"), lane="acme")
    await send(driver, A, key="a")
    await send(driver, laned, key="c")
    await send(driver, replace(new_job(B), priority=-1), key="b")
    assert [job.id for job in await claim(driver, 1)] == [B]
    assert {job.id for job in await claim(driver)} == {A, C}


async def test_a_key_may_be_set_free_before_its_time(driver: Driver):
    operator = driver.queue.operator
    assert not await operator.release(KEY)
    await send(driver, A, throttle("1h"))
    assert await operator.release(KEY)
    assert await send(driver, B, KEEP) == (Admission.ENQUEUED, B)
    assert {job.id for job in await claim(driver)} == {A, B}
    assert await send(driver, C, KEEP) == (Admission.KEPT, C)

    assert await operator.release(KEY)

    assert await holder(driver) == C
    assert [job.id for job in await claim(driver)] == [C]
