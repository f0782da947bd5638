"""Jobs of another runtime's lanes: whatever we do to them, their lanes stay right."""

import pytest

from echomq_worker.domain.outcome import (
    Buried,
    Completed,
    HandedBack,
    Outcome,
    Retried,
    Snoozed,
    Verdict,
)
from echomq_worker.store import Places, QueueStore, Removed, Requeued
from echomq_worker.store.line import Line
from tests.support.jobs import A, B, C, claim, claim_one, enqueue, job_id, settle
from tests.support.look import Look
from tests.support.peers import LANE, OTHER_LANE, Lanes

HOUR_MS = 3_600_000

OUTCOMES: list[tuple[Outcome, dict[str, list[str]], list[str]]] = [
    (Completed(), {}, [B]),
    (Retried(HOUR_MS, "no"), {"schedule": [A]}, [B]),
    (Snoozed(HOUR_MS), {"schedule": [A]}, [B]),
    (Buried("no"), {"dead": [A]}, [B]),
    (HandedBack(), {}, [A, B]),
]


@pytest.mark.parametrize(("outcome", "places", "waiting"), OUTCOMES)
async def test_an_outcome_frees_the_slot_and_puts_the_lane_back_on_the_ring(
    nameless_line: Line,
    look: Look,
    lanes: Lanes,
    outcome: Outcome,
    places: dict[str, list[str]],
    waiting: list[str],
):
    await lanes.enqueue(A, B)
    await lanes.limit(1)
    job = await lanes.claim()
    assert (await lanes.ring(), await lanes.active()) == ([], {LANE: "1"})
    wakes = await lanes.wakes()

    assert await settle(nameless_line, job, outcome) is Verdict.OK

    assert (await lanes.ring(), await lanes.active()) == ([LANE], {})
    assert await lanes.waiting() == waiting
    assert await look.places() == places
    assert await lanes.wakes() == wakes + 1
    assert await look.bells() == 1


async def test_the_last_job_of_a_lane_leaves_the_ring_alone(nameless_line: Line, lanes: Lanes):
    await lanes.enqueue(A)
    await settle(nameless_line, await lanes.claim(), Completed())

    assert (await lanes.ring(), await lanes.active(), await lanes.waiting()) == ([], {}, [])


async def test_a_paused_lane_is_not_put_on_the_ring(nameless_line: Line, look: Look, lanes: Lanes):
    await lanes.enqueue(A, B)
    job = await lanes.claim()
    await look.do("SADD", look.keys.lanes_paused, LANE)
    await look.do("DEL", look.keys.ring)

    await settle(nameless_line, job, HandedBack())

    assert (await lanes.ring(), await lanes.waiting()) == ([], [A, B])


async def test_a_lane_at_its_ceiling_is_not_put_on_the_ring(nameless_line: Line, lanes: Lanes):
    await lanes.enqueue(A, B, C)
    await lanes.limit(3)
    jobs = [await lanes.claim() for _ in range(2)]
    await lanes.limit(1)

    await settle(nameless_line, jobs[0], Completed())

    assert (await lanes.ring(), await lanes.active()) == ([], {LANE: "1"})


async def test_a_retried_job_is_promoted_into_its_lane(
    queue: QueueStore, nameless_line: Line, look: Look, lanes: Lanes
):
    await lanes.enqueue(A)
    await settle(nameless_line, await lanes.claim(), Retried(0, "no"))

    assert (await queue.promote(10)).moved == 1

    assert (await lanes.waiting(), await lanes.ring()) == ([A], [LANE])
    assert await look.places() == {}
    assert await look.bells() == 1
    assert (await lanes.claim()).token == 2


async def test_a_lost_lease_gives_the_job_back_to_its_lane(
    queue: QueueStore, look: Look, lanes: Lanes
):
    await lanes.enqueue(A, B)
    await lanes.limit(1)
    await lanes.claim()
    await look.expire_lease(A)

    assert (await queue.reap(10)).recovered == (A,)

    assert (await lanes.waiting(), await lanes.ring()) == ([A, B], [LANE])
    assert await lanes.active() == {}
    assert await look.places() == {}
    assert await look.bells() == 1


async def test_a_lost_lease_that_buries_frees_the_slot_for_the_next(
    queue: QueueStore, look: Look, lanes: Lanes
):
    await lanes.enqueue(A, B)
    await lanes.limit(1)
    await lanes.claim()
    await look.expire_lease(A)

    assert (await queue.reap(10, crash_limit=1)).buried == (A,)

    assert (await lanes.waiting(), await lanes.ring(), await lanes.active()) == ([B], [LANE], {})
    assert await look.places() == {"dead": [A]}


async def test_a_lost_lease_of_a_bad_row_frees_the_slot_too(
    queue: QueueStore, look: Look, lanes: Lanes
):
    await lanes.enqueue(A)
    await lanes.claim()
    await look.do("HDEL", look.keys.job(A), "payload")
    await look.expire_lease(A)

    await queue.reap(10)

    assert await lanes.active() == {}
    assert [entry["id"] for entry in await look.quarantine()] == [A]


