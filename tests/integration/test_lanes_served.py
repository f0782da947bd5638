"""Claims from lanes: whose turn it is, how much of it, and what stands in the way."""

import pytest

from echomq_worker.domain.gates import Rate
from echomq_worker.domain.job import NewJob
from echomq_worker.domain.lanes import LaneState, Turn, lane_group
from echomq_worker.domain.outcome import Completed, HandedBack
from echomq_worker.errors import InvalidArgumentError, WrongTypeError
from echomq_worker.store import QueueStore
from echomq_worker.store.line import Line
from tests.support.cut_wire import CutWire, Fault
from tests.support.jobs import LEASE_MS, A, B, C, D, E, claim, claim_one, job_id
from tests.support.lanes import ACME, BOLT, put, ring
from tests.support.look import Look


async def served(
    line: Line, limit: int = 9, *, lane: str | None = None, turn: Turn = Turn.BATCH
) -> list[str]:
    """Claim of one lane; return the ids."""
    claimed = await line.claim_lane(limit=limit, lease_ms=LEASE_MS, lane=lane, turn=turn)
    return [job.id for job in claimed.jobs]


async def test_single_turns_go_round(queue: QueueStore, line: Line):
    await put(queue, "acme", A, B)
    await put(queue, "bolt", C, D)

    turns = [await served(line, turn=Turn.SINGLE) for _ in range(5)]

    assert turns == [[A], [C], [B], [D], []]


async def test_a_weighted_turn_takes_as_many_as_the_weight_says(queue: QueueStore, line: Line):
    await put(queue, "acme", A, B, C)
    await put(queue, "bolt", D, E)
    await queue.lanes.weight("acme", 2)

    assert [await served(line, turn=Turn.WEIGHTED) for _ in range(3)] == [[A, B], [D], [C]]


async def test_a_batch_is_of_one_lane_and_no_larger_than_asked_for(queue: QueueStore, line: Line):
    await put(queue, "acme", A, B, C)
    await put(queue, "bolt", D, E)

    assert [await served(line, 2) for _ in range(4)] == [[A, B], [D, E], [C], []]


async def test_a_lane_can_be_claimed_by_name_whoever_has_the_turn(
    queue: QueueStore, line: Line, look: Look
):
    await put(queue, "acme", A)
    await put(queue, "bolt", B, C, D)

    assert await served(line, 2, lane="bolt") == [B, C]
    assert await ring(look) == [ACME, BOLT]
    assert await served(line, 2, lane="bolt") == [D]
    assert await served(line, 2, lane="bolt") == []
    assert await ring(look) == [ACME]


async def test_a_claimed_lane_keeps_to_its_limit(queue: QueueStore, line: Line, look: Look):
    await put(queue, "acme", A, B, C)
    await queue.lanes.limit("acme", 2)

    assert await served(line, lane="acme") == [A, B]
    assert await ring(look) == []
    assert await served(line, lane="acme") == []
    assert await served(line) == []


async def test_a_paused_lane_and_a_paused_queue_hand_out_nothing(
    queue: QueueStore, line: Line, look: Look
):
    await put(queue, "acme", A)
    await queue.pause()
    assert await served(line) == await served(line, lane="acme") == []
    assert await ring(look) == [ACME]
    await queue.resume()
    await queue.lanes.pause("acme")
    assert await served(line) == await served(line, lane="acme") == []
    await queue.lanes.resume("acme")
    assert await served(line) == [A]


async def test_a_rate_of_the_lane_holds_for_these_claims_too(
    queue: QueueStore, line: Line, look: Look
):
    await put(queue, "acme", A, B, C)
    await queue.lanes.rate("acme", Rate(count=2, window_ms=3_600_000, burst=2))

    assert await served(line, lane="acme") == [A, B]
    assert await served(line, lane="acme") == await served(line) == []
    assert await ring(look) == []
    view = await queue.lanes.inspect("acme")
    assert view.state is LaneState.RATED
    assert view.kept_until_ms is not None
    assert view.kept_until_ms > (await look.now_us()) // 1_000

    await queue.lanes.rate("acme", None)
    assert [job.id for job in await claim(line)] == [C]


async def test_a_rate_of_the_lane_is_not_charged_for_what_another_gate_keeps_back(
    queue: QueueStore, line: Line, look: Look
):
    await queue.gates.limit_concurrency("name:mail", 1)
    await queue.lanes.rate("acme", Rate(count=2, window_ms=3_600_000, burst=2))
    await put(queue, "acme", A, B, C, name="mail")
    await put(queue, "acme", D, E, name="sms")

    assert [job.id for job in await claim(line, 9)] == [A, D]
    assert (await look.row(B))["held"] == "cap:name:mail"
    assert await look.do("ZCARD", f"{look.keys.root}g:{ACME}:pending") == 1
    assert (await queue.lanes.inspect("acme")).state is LaneState.RATED


