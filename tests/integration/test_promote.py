"""Promotion: what is due, no more than asked, and never early."""

import asyncio

import pytest

from echomq_worker.errors import InvalidArgumentError
from echomq_worker.store import QueueStore
from echomq_worker.store.line import Line
from tests.support.jobs import A, B, C, D, claim, enqueue, job_id, new_job
from tests.support.look import Look
from tests.support.stores import no_trouble

HOUR_MS = 3_600_000


async def test_what_is_due_becomes_pending_in_mint_order(queue: QueueStore, look: Look):
    await queue.enqueue([new_job(B, at_ms=1), new_job(A, at_ms=2), new_job(C, after_ms=HOUR_MS)])

    promoted = await queue.promote(10)

    assert promoted.moved == 2
    assert await look.places() == {"pending": [A, B], "schedule": [C]}
    assert await look.scores(look.keys.pending) == {A: 0, B: 0}
    assert (await look.row(A))["state"] == "pending"


async def test_the_earliest_due_go_first_and_no_more_than_asked(queue: QueueStore, look: Look):
    jobs = [new_job(A, at_ms=3), new_job(B, at_ms=1), new_job(C, at_ms=2), new_job(D, at_ms=4)]
    await queue.enqueue(jobs)

    promoted = await queue.promote(2)

    assert (promoted.moved, promoted.next_due_ms) == (2, 3)
    assert await look.places() == {"pending": [B, C], "schedule": [A, D]}


async def test_with_nothing_due_it_tells_when_the_next_is(queue: QueueStore, look: Look):
    due_ms = await look.now_us() // 1000 + HOUR_MS
    await queue.enqueue([new_job(A, at_ms=due_ms)])

    before_ms = await look.now_us() // 1000
    promoted = await queue.promote(10)

    assert (promoted.moved, promoted.next_due_ms) == (0, due_ms)
    assert before_ms <= promoted.now_ms <= await look.now_us() // 1000


async def test_with_nothing_scheduled_it_tells_so(queue: QueueStore):
    promoted = await queue.promote(10)

    assert (promoted.moved, promoted.next_due_ms) == (0, None)


@pytest.mark.broken_state("a job is put into the schedule again while it waits")
async def test_a_part_of_a_ms_counts_as_a_whole_one(queue: QueueStore, look: Look):
    await enqueue(queue, A)
    await look.do("ZADD", look.keys.schedule, "4000000000000.25", A)

    assert (await queue.promote(10)).next_due_ms == 4_000_000_000_001


@pytest.mark.broken_state("a job is never due")
async def test_a_score_of_never_is_never_due(queue: QueueStore, look: Look):
    await queue.enqueue([new_job(A, at_ms=1)])
    await look.do("ZADD", look.keys.schedule, "+inf", A)

    promoted = await queue.promote(10)

    assert (promoted.moved, promoted.next_due_ms) == (0, None)


@pytest.mark.parametrize("limit", [0, -1])
async def test_a_limit_out_of_range_is_refused(queue: QueueStore, limit: int):
    with pytest.raises(InvalidArgumentError):
        await queue.promote(limit)


async def test_one_call_moves_at_most_a_thousand(queue: QueueStore):
    await queue.enqueue([new_job(job_id(number), at_ms=1) for number in range(9_000)])

    assert (await queue.promote(20_000)).moved == 1_000
    assert (await queue.counts()).scheduled == 8_000


@pytest.mark.parametrize("delay_ms", [1, 2, 5, 13])
async def test_nothing_is_promoted_early(queue: QueueStore, look: Look, delay_ms: int):
    for number in range(10):
        await asyncio.sleep(0.0003)  # lands elsewhere within a ms
        before_us = await look.now_us()
        await queue.enqueue([new_job(job_id(number), after_ms=delay_ms)])
        while not (await queue.promote(1)).moved:
            pass
        assert await look.now_us() >= before_us + delay_ms * 1000


async def test_a_claim_promotes_nothing_early(queue: QueueStore, line: Line, look: Look):
    for number in range(10):
        due_ms = await look.now_us() // 1000 + 4
        await queue.enqueue([new_job(job_id(number), at_ms=due_ms)])
        while not await claim(line, promote=1):
            pass
        assert await look.now_us() >= due_ms * 1000


async def test_a_job_is_promoted_once_whoever_asks(queue: QueueStore, look: Look):
    await queue.enqueue([new_job(job_id(number), at_ms=1) for number in range(100)])

    moved = [one.moved for one in await asyncio.gather(*(queue.promote(7) for _ in range(30)))]

    assert sum(moved) == 100
    assert len(await look.members(look.keys.pending)) == 100


async def test_the_first_to_ask_becomes_the_watcher(queue: QueueStore, look: Look):
    assert (await queue.promote(1, worker_id="w1", watch_ms=60_000)).watching
    assert not (await queue.promote(1, worker_id="w2", watch_ms=60_000)).watching
    assert await look.do("GET", look.keys.pump) == b"w1"


async def test_the_watcher_renews_its_hold_with_each_call(queue: QueueStore, look: Look):
    await queue.promote(1, worker_id="w1", watch_ms=5_000)
    await queue.promote(1, worker_id="w1", watch_ms=60_000)

    assert await look.do("PTTL", look.keys.pump) > 5_000


async def test_the_watch_is_free_when_its_time_has_passed(queue: QueueStore):
    await queue.promote(1, worker_id="w1", watch_ms=20)
    await asyncio.sleep(0.03)

    assert (await queue.promote(1, worker_id="w2", watch_ms=60_000)).watching


async def test_who_does_not_ask_for_the_watch_does_not_get_it(queue: QueueStore, look: Look):
    assert not (await queue.promote(1)).watching
    assert await look.do("EXISTS", look.keys.pump) == 0


async def test_a_claim_renews_the_watch_as_well(queue: QueueStore, look: Look):
    line = queue.line(trouble=no_trouble, worker_id="w1", watch_ms=60_000)
    await enqueue(queue, A)
    claimed = await line.claim(limit=1, lease_ms=HOUR_MS, promote=0)
    await line.aclose()

    assert claimed.watching
    assert not (await queue.promote(1, worker_id="w2", watch_ms=60_000)).watching
