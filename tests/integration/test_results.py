"""Kept results: only when asked for, bounded by age and by count."""

from dataclasses import dataclass

import pytest

from echomq_worker.domain.job import JobId
from echomq_worker.domain.outcome import Completed
from echomq_worker.store import KeptResult, QueueStore
from echomq_worker.store.line import Line
from tests.support.jobs import A, B, C, D, claim, claim_one, enqueue, settle
from tests.support.look import Look

MINUTE_MS = 60_000


@dataclass
class Keeper:
    """A worker that completes jobs, each in a call of its own, and keeps so many results."""

    queue: QueueStore
    line: Line

    async def complete(self, *ids: JobId, most: int) -> None:
        self.line.keep_results = most
        for id_ in ids:
            await enqueue(self.queue, id_)
            await settle(self.line, await claim_one(self.line), Completed(id_.encode(), MINUTE_MS))


@pytest.fixture
def keeper(queue: QueueStore, line: Line) -> Keeper:
    return Keeper(queue, line)


async def kept(queue: QueueStore, *ids: JobId) -> list[JobId]:
    return [id_ for id_ in ids if await queue.result(id_) is not None]


async def test_a_result_is_kept_when_asked_for(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, A)
    before_ms = await look.now_us() // 1000
    await settle(line, await claim_one(line), Completed(b"\x00done", MINUTE_MS))
    after_ms = await look.now_us() // 1000

    result = await queue.result(A)
    assert result is not None
    assert result == KeptResult("completed", b"\x00done", result.finished_ms)
    assert before_ms <= result.finished_ms <= after_ms
    assert await look.scores(look.keys.completed) == {A: result.finished_ms}


async def test_a_result_expires(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, A)
    await settle(line, await claim_one(line), Completed(b"done", MINUTE_MS))

    assert 0 < await look.do("PTTL", look.keys.done(A)) <= MINUTE_MS


async def test_no_result_is_kept_unless_asked_for(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, A)
    await settle(line, await claim_one(line), Completed(b"done"))

    assert await queue.result(A) is None
    assert await look.members(look.keys.completed) == []


async def test_an_empty_result_may_be_kept(queue: QueueStore, line: Line):
    await enqueue(queue, A)
    await settle(line, await claim_one(line), Completed(None, MINUTE_MS))

    result = await queue.result(A)
    assert result is not None
    assert result.result == b""


async def test_the_newest_results_are_kept_and_no_more(
    keeper: Keeper, queue: QueueStore, look: Look
):
    await keeper.complete(A, B, C, D, most=2)

    assert await kept(queue, A, B, C, D) == [C, D]
    assert await look.members(look.keys.completed) == [C, D]


async def test_a_lowered_bound_is_reached_step_by_step(
    keeper: Keeper, queue: QueueStore, look: Look
):
    await keeper.complete(A, B, C, most=10)
    await keeper.complete(D, most=1)
    assert await look.members(look.keys.completed) == [C, D]


async def test_a_bound_of_none_keeps_no_result(keeper: Keeper, queue: QueueStore, look: Look):
    await keeper.complete(A, B, most=0)

    assert await kept(queue, A, B) == []
    assert await look.members(look.keys.completed) == []
    assert (await queue.counts()).completed == 2


async def test_the_index_forgets_results_that_have_expired(
    keeper: Keeper, queue: QueueStore, look: Look
):
    await keeper.complete(A, B, most=10)
    await look.do("DEL", look.keys.done(A))

    await keeper.complete(C, most=10)

    assert await look.members(look.keys.completed) == [B, C]


async def test_many_completions_of_one_call_keep_the_bound(
    queue: QueueStore, line: Line, look: Look
):
    await enqueue(queue, A, B, C)
    jobs = await claim(line, 3)
    line.keep_results = 2

    await line.settle([(job, Completed(b"x", MINUTE_MS)) for job in jobs])

    assert await look.members(look.keys.completed) == [B, C]
