"""Jobs with a priority: where they wait, who is next, and how arrivals are counted."""

import pytest

from echomq_worker.domain.job import After, State
from echomq_worker.domain.outcome import Buried, Completed, HandedBack, Retried, Verdict
from echomq_worker.domain.priority import HIGHEST, TIER
from echomq_worker.store import (
    Places,
    QueueStore,
    Removed,
)
from echomq_worker.store.line import Line
from tests.support.audit import complaints_of
from tests.support.jobs import (
    A,
    B,
    C,
    D,
    E,
    F,
    claim,
    claim_one,
    job_id,
    settle,
)
from tests.support.look import Look
from tests.support.ranked import ids, prioritized, ranked

FAR_MS = 4_000_000_000_000


async def counter(look: Look, number: int) -> None:
    """Let so many have arrived."""
    await look.do("SET", f"{look.keys.root}pc", number)


async def test_a_score_is_the_priority_and_the_number_of_the_arrival(queue: QueueStore, look: Look):
    await queue.enqueue([ranked(A, 5), ranked(B, -5), ranked(C, HIGHEST), ranked(D, -HIGHEST)])

    assert await prioritized(look) == {
        A: 5 * 2**32 + 1,
        B: -5 * 2**32 + 2,
        C: 2**52 + 3,
        D: -(2**52) + 4,
    }
    assert await look.places() == {}


async def test_below_zero_goes_first_then_mint_order_then_above_zero(queue: QueueStore, line: Line):
    await queue.enqueue([ranked(A, 1), ranked(B, 0), ranked(C, -1), ranked(D, 2), ranked(E, -2)])

    jobs = await claim(line, 5)

    assert ids(jobs) == [E, C, B, A, D]
    assert [job.priority for job in jobs] == [-2, -1, 0, 1, 2]


async def test_inside_a_tier_the_first_to_arrive_is_first_whatever_its_id(
    queue: QueueStore, line: Line
):
    for id_ in (C, A, B):
        await queue.enqueue([ranked(id_, 7)])

    assert ids(await claim(line, 3)) == [C, A, B]


async def test_one_that_is_to_run_later_arrives_when_it_is_due(
    queue: QueueStore, line: Line, look: Look
):
    await queue.enqueue([ranked(A, 7, at_ms=FAR_MS)])
    assert "arrival" not in await look.row(A)
    await queue.enqueue([ranked(B, 7)])
    await look.make_due(A)

    assert ids(await claim(line, 2, promote=1)) == [B, A]


@pytest.mark.case("LSE-28")
async def test_a_job_whose_worker_was_killed_is_the_next_of_all_again(
    queue: QueueStore, line: Line, look: Look
):
    await queue.enqueue([ranked(A, 5)])
    await queue.enqueue([ranked(job_id(n), 9) for n in range(100, 1_100)])
    assert ids(await claim(line)) == [A]
    await queue.enqueue([ranked(B, 5)])
    await look.expire_lease(A)

    await queue.reap(10)

    assert ids(await claim(line, 4)) == [A, B, job_id(100), job_id(101)]


@pytest.mark.parametrize("way", ["handed back", "retried", "reaped", "requeued", "moved away"])
@pytest.mark.parametrize("priority", [-3, 3])
async def test_whatever_comes_back_comes_back_to_its_place(
    queue: QueueStore, line: Line, look: Look, way: str, priority: int
):
    await queue.enqueue([ranked(B, priority), ranked(A, priority), ranked(C, priority)])
    before = await prioritized(look)
    held = await claim_one(line)
    assert held.id == B

    if way == "handed back":
        await settle(line, held, HandedBack())
    elif way == "retried":
        await settle(line, held, Retried(0, "no"))
        await queue.promote(10)
    elif way == "reaped":
        await look.expire_lease(B)
        await queue.reap(10)
    elif way == "requeued":
        await settle(line, held, Buried("no"))
        await queue.requeue([B])
    else:
        await settle(line, held, Retried(3_600_000, "no"))
        await queue.reschedule([B], After(1_800_000))
        await queue.promote_now([B])

    assert await prioritized(look) == before
    again = await claim(line, 9)
    assert ids(again) == [B, A, C]
    assert [job.priority for job in again] == [priority] * 3


