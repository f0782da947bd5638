"""Who may settle and extend: only the holder, and only once."""

from dataclasses import replace

import pytest

from echomq_worker.domain.job import Held
from echomq_worker.domain.outcome import (
    Buried,
    Completed,
    HandedBack,
    Outcome,
    Retried,
    Snoozed,
    Verdict,
)
from echomq_worker.store import QueueStore
from echomq_worker.store.line import Line
from tests.support.jobs import LEASE_MS, A, B, C, claim, claim_one, enqueue, settle
from tests.support.look import Look
from tests.support.stores import NewLine

HOUR_MS = 3_600_000
LASTING: list[Outcome] = [
    Retried(HOUR_MS, "no"),
    Buried("no"),
    Snoozed(HOUR_MS),
    HandedBack(),
]
ALL: list[Outcome] = [Completed(), *LASTING]


@pytest.mark.parametrize("second", ALL)
@pytest.mark.parametrize("first", LASTING)
async def test_a_second_outcome_of_the_same_claim_is_answered_already(
    queue: QueueStore, line: Line, look: Look, first: Outcome, second: Outcome
):
    await enqueue(queue, A)
    job = await claim_one(line)
    await settle(line, job, first)
    before = await look.everything()

    assert await settle(line, job, second) is Verdict.ALREADY
    assert await look.everything() == before


async def test_a_completed_job_is_gone(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, A)
    job = await claim_one(line)
    await settle(line, job, Completed())

    assert await settle(line, job, Retried(0, "no")) is Verdict.GONE
    assert await queue.extend([job], LEASE_MS) == [Verdict.GONE]
    assert await look.places() == {}
    assert (await queue.counts()).completed == 1


@pytest.mark.parametrize("outcome", ALL)
async def test_a_late_outcome_is_taken_while_nobody_has_claimed_the_job_again(
    queue: QueueStore, line: Line, look: Look, outcome: Outcome
):
    await enqueue(queue, A)
    job = await claim_one(line)
    await look.expire_lease(A)
    await queue.reap(1)
    assert await look.places() == {"pending": [A]}

    assert await settle(line, job, outcome) is Verdict.OK

    places = await look.places()
    assert "active" not in places
    assert sum(map(len, places.values())) == (0 if isinstance(outcome, Completed) else 1)


@pytest.mark.case("CRW-06")
@pytest.mark.parametrize("outcome", ALL)
async def test_a_late_outcome_is_refused_once_somebody_has_claimed_the_job_again(
    queue: QueueStore, new_line: NewLine, look: Look, outcome: Outcome
):
    slow, quick = new_line(), new_line()
    await enqueue(queue, A)
    late = await claim_one(slow)
    await look.expire_lease(A)
    await queue.reap(1)
    held = await claim_one(quick)
    before = await look.everything()

    assert await settle(slow, late, outcome) is Verdict.STALE
    assert await look.everything() == before
    assert await settle(quick, held, Completed()) is Verdict.OK


async def test_a_late_outcome_is_refused_once_somebody_else_has_settled_the_job(
    queue: QueueStore, new_line: NewLine, look: Look
):
    slow, quick = new_line(), new_line()
    await enqueue(queue, A)
    late = await claim_one(slow)
    await look.expire_lease(A)
    await queue.reap(1)
    await settle(quick, await claim_one(quick), HandedBack())

    assert await settle(slow, late, Completed()) is Verdict.STALE
    assert await look.places() == {"pending": [A]}


async def test_a_late_outcome_is_refused_once_the_job_is_dead(
    queue: QueueStore, line: Line, look: Look
):
    await enqueue(queue, A)
    late = await claim_one(line)
    await look.expire_lease(A)
    await queue.reap(1, crash_limit=1)

    assert await settle(line, late, Completed()) is Verdict.STALE
    assert await look.places() == {"dead": [A]}


@pytest.mark.parametrize("outcome", ALL)
async def test_a_late_outcome_is_refused_after_the_job_has_died_and_was_brought_back(
    queue: QueueStore, line: Line, new_line: NewLine, look: Look, outcome: Outcome
):
    await enqueue(queue, A)
    late = await claim_one(line)
    await look.expire_lease(A)
    await queue.reap(1, crash_limit=1)
    await queue.requeue([A])

    assert await settle(line, late, outcome) is Verdict.STALE
    assert await look.places() == {"pending": [A]}
    assert await settle(new_line(), await claim_one(new_line()), Completed()) is Verdict.OK


