"""Reads: one job, the dead, what waits. Nothing that reads changes anything."""

import pytest

from echomq_worker.domain.job import JobId, State
from echomq_worker.domain.outcome import Buried, Retried
from echomq_worker.store import QueueStore
from echomq_worker.store.line import Line
from tests.support.jobs import (
    LEASE_MS,
    A,
    B,
    C,
    D,
    claim,
    claim_one,
    enqueue,
    new_job,
    settle,
)
from tests.support.look import Look

FAR_MS = 4_000_000_000_000
LANE = "LAN00000000001"


async def state_of(queue: QueueStore, id_: JobId) -> State:
    view = await queue.inspect(id_)
    return State.ABSENT if view is None else view.state


async def test_a_job_is_seen_where_it_is(queue: QueueStore, line: Line, look: Look):
    assert await queue.inspect(A) is None
    await enqueue(queue, A)
    assert await state_of(queue, A) is State.PENDING
    job = await claim_one(line)
    assert await state_of(queue, A) is State.ACTIVE
    await settle(line, job, Retried(60_000, "no"))
    assert await state_of(queue, A) is State.SCHEDULED
    await look.make_due(A)
    (job,) = await claim(line, promote=1)
    await settle(line, job, Buried("no"))
    assert await state_of(queue, A) is State.DEAD


async def test_everything_about_a_job_is_told(queue: QueueStore, queue_name: str):
    job = new_job(A, at_ms=FAR_MS, name="mail", max_attempts=3, payload=b"\xff{}")
    await queue.enqueue([job])

    view = await queue.inspect(A)

    assert view is not None
    assert (view.queue, view.id, view.payload, view.name) == (queue_name, A, b"\xff{}", "mail")
    assert (view.token, view.attempts, view.max_attempts) == (0, 0, 3)
    assert (view.due_ms, view.lease_ms, view.died_ms, view.last_error) == (FAR_MS, None, None, None)
    assert view.fields["state"] == b"scheduled"


async def test_the_end_of_a_lease_is_told(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, A)
    before_ms = await look.now_us() // 1000
    await claim_one(line)

    view = await queue.inspect(A)

    assert view is not None
    assert view.lease_ms is not None
    assert before_ms + LEASE_MS <= view.lease_ms


@pytest.mark.broken_state("a row lies nowhere")
async def test_a_row_in_no_place_is_seen_as_unknown(queue: QueueStore, look: Look):
    await look.do("HSET", look.keys.job(A), "state", "pending", "payload", "x")

    assert await state_of(queue, A) is State.UNKNOWN


@pytest.mark.broken_state("a parent has no count")
async def test_a_parent_that_waits_is_seen_as_such(queue: QueueStore, look: Look):
    await look.do("HSET", look.keys.job(A), "state", "awaiting_children", "payload", "x")

    assert await state_of(queue, A) is State.AWAITING_CHILDREN


@pytest.mark.broken_state("a lane is made by hand")
async def test_a_job_that_waits_in_its_lane_is_seen_as_pending(queue: QueueStore, look: Look):
    await look.do("HSET", look.keys.job(A), "state", "pending", "group", LANE)
    await look.do("ZADD", look.keys.lane(LANE), 0, A)

    view = await queue.inspect(A)
    assert view is not None
    assert (view.state, view.group) == (State.PENDING, LANE)


@pytest.mark.broken_state("a row is of another type")
async def test_a_row_of_another_type_is_seen_as_unknown(queue: QueueStore, look: Look):
    await look.do("SET", look.keys.job(A), "x")

    assert await state_of(queue, A) is State.UNKNOWN


async def test_the_dead_are_listed_the_newest_minted_first(queue: QueueStore, line: Line):
    await enqueue(queue, A, B, C, D)
    await line.settle([(job, Buried(f"{job.id} failed")) for job in await claim(line, 3)])

    views = await queue.dead(10)

    assert [(view.id, view.last_error) for view in views] == [
        (C, f"{C} failed"),
        (B, f"{B} failed"),
        (A, f"{A} failed"),
    ]
    assert [view.id for view in await queue.dead(1, offset=1)] == [B]
    assert await queue.dead(5, offset=3) == []


@pytest.mark.broken_state("the dead have no rows")
async def test_what_is_dead_and_no_job_does_not_hide_the_others(
    queue: QueueStore, line: Line, look: Look
):
    await enqueue(queue, A)
    await settle(line, await claim_one(line), Buried("no"))
    await look.do("ZADD", look.keys.dead, 0, "no id", 0, B)

    assert [view.id for view in await queue.dead(10)] == [A]


async def test_what_waits_is_listed_in_mint_order_or_reversed(queue: QueueStore):
    await enqueue(queue, A, B, C)

    assert await queue.pending_ids(2) == [A, B]
    assert await queue.pending_ids(2, newest_first=True) == [C, B]


async def test_a_log_that_was_never_written_is_empty(queue: QueueStore):
    assert await queue.log() == []


@pytest.mark.broken_state("rows hold nonsense")
@pytest.mark.parametrize("text", ["", "x", "-1", "1.5"])
async def test_nonsense_on_the_row_does_not_stop_the_look(queue: QueueStore, look: Look, text: str):
    await enqueue(queue, A)
    await look.do("HSET", look.keys.job(A), "attempts", text, "max", text, "returned", text)

    view = await queue.inspect(A)

    assert view is not None
    assert (view.token, view.max_attempts, view.returned) == (0, None, 0)


async def test_reads_change_nothing(queue: QueueStore, line: Line, look: Look):
    await queue.enqueue([new_job(A), new_job(B, at_ms=FAR_MS), new_job(C)])
    await settle(line, await claim_one(line), Buried("no"))
    await claim_one(line)
    before = await look.dumps()

    await queue.counts()
    await queue.dead(10)
    await queue.pending_ids(10)
    await queue.log()
    for id_ in (A, B, C, D):
        await queue.inspect(id_)
        await queue.result(id_)

    assert await look.dumps() == before
