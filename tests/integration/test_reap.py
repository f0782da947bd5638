"""Reaping: leases that ran out come back; too many losses in a row, or of attempts, bury."""

import asyncio

import pytest

from echomq_worker.domain.job import JobId
from echomq_worker.domain.outcome import HandedBack
from echomq_worker.errors import InvalidArgumentError
from echomq_worker.store import QueueStore, Reaped
from echomq_worker.store.line import Line
from tests.support.jobs import (
    A,
    B,
    C,
    claim,
    claim_one,
    enqueue,
    job_id,
    new_job,
    settle,
)
from tests.support.look import Look


async def lose(queue: QueueStore, line: Line, look: Look, **limits: int) -> Reaped:
    """Claim the only job, let its lease run out, and reap."""
    job = await claim_one(line)
    await look.expire_lease(job.id)
    return await queue.reap(10, **limits)


async def test_a_job_whose_lease_ran_out_waits_again(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, A)
    job = await claim_one(line)
    await look.expire_lease(A)

    assert await queue.reap(10) == Reaped(recovered=(A,))

    assert await look.places() == {"pending": [A]}
    assert await look.row(A) == {
        "state": "pending",
        "attempts": "1",
        "payload": A,
        "claim": job.claim,
        "crashes": "1",
    }


async def test_a_lease_that_runs_is_left_alone(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, A)
    await claim_one(line)
    before = await look.everything()

    assert await queue.reap(10) == Reaped()
    assert await look.everything() == before


async def test_no_more_are_taken_back_than_asked_the_longest_lost_first(
    queue: QueueStore, line: Line, look: Look
):
    await enqueue(queue, A, B, C)
    await claim(line, 3)
    await look.expire_lease(C, A, B)

    assert await queue.reap(2) == Reaped(recovered=(C, A))
    assert await look.places() == {"pending": [A, C], "active": [B]}


async def test_one_call_takes_back_at_most_a_thousand(queue: QueueStore, line: Line, look: Look):
    await queue.enqueue([new_job(job_id(number)) for number in range(9_000)])
    for _ in range(9):
        await claim(line, 1_000)
    leases = (part for number in range(9_000) for part in (1, job_id(number)))
    await look.do("ZADD", look.keys.active, *leases)

    assert len((await queue.reap(20_000)).recovered) == 1_000


async def test_the_lease_lost_too_often_in_a_row_buries(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, A)
    before_ms = await look.now_us() // 1000

    reaped = [await lose(queue, line, look, crash_limit=3) for _ in range(3)]

    assert reaped == [Reaped(recovered=(A,))] * 2 + [Reaped(buried=(A,))]
    assert await look.places() == {"dead": [A]}
    view = await queue.inspect(A)
    assert view is not None
    assert view.last_error == "the lease was lost 3 times in a row"
    assert view.died_ms is not None
    assert before_ms <= view.died_ms
    assert (await queue.counts()).failed == 1


async def test_without_a_crash_limit_a_lost_lease_never_buries(
    queue: QueueStore, line: Line, look: Look
):
    await enqueue(queue, A)

    for _ in range(8):
        assert await lose(queue, line, look) == Reaped(recovered=(A,))


async def test_a_settlement_between_two_crashes_starts_the_count_afresh(
    queue: QueueStore, line: Line, look: Look
):
    await enqueue(queue, A)
    await lose(queue, line, look, crash_limit=2)
    await settle(line, await claim_one(line), HandedBack())

    assert await lose(queue, line, look, crash_limit=2) == Reaped(recovered=(A,))


@pytest.mark.case("LSE-23")
async def test_a_lost_lease_spends_an_attempt_and_the_last_one_buries(
    queue: QueueStore, line: Line, look: Look
):
    await enqueue(queue, A)

    assert await lose(queue, line, look, max_attempts=2) == Reaped(recovered=(A,))
    assert await lose(queue, line, look, max_attempts=2) == Reaped(buried=(A,))
    view = await queue.inspect(A)
    assert view is not None
    assert view.last_error == "the lease was lost in attempt 2 of 2"


async def test_attempts_that_did_not_count_are_not_held_against_it(
    queue: QueueStore, line: Line, look: Look
):
    await enqueue(queue, A)
    for _ in range(3):
        await settle(line, await claim_one(line), HandedBack())

    assert await lose(queue, line, look, max_attempts=2) == Reaped(recovered=(A,))
    assert await lose(queue, line, look, max_attempts=2) == Reaped(buried=(A,))


@pytest.mark.parametrize("default", [0, 10])
async def test_the_number_of_attempts_on_the_row_comes_before_the_default(
    queue: QueueStore, line: Line, look: Look, default: int
):
    await queue.enqueue([new_job(A, max_attempts=1)])

    assert await lose(queue, line, look, max_attempts=default) == Reaped(buried=(A,))


async def test_a_row_that_may_be_tried_more_often_than_the_default_is(
    queue: QueueStore, line: Line, look: Look
):
    await queue.enqueue([new_job(A, max_attempts=3)])

    assert await lose(queue, line, look, max_attempts=1) == Reaped(recovered=(A,))


async def test_the_dead_of_a_crash_can_be_brought_back_with_all_their_attempts(
    queue: QueueStore, line: Line, look: Look
):
    await enqueue(queue, A)
    await lose(queue, line, look, crash_limit=1)
    await queue.requeue([A])

    assert await lose(queue, line, look, crash_limit=2, max_attempts=2) == Reaped(recovered=(A,))


async def test_the_peers_rule_counts_in_the_peers_field(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, A)
    await claim_one(line)
    await look.expire_lease(A)
    assert await queue.sweep_stalled(10, 2) == Reaped(recovered=(A,))
    assert (await look.row(A))["stalled"] == "1"

    await claim_one(line)
    await look.expire_lease(A)
    assert await queue.sweep_stalled(10, 2) == Reaped(buried=(A,))
    row = await look.row(A)
    assert (row["stalled"], row["last_error"]) == ("2", "stalled")
    assert "crashes" not in row


async def test_a_reaped_job_loses_the_peers_lock_field(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, A)
    await claim_one(line)
    await look.do("HSET", look.keys.job(A), "lock", "1")
    await look.expire_lease(A)

    await queue.reap(1)

    assert "lock" not in await look.row(A)


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"crash_limit": -1}, {"max_attempts": -1}])
async def test_numbers_out_of_range_are_refused_before_anything_is_written(
    queue: QueueStore, line: Line, look: Look, wrong: dict[str, int]
):
    await enqueue(queue, A)
    await claim_one(line)
    await look.expire_lease(A)
    before = await look.dumps()

    with pytest.raises(InvalidArgumentError):
        await queue.reap(**{"limit": 1} | wrong)

    assert await look.dumps() == before


async def test_a_job_is_taken_back_by_one_of_many_reapers(
    queue: QueueStore, line: Line, look: Look
):
    ids: list[JobId] = [job_id(number) for number in range(50)]
    await enqueue(queue, *ids)
    await claim(line, 50)
    await look.expire_lease(*ids)

    reaped = await asyncio.gather(*(queue.reap(7, crash_limit=2) for _ in range(16)))

    assert sorted(id_ for one in reaped for id_ in one.recovered) == ids
    assert {(await look.row(id_))["crashes"] for id_ in ids} == {"1"}


async def test_a_limit_of_nothing_on_the_row_is_none_of_its_own(
    queue: QueueStore, line: Line, look: Look
):
    await enqueue(queue, A)
    await claim_one(line)
    await look.do("HSET", look.keys.job(A), "max", 0)
    await look.expire_lease(A)

    assert (await queue.reap(1, max_attempts=1)).buried == (A,)