@pytest.mark.parametrize("turn", Turn)
async def test_entries_of_the_ring_that_stand_for_nothing_are_passed_over(
    queue: QueueStore, line: Line, look: Look, turn: Turn
):
    stale = [lane_group(f"stale-{n}") for n in range(200)]
    await look.do("RPUSH", look.keys.ring, *stale)
    await put(queue, "acme", A)

    assert await served(line, turn=turn) == [A]
    assert await ring(look) == []


@pytest.mark.parametrize("lane", ["acme", None, "any"])
async def test_a_lane_whose_jobs_could_not_be_leased_comes_back_into_the_rotation(
    queue: QueueStore, line: Line, look: Look, lane: str | None
):
    await put(queue, "acme", A, B)
    await queue.lanes.limit("acme", 1)
    await look.do("HSET", look.keys.job(A), "attempts", "spoilt")

    got = [job.id for job in await claim(line)] if lane == "any" else await served(line, lane=lane)

    assert got in ([], [B])
    assert await ring(look) == ([] if got else [ACME])
    assert got or await claim(line)


async def test_a_job_that_waits_at_a_gate_leaves_its_lane_to_the_others(
    queue: QueueStore, line: Line, look: Look
):
    await put(queue, "acme", A, name="mail")
    await put(queue, "acme", B, name="sms")
    await queue.lanes.limit("acme", 1)
    await queue.gates.strike("name:mail")

    got = [job.id for job in await claim(line)] or [job.id for job in await claim(line)]

    assert got == [B]


async def test_lanes_that_go_first_take_turns_before_the_others(
    queue: QueueStore, line: Line, look: Look
):
    for n, lane in enumerate(("acme", "bolt", "cork", "dune")):
        await put(queue, lane, *(job_id(4 * n + m) for m in range(3)))
    assert await queue.lanes.first("cork")
    assert await queue.lanes.first("dune")
    assert not await queue.lanes.first("dune")

    served = [(await claim_one(line)).lane for _ in range(12)]

    assert served[:6] == ["cork", "dune"] * 3
    assert served[6:] == ["acme", "bolt"] * 3


async def test_a_lane_that_goes_first_comes_back_to_the_head(
    queue: QueueStore, line: Line, look: Look
):
    await put(queue, "acme", A, B)
    await put(queue, "bolt", C)
    await queue.lanes.first("bolt")
    await queue.lanes.limit("bolt", 1)
    await put(queue, "bolt", D)
    running = await claim_one(line)
    assert (running.lane, await ring(look)) == ("bolt", [ACME])

    await line.settle([(running, Completed())])
    assert await ring(look) == [BOLT, ACME]

    assert await queue.lanes.first("bolt", on=False)
    assert not await queue.lanes.first("bolt", on=False)
    assert await ring(look) == [ACME, BOLT]


async def test_flat_jobs_keep_their_share_beside_lanes_that_go_first(queue: QueueStore, line: Line):
    await put(queue, "acme", *(job_id(n) for n in range(10)))
    await queue.lanes.first("acme")
    await queue.enqueue([NewJob(job_id(n), b"x") for n in range(10, 20)])

    served = [job.lane for job in await claim(line, 10)]

    assert served.count("acme") == 5


async def test_an_unanswered_claim_is_asked_again_and_takes_no_more(
    queue: QueueStore, line: Line, look: Look
):
    await put(queue, "acme", A, B, C, D)
    line.wire = wire = CutWire(line.wire)

    async def again(error: Exception, tries: int) -> None:
        assert tries < 3, error

    line.trouble = again
    wire.next_calls(Fault.UNANSWERED)

    assert await served(line, 2, lane="acme") == [A, B]
    assert await look.hash(look.keys.lane_actives) == {ACME: "2"}


async def test_what_was_claimed_of_a_lane_settles_as_any_job(
    queue: QueueStore, line: Line, look: Look
):
    await put(queue, "acme", A, B)
    first, second = (await line.claim_lane(limit=9, lease_ms=LEASE_MS)).jobs
    assert (first.lane, first.group) == ("acme", ACME)

    await line.settle([(first, Completed()), (second, HandedBack())])

    assert await look.members(look.keys.lane(ACME)) == [B]
    assert await ring(look) == [ACME]
    assert await look.hash(look.keys.lane_actives) == {}


async def test_a_lane_that_holds_something_else_stops_no_claim(
    queue: QueueStore, line: Line, look: Look
):
    await look.do("SET", look.keys.lane(ACME), "x")
    await look.do("RPUSH", look.keys.ring, ACME)
    await put(queue, "bolt", B)

    assert await served(line) == [B]
    assert await served(line, lane="acme") == []
    with pytest.raises(WrongTypeError):
        await queue.lanes.pause("acme")
    await look.do("DEL", look.keys.lane(ACME))


async def test_a_name_that_no_lane_can_have_is_refused(line: Line):
    with pytest.raises(InvalidArgumentError, match="cannot name a lane"):
        await line.claim_lane(limit=1, lease_ms=LEASE_MS, lane="a b")


async def test_the_longest_batch_is_1000(queue: QueueStore, line: Line):
    await put(queue, "acme", *(job_id(n) for n in range(1_001)))

    assert len(await served(line, 5_000)) == 1_000
    assert len(await served(line, 5_000)) == 1
