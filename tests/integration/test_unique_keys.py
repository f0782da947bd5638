"""What is enqueued under a key: which job holds it, and when it is free."""

import asyncio
from dataclasses import replace

import pytest

from echomq_worker.domain.job import Admission, After
from echomq_worker.domain.lanes import lane_group
from echomq_worker.domain.outcome import Buried, Completed, Retried
from echomq_worker.domain.unique import Conflict, Mode, Release, throttle
from echomq_worker.domain.views import Places, Removed
from echomq_worker.store import QueueStore
from echomq_worker.store.line import Line
from tests.support.jobs import A, B, C, E, claim, claim_one, job_id, new_job, settle
from tests.support.look import Look
from tests.support.unique import HELD, KEY, send


async def test_the_first_one_holds_the_key_and_the_second_is_told_so(queue: QueueStore, look: Look):
    assert await send(queue, A) == (Admission.ENQUEUED, A)
    assert await send(queue, B) == (HELD, A)

    assert await look.places() == {"pending": [A]}
    assert await queue.operator.holder(KEY) == A
    assert await look.do("GET", f"{look.keys.root}de:{KEY}") == A.encode(), "as peers read it"
    row = await look.row(A)
    assert (row["uniq"], row["release"], row["more"]) == (KEY, "finish", "1")
    assert not await look.do("EXISTS", look.keys.job(B)), "nothing is left of the second"


async def test_keys_are_apart_from_each_other(queue: QueueStore, look: Look):
    await send(queue, A)

    assert await send(queue, B, key="order-43") == (Admission.ENQUEUED, B)
    assert await look.places() == {"pending": [A, B]}


async def test_a_job_without_a_key_is_not_kept_back_by_one(queue: QueueStore, look: Look):
    await send(queue, A)
    await queue.enqueue([new_job(B)])
    assert await look.places() == {"pending": [A, B]}


async def test_an_id_that_is_there_is_a_duplicate_whatever_its_key(queue: QueueStore):
    await queue.enqueue([new_job(A)])
    assert await send(queue, A) == (Admission.DUPLICATE, A)
    assert await queue.operator.holder(KEY) is None


async def test_a_delayed_job_holds_its_key_from_the_start(queue: QueueStore, look: Look):
    late = replace(new_job(A), due=After(60_000))
    assert await send(queue, late) == (Admission.SCHEDULED, A)
    assert await send(queue, B) == (HELD, A)
    assert await look.places() == {"schedule": [A]}


@pytest.mark.parametrize("end", ["done", "dead", "removed", "removed when dead"])
async def test_the_key_is_free_once_the_job_has_ended(
    queue: QueueStore, line: Line, look: Look, end: str
):
    await send(queue, A)
    if end == "removed":
        assert await queue.remove(A, Places.WAITING) is Removed.OK
    else:
        held = await claim_one(line)
        assert await send(queue, B) == (HELD, A), "while it runs the key is held"
        await settle(line, held, Completed() if end == "done" else Buried("no"))
    if end == "removed when dead":
        await queue.remove(A, Places.DEAD)

    assert await queue.operator.holder(KEY) is None
    assert not await look.do("EXISTS", f"{look.keys.root}de:{KEY}")
    assert await send(queue, C) == (Admission.ENQUEUED, C)


async def test_the_key_is_held_between_two_attempts(queue: QueueStore, line: Line):
    await send(queue, A)
    await settle(line, await claim_one(line), Retried(60_000, "no", b""))
    assert await send(queue, B) == (HELD, A)


async def test_a_lease_that_was_lost_too_often_frees_the_key(queue: QueueStore, line: Line):
    await send(queue, A)
    await line.claim(limit=1, lease_ms=1, promote=0)
    await asyncio.sleep(0.01)
    assert (await queue.reap(9)).recovered == (A,)
    assert await send(queue, B) == (HELD, A), "it waits again, and holds the key"

    await line.claim(limit=1, lease_ms=1, promote=0)
    await asyncio.sleep(0.01)
    assert (await queue.reap(9, crash_limit=2)).buried == (A,)
    assert await send(queue, B) == (Admission.ENQUEUED, B)


async def test_a_row_that_has_gone_unseen_holds_nothing(queue: QueueStore, look: Look):
    await send(queue, A)
    await look.do("ZREM", look.keys.pending, A)
    await look.do("DEL", look.keys.job(A))
    assert await send(queue, B) == (Admission.ENQUEUED, B)


async def test_the_end_of_an_old_job_does_not_free_the_key_of_a_newer_one(
    queue: QueueStore, line: Line
):
    await send(queue, A)
    await settle(line, await claim_one(line), Buried("no"))
    await send(queue, B)

    assert await queue.remove(A, Places.DEAD) is Removed.OK

    assert await queue.operator.holder(KEY) == B
    assert await send(queue, C) == (HELD, B)


