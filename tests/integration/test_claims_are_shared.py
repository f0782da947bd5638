"""Claims are shared by flat jobs and lanes, between what is urgent and what can wait."""

import pytest

from echomq_worker.domain.job import JobId
from echomq_worker.domain.outcome import Completed
from echomq_worker.errors import EchoMQError
from echomq_worker.store import (
    QueueStore,
)
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
)
from tests.support.look import Look
from tests.support.ranked import GROUP, ids, in_lane, ranked


async def test_flat_jobs_and_lanes_share_a_claim_in_halves_after_what_is_urgent(
    queue: QueueStore, line: Line
):
    flat = [job_id(n) for n in range(10)]
    laned = [job_id(n) for n in range(100, 110)]
    await queue.enqueue([new_job(id_) for id_ in flat] + [in_lane(id_) for id_ in laned])
    await queue.enqueue([ranked(job_id(200), -1), ranked(job_id(201), 1)])

    first = ids(await claim(line, 9))

    assert first[0] == job_id(200)
    assert [len([id_ for id_ in first if id_ in some]) for some in (flat, laned)] == [4, 4]
    rest = ids(await claim(line, 99))
    assert rest[-1] == job_id(201), "what is above 0 comes when all the others have been served"


async def test_the_odd_share_alternates(queue: QueueStore, line: Line):
    flat = {job_id(n) for n in range(20)}
    await queue.enqueue([new_job(id_) for id_ in flat])
    await queue.enqueue([in_lane(job_id(n)) for n in range(100, 120)])

    shares = [len(flat & set(ids(await claim(line, 3)))) for _ in range(4)]
    one_by_one = [len(flat & set(ids(await claim(line, 1)))) for _ in range(6)]

    assert shares in ([2, 1, 2, 1], [1, 2, 1, 2])
    assert one_by_one in ([1, 0] * 3, [0, 1] * 3)


@pytest.mark.parametrize("side", ["flat", "lanes"])
async def test_a_side_without_work_leaves_all_to_the_other(
    queue: QueueStore, line: Line, side: str
):
    many = [job_id(n) for n in range(10)]
    await queue.enqueue([new_job(id_) if side == "flat" else in_lane(id_) for id_ in many])

    assert ids(await claim(line, 7)) == many[:7]


async def test_entries_of_the_ring_that_stand_for_nothing_cost_nobody_a_job(
    queue: QueueStore, line: Line, look: Look
):
    await queue.enqueue([in_lane(A), ranked(B, 0), ranked(C, 3)])
    stale = [f"LAN{number:011d}" for number in range(900_000, 900_030)]
    await look.do("LPUSH", look.keys.ring, *stale, "nonsense", "")

    assert sorted(ids(await claim(line, 9))) == [A, B, C]
    assert await look.do("LLEN", look.keys.ring) == 0


async def test_a_long_stretch_of_stale_entries_is_worn_off_claim_by_claim(
    queue: QueueStore, line: Line, look: Look
):
    await queue.enqueue([in_lane(A), ranked(C, 3)])
    await look.do("LPUSH", look.keys.ring, *(f"LAN{n:011d}" for n in range(900_000, 900_300)))

    got: list[JobId] = []
    for _ in range(8):
        told = await handout(line, 9)
        got += ids(told.jobs)

    assert sorted(got) == [A, C]


async def test_a_foreign_lane_stops_nobody(queue: QueueStore, line: Line, look: Look):
    await queue.enqueue([in_lane(A), ranked(B, 0), ranked(C, -3)])
    await look.do("DEL", look.keys.lane(GROUP))
    await look.do("SET", look.keys.lane(GROUP), "foreign")

    assert ids(await claim(line, 9)) == [C, B]
    await queue.enqueue([in_lane(D)])
    assert ids(await claim(line, 9)) == [D], "it waits in mint order instead"
    await look.do("DEL", look.keys.lane(GROUP))
    await look.do("ZADD", look.keys.pending, 0, A)


async def test_a_settlement_hands_out_by_priority_too(queue: QueueStore, line: Line):
    await queue.enqueue([ranked(A, 0), ranked(B, 0)])
    held = await claim_one(line)
    await queue.enqueue([ranked(C, -1)])

    told = await line.settle([(held, Completed())], limit=2, lease_ms=LEASE_MS)

    assert ids(told.claimed.jobs) == [C, B]


async def test_an_unknown_priority_in_a_call_of_the_script_is_an_error(
    queue: QueueStore, look: Look
):
    await enqueue(queue, A)
    before = await look.dumps()
    args = {"caller": "", "call_number": 0, "again": "", "priority": "1e3x", "log_size": 0}
    with pytest.raises(EchoMQError, match="priority"):
        await queue._change("reprioritize", args, [A])
    assert await look.dumps() == before
