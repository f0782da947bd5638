"""What a claim takes, what it writes, and what it tells the pump."""

import pytest

from echomq_worker.domain.job import Held
from echomq_worker.domain.outcome import HandedBack, Snoozed
from echomq_worker.errors import InvalidArgumentError
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
    handout,
    job_id,
    new_job,
    settle,
)
from tests.support.look import Look
from tests.support.stores import NewLine

HOUR_MS = 3_600_000


async def test_a_claim_takes_the_oldest_minted(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, C, A, B)

    assert [job.id for job in await claim(line, 2)] == [A, B]
    assert await look.places() == {"pending": [C], "active": [A, B]}


async def test_a_claim_takes_what_is_there_when_it_asks_for_more(queue: QueueStore, line: Line):
    await enqueue(queue, A)

    assert [job.id for job in await claim(line, 50)] == [A]


async def test_a_claim_brings_the_whole_job(queue: QueueStore, line: Line, queue_name: str):
    await queue.enqueue([new_job(A, name="mail", max_attempts=7, keep_result_ms=5_000)])

    job = await claim_one(line)

    assert job == Held(
        queue=queue_name,
        id=A,
        payload=A.encode(),
        token=1,
        claim=job.claim,
        name="mail",
        max_attempts=7,
        keep_result_ms=5_000,
    )
    assert job.attempt == 1
    assert job.claim.startswith(line.caller.name)


async def test_a_claimed_row_says_who_holds_it(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, A)
    job = await claim_one(line)

    assert await look.row(A) == {
        "state": "active",
        "attempts": "1",
        "payload": A,
        "claim": job.claim,
    }


async def test_a_lease_ends_when_the_claim_says_by_the_servers_clock(
    queue: QueueStore, line: Line, look: Look
):
    await enqueue(queue, A, B)
    before_ms = await look.now_us() // 1000
    await claim(line, 2)
    after_ms = await look.now_us() // 1000

    leases = await look.scores(look.keys.active)
    assert set(leases) == {A, B}
    assert all(before_ms + LEASE_MS <= end <= after_ms + LEASE_MS for end in leases.values())


async def test_every_claim_has_a_claim_id_of_its_own(queue: QueueStore, line: Line):
    await enqueue(queue, A)
    first = await claim_one(line)
    await settle(line, first, HandedBack())
    second = await claim_one(line)

    assert second.claim != first.claim
    assert second.token == first.token + 1


async def test_no_two_claims_get_the_same_job(queue: QueueStore, new_line: NewLine):
    ids = [job_id(number) for number in range(10)]
    await enqueue(queue, *ids)
    one, other = new_line(), new_line()

    taken = [job.id for _ in range(2) for line in (one, other) for job in await claim(line, 3)]

    assert taken == ids


async def test_a_claim_says_how_much_is_left_and_when_the_next_is_due(
    queue: QueueStore, line: Line, look: Look
):
    await enqueue(queue, A, B, C)
    due_ms = await look.now_us() // 1000 + HOUR_MS
    await queue.enqueue([new_job(D, at_ms=due_ms)])

    before_ms = await look.now_us() // 1000
    claimed = await handout(line, 2)

    assert (claimed.left, claimed.next_due_ms, claimed.set_aside) == (1, due_ms, 0)
    assert before_ms <= claimed.now_ms <= await look.now_us() // 1000


async def test_with_nothing_scheduled_nothing_is_due(queue: QueueStore, line: Line):
    await enqueue(queue, A)

    assert (await handout(line)).next_due_ms is None


async def test_a_paused_queue_hands_out_nothing(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, A)
    await queue.pause()

    claimed = await handout(line, 5)

    assert (list(claimed.jobs), claimed.paused, claimed.left) == ([], True, 1)
    assert await look.places() == {"pending": [A]}


async def test_any_value_of_the_flag_pauses(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, A)
    await look.do("HSET", look.keys.meta, "paused", "")

    assert (await handout(line)).paused


async def test_a_paused_queue_still_promotes(queue: QueueStore, line: Line, look: Look):
    await queue.enqueue([new_job(A, at_ms=1)])
    await queue.pause()

    await handout(line, 5, promote=10)

    assert await look.places() == {"pending": [A]}


@pytest.mark.case("RTY-07")
async def test_a_claim_promotes_first_what_is_due_at_most_so_many(
    queue: QueueStore, line: Line, look: Look
):
    await queue.enqueue([new_job(C, at_ms=1), new_job(A, at_ms=2), new_job(B, at_ms=3)])

    assert [job.id for job in await claim(line, 5, promote=2)] == [A, C]
    assert await look.places() == {"active": [A, C], "schedule": [B]}


async def test_a_claim_that_is_told_to_promote_nothing_leaves_the_schedule_alone(
    queue: QueueStore, line: Line, look: Look
):
    await queue.enqueue([new_job(A, at_ms=1)])

    claimed = await handout(line, 5, promote=0)

    assert (list(claimed.jobs), claimed.next_due_ms) == ([], 1)
    assert await look.places() == {"schedule": [A]}


async def test_a_claim_of_none_only_promotes_and_tells(queue: QueueStore, line: Line, look: Look):
    await queue.enqueue([new_job(A, at_ms=1), new_job(B)])

    claimed = await handout(line, 0, promote=10)

    assert (list(claimed.jobs), claimed.left) == ([], 2)
    assert await look.places() == {"pending": [A, B]}


async def test_attempts_that_did_not_count_are_told(queue: QueueStore, line: Line):
    await enqueue(queue, A)
    await settle(line, await claim_one(line), HandedBack())
    await settle(line, await claim_one(line), Snoozed(0))

    (job,) = await claim(line, promote=1)

    assert (job.token, job.returned, job.attempt) == (3, 2, 1)


async def test_a_thousand_jobs_are_the_most_of_one_claim(queue: QueueStore, line: Line):
    await enqueue(queue, *(job_id(number) for number in range(1_001)))

    claimed = await handout(line, 5_000)

    assert (len(claimed.jobs), claimed.left) == (1_000, 1)


@pytest.mark.parametrize("wrong", [{"limit": -1}, {"lease_ms": 0}, {"promote": -3}])
async def test_numbers_out_of_range_are_refused_before_anything_is_written(
    queue: QueueStore, line: Line, look: Look, wrong: dict[str, int]
):
    await enqueue(queue, A)
    await queue.enqueue([new_job(B, at_ms=1)])
    before = await look.dumps()

    with pytest.raises(InvalidArgumentError, match="not a whole number in range"):
        await line.claim(**{"limit": 1, "lease_ms": LEASE_MS, "promote": 1} | wrong)

    assert await look.dumps() == before


async def test_a_caller_without_a_name_leaves_no_receipt_and_no_claim_id(
    queue: QueueStore, nameless_line: Line, look: Look
):
    await enqueue(queue, A)
    receipts = [key for key in await look.key_names() if ":call:" in key]

    job = await claim_one(nameless_line)

    assert job.claim == ""
    assert await look.row(A) == {"state": "active", "attempts": "1", "payload": A}
    assert [key for key in await look.key_names() if ":call:" in key] == receipts
