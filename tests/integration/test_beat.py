"""A beat: reap, promote, claim, renew the watch and tell that the worker lives; and leaving."""

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from echomq_worker.errors import InvalidArgumentError
from echomq_worker.store import Beat, Presence, QueueStore, Reaped
from echomq_worker.store.line import Line
from tests.support.jobs import LEASE_MS, A, B, C, D, claim, claim_one, enqueue, new_job
from tests.support.look import Look
from tests.support.stores import no_trouble

WATCH_MS = 60_000


@pytest_asyncio.fixture
async def workers(queue: QueueStore) -> AsyncGenerator[list[Line]]:
    """Lines of two workers that may watch."""
    lines = [
        queue.line(trouble=no_trouble, worker_id=name, watch_ms=WATCH_MS) for name in ("w1", "w2")
    ]
    yield lines
    for line in lines:
        await line.aclose()


async def beat(line: Line, says: dict[str, str] | None = None, /, **numbers: int) -> Beat:
    limits = {"limit": 10, "promote": 10, "reap": 10, "crash_limit": 5, "max_attempts": 10}
    worker = Presence(line.worker_id, says or {}, ttl_ms=5_000) if line.worker_id else None
    return await line.beat(**({"lease_ms": LEASE_MS} | limits | numbers), worker=worker)


async def test_a_beat_takes_back_promotes_and_claims_in_one_call(
    queue: QueueStore, line: Line, look: Look
):
    await enqueue(queue, B)
    await claim_one(line)
    await look.expire_lease(B)
    await queue.enqueue([new_job(C, at_ms=1), new_job(D)])

    done = await beat(line, limit=2)

    assert done.reaped == Reaped(recovered=(B,))
    assert [job.id for job in done.claimed.jobs] == [B, C]
    assert await look.places() == {"pending": [D], "active": [B, C]}


async def test_a_beat_keeps_to_its_limits(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, A, B)
    await claim(line, 2)
    await look.expire_lease(A, B)
    await queue.enqueue([new_job(C, at_ms=1), new_job(D, at_ms=2)])

    done = await beat(line, limit=0, promote=1, reap=1)

    assert done.reaped == Reaped(recovered=(A,))
    assert await look.places() == {"pending": [A, C], "active": [B], "schedule": [D]}


async def test_a_beat_buries_what_has_crashed_too_often(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, A)
    await claim_one(line)
    await look.expire_lease(A)

    assert (await beat(line, crash_limit=1)).reaped == Reaped(buried=(A,))
    assert await look.places() == {"dead": [A]}


async def test_a_beat_on_a_paused_queue_reaps_and_promotes_and_claims_nothing(
    queue: QueueStore, line: Line, look: Look
):
    await queue.enqueue([new_job(A, at_ms=1)])
    await queue.pause()

    done = await beat(line)

    assert (done.claimed.paused, list(done.claimed.jobs)) == (True, [])
    assert await look.places() == {"pending": [A]}


async def test_one_worker_at_a_time_is_the_watcher(workers: list[Line]):
    one, other = workers

    assert [(await beat(line)).watching for line in (one, other, one)] == [True, False, True]


async def test_a_beat_tells_that_the_worker_lives(workers: list[Line], look: Look):
    before_ms = await look.now_us() // 1000
    await beat(workers[0], {"host": "a", "pid": "7"})
    after_ms = await look.now_us() // 1000

    told = await look.hash(look.keys.worker("w1"))
    beat_ms = int(told.pop("beat"))
    assert told == {"host": "a", "pid": "7"}
    assert before_ms <= beat_ms <= after_ms
    assert await look.scores(look.keys.workers) == {"w1": beat_ms}
    assert 0 < await look.do("PTTL", look.keys.worker("w1")) <= 5_000
    assert workers[0].worker_id == "w1"


async def test_workers_are_counted(queue: QueueStore, workers: list[Line]):
    for line in workers:
        await beat(line)

    assert (await queue.counts()).workers == 2