async def test_a_job_that_was_reaped_while_it_ran_is_still_its_holders_while_it_waits(
    queue: QueueStore, line: Line, look: Look
):
    await queue.enqueue([ranked(A, -1)])
    held = await claim_one(line)
    await look.expire_lease(A)
    await queue.reap(10)

    assert await settle(line, held, Completed()) is Verdict.OK
    assert await prioritized(look) == {}


async def test_what_a_peer_has_put_into_pending_is_served_there_and_comes_back_to_its_place(
    queue: QueueStore, line: Line, look: Look, server_url: str
):
    await queue.enqueue([ranked(B, -5), ranked(C, -5), ranked(A, 0)])
    before = await prioritized(look)
    for key, command in (("prioritized", ("ZREM", B)), ("pending", ("ZADD", 0, B))):
        await look.do(command[0], look.keys.root + key, *command[1:])
    assert complaints_of(server_url, queue.name) == []

    jobs = await claim(line, 9)

    assert [(job.id, job.priority) for job in jobs] == [(C, -5), (A, 0), (B, -5)]
    for job in jobs:
        await settle(line, job, HandedBack())
    assert await prioritized(look) == before
    assert ids(await claim(line, 9)) == [B, C, A]


async def test_a_waiting_job_with_a_priority_rings_for_a_claimer(queue: QueueStore, look: Look):
    await queue.enqueue([ranked(A, 3)])
    assert await look.bells() == 1


async def test_a_waiting_job_with_a_priority_is_seen_and_can_be_removed(
    queue: QueueStore, look: Look
):
    await queue.enqueue([ranked(A, 3), ranked(B, 3)])
    view = await queue.inspect(A)
    assert view is not None
    assert (view.state, view.priority) == (State.PENDING, 3)

    assert await queue.remove(A, Places.WAITING) is Removed.OK

    assert list(await prioritized(look)) == [B]
    assert await queue.inspect(A) is None


async def test_the_counter_begins_anew_when_half_is_used_and_nobody_waits(
    queue: QueueStore, line: Line, look: Look
):
    await counter(look, 2**31 - 2)
    await queue.enqueue([ranked(A, 1), ranked(B, 1)])
    assert await prioritized(look) == {A: TIER + 2**31 - 1, B: TIER + 2**31}
    await claim(line, 2)

    await queue.enqueue([ranked(C, 1), ranked(D, 1)])

    assert await prioritized(look) == {C: TIER + 1, D: TIER + 2}


@pytest.mark.parametrize("used_up", ["4294967294", "9223372036854775807", "-5", "no number"])
async def test_at_the_end_of_the_counter_mint_order_decides(
    queue: QueueStore, line: Line, look: Look, used_up: str
):
    await queue.enqueue([ranked(F, 1)])
    await look.do("SET", f"{look.keys.root}pc", used_up)

    await queue.enqueue([ranked(C, 1), ranked(A, 1), ranked(D, 2), ranked(B, 1)])

    scores = await prioritized(look)
    assert {scores[id_] for id_ in (A, B, C)} == {2 * TIER - 1}, "below the next tier"
    assert ids(await claim(line, 9)) == [F, A, B, C, D]


async def test_a_row_that_names_no_rung_waits_in_mint_order(
    queue: QueueStore, line: Line, look: Look
):
    for id_, priority in ((A, "0"), (B, "x"), (C, str(HIGHEST + 1)), (D, "1.5"), (E, "")):
        await queue.enqueue([ranked(id_, 9)])
        await look.do("ZREM", f"{look.keys.root}prioritized", id_)
        await look.do("HSET", look.keys.job(id_), "priority", priority)
        await look.do("ZADD", look.keys.active, 1, id_)

    await queue.reap(10)

    assert await look.places() == {"pending": [A, B, C, D, E]}