async def test_a_dead_job_that_is_brought_back_takes_its_key_again_if_it_is_free(
    queue: QueueStore, line: Line
):
    await send(queue, A)
    await settle(line, await claim_one(line), Buried("no"))
    await queue.requeue([A])
    assert await send(queue, B) == (HELD, A)

    await settle(line, await claim_one(line), Buried("no"))
    await send(queue, B)
    await queue.requeue([A])
    assert await queue.operator.holder(KEY) == B, "but it takes it from nobody"
    for held in await claim(line, 2):
        await settle(line, held, Completed())
    assert await queue.operator.holder(KEY) is None


async def test_a_key_may_be_free_as_soon_as_the_job_starts(queue: QueueStore, line: Line):
    at_start = Conflict(Mode.REJECT, release=Release.START)
    await send(queue, A, at_start)
    assert await send(queue, B, at_start) == (HELD, A)
    held = await claim_one(line)
    assert await send(queue, B, at_start) == (Admission.ENQUEUED, B)
    await settle(line, held, Completed())
    assert await queue.operator.holder(KEY) == B


async def test_a_throttled_key_is_free_after_its_period_and_not_before(
    queue: QueueStore, line: Line, look: Look
):
    once = throttle("1h")
    assert await send(queue, A, once) == (Admission.ENQUEUED, A)
    await settle(line, await claim_one(line), Completed())
    assert await send(queue, B, once) == (HELD, A), "though that job has ended"
    assert 3_500_000 < await look.do("PTTL", f"{look.keys.root}de:{KEY}") <= 3_600_000

    await look.do("PEXPIRE", f"{look.keys.root}de:{KEY}", 1)
    await asyncio.sleep(0.01)
    assert await send(queue, B, once) == (Admission.ENQUEUED, B)


async def test_a_throttled_job_that_is_removed_lets_another_in(queue: QueueStore):
    await send(queue, A, throttle("1h"))
    await queue.remove(A, Places.WAITING)
    assert await send(queue, B, throttle("1h")) == (Admission.ENQUEUED, B)


async def test_a_priority_and_a_lane_count_for_jobs_with_a_key(
    queue: QueueStore, line: Line, look: Look
):
    await send(queue, A, key="a")
    await send(queue, replace(new_job(B), priority=-1), key="b")
    await send(queue, replace(new_job(C), group=lane_group("acme"), lane="acme"), key="c")
    assert [job.id for job in await claim(line)] == [B]
    assert await look.do("ZRANGE", f"{look.keys.root}g:{lane_group('acme')}:pending", 0, -1) == [
        C.encode()
    ]
    assert {job.id for job in await claim(line, 2)} == {A, C}


async def test_a_full_lane_refuses_a_job_with_a_key_too(queue: QueueStore):
    await queue.lanes.maximum("acme", 1)
    full = replace(new_job(A), group=lane_group("acme"), lane="acme")
    await send(queue, full, key="a")
    assert (await send(queue, replace(full, id=B), key="b"))[0] is Admission.FULL
    assert await queue.operator.holder("b") is None


async def test_drained_jobs_leave_their_keys(queue: QueueStore):
    await send(queue, A)
    await send(queue, B, key="b")
    assert await queue.operator.drain() == 2
    assert await send(queue, C) == (Admission.ENQUEUED, C)


async def test_of_many_at_once_one_wins(queue: QueueStore, look: Look):
    answers = await asyncio.gather(*(send(queue, job_id(n)) for n in range(100)))
    winners = [job for verdict, job in answers if verdict is Admission.ENQUEUED]
    assert len(winners) == 1
    assert {job for _, job in answers} == set(winners)
    assert await look.places() == {"pending": winners}


async def test_a_bad_place_of_a_key_is_told_and_changes_nothing(queue: QueueStore, look: Look):
    await look.do("RPUSH", f"{look.keys.root}de:{KEY}", "x")
    with pytest.raises(Exception, match="expected a string"):
        await send(queue, E)
    assert await look.places() == {}
    await look.do("DEL", f"{look.keys.root}de:{KEY}")


async def test_a_row_that_is_set_aside_lets_go_of_its_key(
    queue: QueueStore, line: Line, look: Look
):
    await send(queue, A)
    await look.do("HDEL", look.keys.job(A), "payload")
    assert await claim(line) == []
    assert not await look.do("EXISTS", f"{look.keys.root}de:{KEY}")
    assert await send(queue, B) == (Admission.ENQUEUED, B)


async def test_a_parent_that_dies_with_its_child_leaves_its_key(
    queue: QueueStore, line: Line, look: Look
):
    await send(queue, A)
    await look.do("ZREM", look.keys.pending, A)
    await look.do("HSET", look.keys.job(A), "state", "awaiting_children")
    await look.do("SET", f"{look.keys.job(A)}:dependencies", 1)
    await queue.enqueue([new_job(B)])
    await look.do("HSET", look.keys.job(B), "parent", A)
    await settle(line, await claim_one(line), Buried("no"))
    assert (await look.row(A))["state"] == "dead"
    assert not await look.do("EXISTS", f"{look.keys.root}de:{KEY}")
    assert await send(queue, C) == (Admission.ENQUEUED, C)