async def test_a_worker_whose_word_has_expired_is_not_counted(
    queue: QueueStore, workers: list[Line], look: Look
):
    for line in workers:
        await beat(line)
    await look.do("DEL", look.keys.worker("w1"))

    assert (await queue.counts()).workers == 1


async def test_a_worker_that_was_silent_for_long_is_forgotten(workers: list[Line], look: Look):
    await look.do("ZADD", look.keys.workers, await look.now_us() // 1000 - 50_001, "w9")
    await look.do("ZADD", look.keys.workers, await look.now_us() // 1000 - 40_000, "w8")

    await beat(workers[0])

    assert await look.members(look.keys.workers) == ["w8", "w1"]


async def test_who_says_nothing_leaves_no_presence(line: Line, look: Look):
    await beat(line)

    assert await look.members(look.keys.workers) == []
    assert not (await look.do("EXISTS", look.keys.worker("-")))


async def test_who_leaves_is_no_longer_there(queue: QueueStore, workers: list[Line], look: Look):
    await beat(workers[0])
    await queue.leave("w1")

    assert await look.key_names() == [look.keys.meta]


async def test_the_watch_of_who_leaves_is_free_and_another_is_woken(
    queue: QueueStore, workers: list[Line], look: Look
):
    one, other = workers
    await beat(one)
    await beat(other)
    await queue.leave("w1")

    assert await look.bells() == 1
    assert (await beat(other)).watching


async def test_who_leaves_without_the_watch_wakes_nobody(
    queue: QueueStore, workers: list[Line], look: Look
):
    one, other = workers
    await beat(one)
    await beat(other)
    await queue.leave("w2")

    assert await look.bells() == 0
    assert (await beat(one)).watching


async def test_leaving_twice_does_no_harm(queue: QueueStore, workers: list[Line], look: Look):
    await beat(workers[0])
    await beat(workers[1])
    await queue.leave("w1")
    await queue.leave("w1")

    assert await look.bells() == 1
    assert await look.members(look.keys.workers) == ["w2"]


@pytest.mark.parametrize(
    "wrong", [{"reap": -1}, {"crash_limit": -1}, {"max_attempts": -1}, {"lease_ms": 0}]
)
async def test_numbers_out_of_range_are_refused_before_anything_is_written(
    queue: QueueStore, line: Line, look: Look, wrong: dict[str, int]
):
    await enqueue(queue, A, B)
    await claim_one(line)
    await look.expire_lease(A)
    before = await look.dumps()

    with pytest.raises(InvalidArgumentError):
        await beat(line, **wrong)

    assert await look.dumps() == before


async def test_a_watcher_that_asks_for_no_time_gives_the_watch_up_and_wakes_another(
    workers: list[Line], look: Look
):
    await beat(workers[0])
    assert await look.do("GET", look.keys.pump) == b"w1"
    workers[0].watch_ms = 0

    assert not (await beat(workers[0])).watching

    assert await look.do("EXISTS", look.keys.pump) == 0
    assert await look.bells() == 1
    assert (await workers[1].claim(limit=1, lease_ms=LEASE_MS, promote=1)).watching


async def test_who_finds_overdue_work_takes_the_watch_over(
    queue: QueueStore, workers: list[Line], look: Look
):
    await beat(workers[0])
    assert not (await beat(workers[1])).watching
    await queue.enqueue([new_job(A, at_ms=1)])

    assert (await beat(workers[1])).watching

    assert await look.do("GET", look.keys.pump) == b"w2"
    assert not (await beat(workers[0])).watching


async def test_work_that_is_just_due_leaves_the_watch_where_it_is(
    queue: QueueStore, workers: list[Line], look: Look
):
    await beat(workers[0])
    await queue.enqueue([new_job(A, at_ms=await look.now_us() // 1000)])

    assert not (await workers[1].claim(limit=1, lease_ms=LEASE_MS, promote=1)).watching
