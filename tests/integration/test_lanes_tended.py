"""What an operator sets for lanes: pause, limit, weight, and where a job waits."""

import pytest

from echomq_worker.domain.job import After, JobId, NewJob
from echomq_worker.domain.lanes import LaneState, Reassigned
from echomq_worker.domain.outcome import Buried, Completed
from echomq_worker.errors import InvalidArgumentError, InvalidIdError
from echomq_worker.store import QueueStore
from echomq_worker.store.line import Line
from tests.support.jobs import A, B, C, D, claim, claim_one, job_id, settle
from tests.support.lanes import ACME, BOLT, put, ring
from tests.support.look import Look

# --- pause and resume ------------------------------------------------------------------------


async def test_a_paused_lane_keeps_its_order_and_what_runs_goes_on(
    queue: QueueStore, line: Line, look: Look
):
    await put(queue, "acme", A, C)
    running = await claim_one(line)
    assert await queue.lanes.pause("acme")
    await put(queue, "acme", B)

    assert await claim(line) == []
    await settle(line, running, Completed())
    assert await claim(line) == []

    assert await queue.lanes.resume("acme")
    assert [job.id for job in await claim(line, 9)] == [B, C]


async def test_the_newest_reason_of_a_pause_stands(queue: QueueStore):
    assert await queue.lanes.pause("acme", reason="unpaid", by="ann")
    assert not await queue.lanes.pause("acme", reason="a bug", by="bob")

    note = (await queue.lanes.inspect("acme")).paused
    assert note is not None
    assert (note.reason, note.by) == ("a bug", "bob")
    assert note.since_ms

    assert await queue.lanes.resume("acme")
    assert not await queue.lanes.resume("acme")
    assert (await queue.lanes.inspect("acme")).paused is None


async def test_a_lane_that_a_peer_has_paused_is_paused_without_a_note(
    queue: QueueStore, look: Look
):
    await look.do("SADD", look.keys.lanes_paused, ACME)

    note = (await queue.lanes.inspect("acme")).paused
    assert note is not None
    assert (note.since_ms, note.reason, note.by) == (None, None, None)


async def test_resuming_wakes_as_many_as_there_is_work_for(queue: QueueStore, look: Look):
    await queue.lanes.pause("acme")
    await put(queue, "acme", A, B, C)
    await look.do("DEL", look.keys.bell)
    assert await ring(look) == []

    await queue.lanes.resume("acme")

    assert await ring(look) == [ACME]
    assert await look.bells() == 3
    assert await look.do("LLEN", look.keys.wake) == 1


# --- limit and weight ------------------------------------------------------------------------


async def test_a_limit_holds_from_the_next_claim_on_and_can_be_lifted(
    queue: QueueStore, line: Line, look: Look
):
    await put(queue, "acme", A, B, C, D)
    await claim_one(line)
    await queue.lanes.limit("acme", 2)
    assert len(await claim(line, 9)) == 1
    assert (await queue.lanes.inspect("acme")).state is LaneState.FULL

    await queue.lanes.limit("acme", None)

    assert (await queue.lanes.inspect("acme")).limit is None
    assert len(await claim(line, 9)) == 2


async def test_a_limit_that_is_raised_wakes_workers(queue: QueueStore, line: Line, look: Look):
    await put(queue, "acme", A, B)
    await queue.lanes.limit("acme", 1)
    await claim_one(line)
    await look.do("DEL", look.keys.bell)

    await queue.lanes.limit("acme", 2)

    assert await ring(look) == [ACME]
    assert await look.bells() == 1


async def test_a_worker_serves_lanes_by_their_weight(queue: QueueStore, line: Line):
    await put(queue, "acme", *(job_id(n) for n in range(20)))
    await put(queue, "bolt", *(job_id(n) for n in range(20, 40)))
    await queue.lanes.weight("acme", 3)

    served = [(await claim_one(line)).lane for _ in range(16)]
    assert (served.count("acme"), served.count("bolt")) == (12, 4)

    await queue.lanes.weight("acme", None)
    served = [(await claim_one(line)).lane for _ in range(8)]
    assert served.count("acme") == 4


@pytest.mark.parametrize("number", [0, -1, 1.5, True, "3"])
async def test_numbers_that_make_no_sense_are_refused(queue: QueueStore, number: int):
    for setting in (queue.lanes.limit, queue.lanes.weight, queue.lanes.maximum):
        with pytest.raises(InvalidArgumentError, match="expected a whole number from 1"):
            await setting("acme", number)
    assert await queue.lanes.list() == []


# --- reassign --------------------------------------------------------------------------------


async def test_a_reassigned_job_has_its_place_by_mint_order(
    queue: QueueStore, line: Line, look: Look
):
    await put(queue, "acme", A, D)
    await put(queue, "bolt", B, C)

    assert await queue.lanes.reassign(D, "bolt") is Reassigned.OK
    assert await queue.lanes.reassign(A, "bolt") is Reassigned.OK

    assert await look.members(look.keys.lane(BOLT)) == [A, B, C, D]
    assert await ring(look) == [BOLT]
    assert {(job.lane, job.group) for job in await claim(line, 9)} == {("bolt", BOLT)}


async def test_only_what_waits_is_reassigned(queue: QueueStore, line: Line):
    await put(queue, "acme", A)
    await put(queue, "acme", B, due=After(60_000))
    await put(queue, "acme", C)
    first, third = await claim(line, 2)
    await settle(line, third, Buried("no"))

    results = [await queue.lanes.reassign(id_, "bolt") for id_ in (A, B, C, D)]

    assert results == [Reassigned.NOT_PENDING] * 3 + [Reassigned.NOT_FOUND]
    await settle(line, first, Completed())


async def test_a_flat_job_is_moved_only_if_that_is_meant(queue: QueueStore, look: Look):
    await queue.enqueue([NewJob(A, b"x"), NewJob(B, b"x", priority=5)])

    assert await queue.lanes.reassign(A, "acme") is Reassigned.NOT_FOUND
    for id_ in (A, B):
        assert await queue.lanes.reassign(id_, "acme", flat=True) is Reassigned.OK

    assert await look.members(look.keys.lane(ACME)) == [A, B]
    assert not {"priority", "arrival"} & set(await look.row(B))


async def test_a_job_that_waits_at_a_gate_is_reassigned_and_asks_again(
    queue: QueueStore, line: Line, look: Look
):
    await put(queue, "acme", A, name="mail")
    await queue.gates.strike("name:mail")
    await claim(line)

    assert await queue.lanes.reassign(A, "bolt") is Reassigned.OK
    assert await look.members(look.keys.lane(BOLT)) == [A]
    assert await claim(line) == []
    await queue.gates.lift("name:mail")
    found = [*await claim(line), *await claim(line)]
    assert [job.lane for job in found] == ["bolt"]


async def test_what_is_no_job_or_no_lane_is_refused(queue: QueueStore):
    with pytest.raises(InvalidIdError):
        await queue.lanes.reassign(JobId("x"), "acme")
    with pytest.raises(InvalidArgumentError, match="cannot name a lane"):
        await queue.lanes.reassign(A, "a b")