@pytest.mark.case("LSE-31")
async def test_the_attempt_number_alone_is_not_enough(
    queue: QueueStore, new_line: NewLine, look: Look
):
    # As after a failover that forgot the first claim: both hold attempt 1.
    one, other = new_line(), new_line()
    await enqueue(queue, A)
    forgotten = await claim_one(one)
    await look.do("DEL", look.keys.job(A), look.keys.active)
    await enqueue(queue, A)
    held = await claim_one(other)
    assert held.token == forgotten.token

    assert await settle(one, forgotten, Completed()) is Verdict.STALE
    assert await queue.extend([forgotten], LEASE_MS) == [Verdict.STALE]
    assert await settle(other, held, Completed()) is Verdict.OK


async def test_the_claim_id_alone_is_not_enough(queue: QueueStore, line: Line):
    await enqueue(queue, A)
    job = await claim_one(line)

    assert await settle(line, replace(job, token=2), Completed()) is Verdict.STALE
    assert await queue.extend([replace(job, token=2)], LEASE_MS) == [Verdict.STALE]


async def test_who_has_no_claim_id_cannot_settle_the_job_of_one_who_has(
    queue: QueueStore, line: Line, nameless_line: Line
):
    await enqueue(queue, A)
    job = await claim_one(line)

    assert await settle(nameless_line, replace(job, claim=""), Completed()) is Verdict.STALE


async def test_a_job_that_was_never_claimed_cannot_be_settled(
    queue: QueueStore, line: Line, nameless_line: Line, look: Look
):
    await enqueue(queue, A, B)
    job = await claim_one(line)
    never = replace(job, id=B, token=0, claim="")

    assert await settle(nameless_line, never, Completed()) is Verdict.STALE
    assert await look.places() == {"pending": [B], "active": [A]}


async def test_among_many_outcomes_each_has_its_own_verdict(
    queue: QueueStore, new_line: NewLine, look: Look
):
    line, other = new_line(), new_line()
    await enqueue(queue, A, B, C)
    a, b, c = await claim(line, 3)
    await settle(line, a, Completed())
    await look.expire_lease(B)
    await queue.reap(1)
    await claim_one(other)

    settled = await line.settle([(a, Completed()), (b, Completed()), (c, Completed())])

    assert settled.verdicts == [Verdict.GONE, Verdict.STALE, Verdict.OK]
    assert await look.places() == {"active": [B]}


async def test_a_job_of_a_peer_is_settled_by_number_after_our_claim_has_ended(
    queue: QueueStore, line: Line, nameless_line: Line, look: Look
):
    await enqueue(queue, A)
    await settle(line, await claim_one(line), HandedBack())
    # A peer's claim, which knows no claim ids and leaves ours, ended, on the row.
    await look.do("ZREM", look.keys.pending, A)
    await look.do("HSET", look.keys.job(A), "state", "active", "attempts", "2")
    await look.do("ZADD", look.keys.active, await look.now_us() // 1000 + LEASE_MS, A)
    peers = replace(await a_held(queue), token=2)

    assert await settle(nameless_line, peers, Completed()) is Verdict.OK


async def test_extending_moves_the_end_of_the_lease(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, A, B)
    jobs = await claim(line, 2)
    before_ms = await look.now_us() // 1000

    assert await queue.extend(jobs, 2 * LEASE_MS) == [Verdict.OK] * 2

    ends = await look.scores(look.keys.active)
    assert all(before_ms + 2 * LEASE_MS <= end for end in ends.values())
    assert set(ends) == {A, B}


@pytest.mark.case("LSE-32")
async def test_extending_saves_a_job_from_the_reaper(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, A)
    job = await claim_one(line)
    await look.expire_lease(A)

    assert await queue.extend([job], LEASE_MS) == [Verdict.OK]
    assert (await queue.reap(10)).recovered == ()


@pytest.mark.parametrize("outcome", LASTING)
async def test_a_settled_job_cannot_be_extended(
    queue: QueueStore, line: Line, look: Look, outcome: Outcome
):
    await enqueue(queue, A)
    job = await claim_one(line)
    await settle(line, job, outcome)
    before = await look.everything()

    assert await queue.extend([job], LEASE_MS) == [Verdict.STALE]
    assert await look.everything() == before


@pytest.mark.case("LSE-32")
async def test_a_reaped_job_cannot_be_extended(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, A)
    job = await claim_one(line)
    await look.expire_lease(A)
    await queue.reap(1)

    assert await queue.extend([job], LEASE_MS) == [Verdict.STALE]
    assert await look.places() == {"pending": [A]}


async def a_held(queue: QueueStore) -> Held:
    view = await queue.inspect(A)
    assert view is not None
    return Held(queue=queue.name, id=A, payload=b"", token=view.token, claim="")