@pytest.mark.parametrize("outcome", [Completed(), Retried(HOUR_MS, "no"), Buried("no")])
async def test_a_late_outcome_takes_the_job_from_its_lane_and_frees_nothing_twice(
    queue: QueueStore, nameless_line: Line, look: Look, lanes: Lanes, outcome: Outcome
):
    await lanes.enqueue(A, B)
    late = await lanes.claim()
    await lanes.claim()
    await look.expire_lease(A)
    await queue.reap(1)
    assert (await lanes.ring(), await lanes.active()) == ([LANE], {LANE: "1"})

    assert await settle(nameless_line, late, outcome) is Verdict.OK

    assert (await lanes.waiting(), await lanes.ring()) == ([], [])
    assert await lanes.active() == {LANE: "1"}


async def test_a_late_outcome_leaves_a_busy_lane_on_the_ring(
    queue: QueueStore, nameless_line: Line, look: Look, lanes: Lanes
):
    await lanes.enqueue(A, B)
    late = await lanes.claim()
    await look.expire_lease(A)
    await queue.reap(1)

    await settle(nameless_line, late, Completed())

    assert (await lanes.waiting(), await lanes.ring()) == ([B], [LANE])


async def test_a_dead_job_is_requeued_into_its_lane(
    queue: QueueStore, nameless_line: Line, look: Look, lanes: Lanes
):
    await lanes.enqueue(A)
    await settle(nameless_line, await lanes.claim(), Buried("no"))

    assert await queue.requeue([A]) == [Requeued.OK]

    assert (await lanes.waiting(), await lanes.ring()) == ([A], [LANE])
    assert await look.places() == {}


async def test_removing_the_only_job_of_a_lane_takes_the_lane_off_the_ring(
    queue: QueueStore, look: Look, lanes: Lanes
):
    await lanes.enqueue(A)
    await lanes.enqueue(B, lane=OTHER_LANE)

    assert await queue.remove(A, Places.WAITING) is Removed.OK

    assert (await lanes.ring(), await lanes.waiting()) == ([OTHER_LANE], [])
    assert await look.row(A) == {}


async def test_removing_one_of_two_jobs_leaves_the_lane_on_the_ring(
    queue: QueueStore, lanes: Lanes
):
    await lanes.enqueue(A, B)
    await queue.remove(A, Places.WAITING)

    assert (await lanes.ring(), await lanes.waiting()) == ([LANE], [B])


async def test_a_job_of_a_lane_that_lies_in_pending_takes_and_frees_a_slot(
    queue: QueueStore, line: Line, look: Look, lanes: Lanes
):
    await enqueue(queue, A)
    await look.do("HSET", look.keys.job(A), "group", LANE)

    job = await claim_one(line)
    assert job.group == LANE
    assert await lanes.active() == {LANE: "1"}
    await settle(line, job, HandedBack())

    assert await lanes.active() == {}
    assert (await lanes.waiting(), await lanes.ring()) == ([A], [LANE])


async def test_a_lane_is_on_the_ring_once_however_many_jobs_come_back(
    queue: QueueStore, look: Look, lanes: Lanes
):
    await lanes.enqueue(A, B, C)
    for _ in range(3):
        await lanes.claim()
    await look.expire_lease(A, B, C)

    await queue.reap(10)

    assert (await lanes.waiting(), await lanes.ring()) == ([A, B, C], [LANE])


async def test_lanes_never_ring_more_than_64_times(
    queue: QueueStore, nameless_line: Line, look: Look, lanes: Lanes
):
    for number in range(70):
        await lanes.enqueue(job_id(number), lane=f"LAN000000000{number:02}")
    jobs = [await lanes.claim() for _ in range(70)]
    await look.do("DEL", look.keys.wake)

    await nameless_line.settle([(job, Retried(0, "no")) for job in jobs])
    await queue.promote(100)

    assert await lanes.wakes() == 64
    assert len(await lanes.ring()) == 70


async def test_nonsense_in_the_count_of_a_lane_stops_no_job(
    queue: QueueStore, line: Line, nameless_line: Line, look: Look, lanes: Lanes
):
    await lanes.enqueue(A, B)
    a, b = await lanes.claim(), await lanes.claim()
    nonsense = ("HSET", look.keys.lane_actives, LANE, "many")

    await look.do(*nonsense)
    assert await settle(nameless_line, a, Completed()) is Verdict.OK
    assert await lanes.active() == {}

    await look.do(*nonsense)
    await look.expire_lease(b.id)
    assert (await queue.reap(1)).recovered == (b.id,)
    assert await lanes.active() == {}

    await look.do(*nonsense)
    await look.do("ZREM", look.keys.lane(LANE), b.id)
    await look.do("ZADD", look.keys.pending, 0, b.id)
    assert [job.id for job in await claim(line)] == [b.id]
    assert await lanes.active() == {LANE: "1"}
