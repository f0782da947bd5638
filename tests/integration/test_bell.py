"""Who is woken: the bell for work that may be claimed, the clock for a nearer due time."""

import pytest

from echomq_worker.domain.outcome import Buried, Completed, HandedBack, Retried, Snoozed
from echomq_worker.errors import WrongTypeError
from echomq_worker.store import QueueStore
from echomq_worker.store.line import Line
from tests.support.jobs import (
    A,
    B,
    C,
    D,
    claim,
    claim_one,
    enqueue,
    job_id,
    new_job,
    settle,
    settle_and_claim,
)
from tests.support.look import Look

CAP = 64
HOUR_MS = 3_600_000


async def silence(look: Look) -> None:
    await look.do("DEL", look.keys.bell, look.keys.clock)


async def nudges(look: Look) -> int:
    return await look.do("LLEN", look.keys.clock)


async def test_every_job_rings_once(queue: QueueStore, look: Look):
    await enqueue(queue, A, B, C)

    assert await look.bells() == 3


async def test_a_duplicate_does_not_ring(queue: QueueStore, look: Look):
    await enqueue(queue, A)
    await silence(look)
    await enqueue(queue, A)

    assert await look.bells() == 0


async def test_the_bell_never_holds_more_than_64_tokens(queue: QueueStore, look: Look):
    await enqueue(queue, *(job_id(number) for number in range(CAP - 1)))
    assert await look.bells() == CAP - 1
    await enqueue(queue, *(job_id(number) for number in range(CAP, CAP + 50)))

    assert await look.bells() == CAP


async def test_a_claim_that_leaves_work_behind_rings_once_more(
    queue: QueueStore, line: Line, look: Look
):
    await enqueue(queue, A, B, C)
    await silence(look)

    await claim(line, 1)
    assert await look.bells() == 1


async def test_a_claim_that_takes_all_silences_the_bell(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, A, B)
    assert await look.bells() == 2

    await claim(line, 2)
    assert await look.bells() == 0


async def test_an_empty_claim_silences_the_bell(line: Line, look: Look):
    await look.do("RPUSH", look.keys.bell, "1", "1")

    await claim(line)

    assert await look.bells() == 0


async def test_a_claim_of_none_leaves_the_bell_alone(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, A)
    await claim(line, 0)

    assert await look.bells() == 1


async def test_a_settlement_with_a_claim_rings_and_silences_as_a_claim_does(
    queue: QueueStore, line: Line, look: Look
):
    await enqueue(queue, A, B, C)
    job = await claim_one(line)
    await silence(look)

    (next_one,) = (await settle_and_claim(line, [(job, Completed())], 1)).claimed.jobs
    assert await look.bells() == 1
    await settle_and_claim(line, [(next_one, Completed())], 1)
    assert await look.bells() == 0


async def test_promotion_rings_for_every_job(queue: QueueStore, look: Look):
    await queue.enqueue([new_job(id_, at_ms=1) for id_ in (A, B, C)])
    assert await look.bells() == 0

    await queue.promote(2)
    assert await look.bells() == 2


async def test_reaping_rings_for_every_job_that_comes_back(
    queue: QueueStore, line: Line, look: Look
):
    await enqueue(queue, A, B)
    await claim(line, 2)
    await look.expire_lease(A, B)

    await queue.reap(10)
    assert await look.bells() == 2


async def test_a_job_handed_back_rings(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, A)
    await settle(line, await claim_one(line), HandedBack())

    assert await look.bells() == 1


async def test_requeueing_rings_for_every_job(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, A, B)
    await line.settle([(job, Buried("no")) for job in await claim(line, 2)])
    await silence(look)

    await queue.requeue([A, B, C])
    assert await look.bells() == 2


async def test_resuming_rings_for_what_has_gathered(queue: QueueStore, look: Look):
    await queue.pause()
    await enqueue(queue, A, B)
    await silence(look)

    await queue.resume()
    assert await look.bells() == 2


async def test_resuming_an_empty_queue_rings_for_nobody(queue: QueueStore, look: Look):
    await queue.pause()
    await queue.resume()

    assert await look.bells() == 0


async def test_the_first_scheduled_job_nudges_the_watcher(queue: QueueStore, look: Look):
    await queue.enqueue([new_job(A, after_ms=HOUR_MS)])

    assert await nudges(look) == 1


async def test_only_a_nearer_due_time_nudges(queue: QueueStore, look: Look):
    await queue.enqueue([new_job(A, after_ms=HOUR_MS)])
    await silence(look)

    await queue.enqueue([new_job(B, after_ms=2 * HOUR_MS)])
    assert await nudges(look) == 0
    await queue.enqueue([new_job(C, after_ms=HOUR_MS // 2), new_job(D, after_ms=3 * HOUR_MS)])
    assert await nudges(look) == 1


async def test_one_nudge_is_enough(queue: QueueStore, look: Look):
    for number in range(5):
        await queue.enqueue([new_job(job_id(number), after_ms=HOUR_MS - number)])

    assert await nudges(look) == 1


@pytest.mark.parametrize("outcome", [Retried(HOUR_MS, "no"), Snoozed(HOUR_MS)])
async def test_a_settlement_that_waits_for_its_time_nudges_when_it_is_the_next(
    queue: QueueStore, line: Line, look: Look, outcome: Retried | Snoozed
):
    await enqueue(queue, A)
    await settle(line, await claim_one(line), outcome)

    assert await nudges(look) == 1


async def test_a_hint_is_heard_and_used_up(queue: QueueStore, look: Look):
    await look.do("RPUSH", look.keys.bell, "1")
    assert await queue.wait_hint(bell=True, clock=True, timeout_ms=50)
    assert not await queue.wait_hint(bell=True, clock=True, timeout_ms=50)

    await look.do("RPUSH", look.keys.clock, "1")
    assert await queue.wait_hint(bell=True, clock=True, timeout_ms=50)


async def test_who_does_not_listen_to_the_clock_takes_no_nudge(queue: QueueStore, look: Look):
    await look.do("RPUSH", look.keys.clock, "1")

    assert not await queue.wait_hint(bell=True, clock=False, timeout_ms=20)
    assert await nudges(look) == 1


@pytest.mark.broken_state("the bell is another type")
async def test_a_bell_of_another_type_is_refused(queue: QueueStore, look: Look):
    await look.do("SET", look.keys.bell, "x")

    with pytest.raises(WrongTypeError):
        await queue.wait_hint(bell=True, clock=True, timeout_ms=20)


async def test_a_call_without_room_sees_to_it_that_somebody_is_told(
    queue: QueueStore, line: Line, look: Look
):
    await enqueue(queue, A, B)
    await silence(look)

    await line.claim(limit=0, lease_ms=1_000, promote=0)
    await line.claim(limit=0, lease_ms=1_000, promote=0)

    assert await look.bells() == 1


async def test_a_claim_of_a_paused_queue_silences_the_bell(
    queue: QueueStore, line: Line, look: Look
):
    await enqueue(queue, A)
    await queue.pause()

    assert await claim(line) == []
    assert await look.bells() == 0

    await queue.resume()
    assert await look.bells() == 1
