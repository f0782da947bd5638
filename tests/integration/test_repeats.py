"""A worker's call that was not answered is asked again, and nothing is done twice."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest

from echomq_worker.domain.job import Held
from echomq_worker.domain.outcome import Buried, Completed, HandedBack, Retried, Verdict
from echomq_worker.store import QueueStore, Reaped
from echomq_worker.store.line import Line
from tests.support.cut_wire import CutWire, Fault
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
    new_job,
    settle_and_claim,
)
from tests.support.look import Look
from tests.support.stores import NewLine

LOSSES = [
    (Fault.LOST,),
    (Fault.UNANSWERED,),
    (Fault.LATE,),
    (Fault.UNANSWERED, Fault.LOST, Fault.LATE, Fault.UNANSWERED),
]


class Shaky:
    """A line on a wire that can be cut."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self.wire = CutWire(line.wire)
        self.tries: list[int] = []
        line.wire = self.wire
        line.trouble = self.trouble

    async def trouble(self, error: Exception, tries: int) -> None:
        assert "cut by the test" in str(error)
        self.tries.append(tries)


@pytest.fixture
def shaky(line: Line) -> Shaky:
    return Shaky(line)


Call = Callable[[Line, list[Held]], Awaitable[object]]


async def claims(line: Line, held: list[Held]) -> object:
    _ = held
    return [job.id for job in await claim(line, 2, promote=1)]


async def settles(line: Line, held: list[Held]) -> object:
    a, b = held
    return (await line.settle([(a, Completed(b"x", 60_000)), (b, Buried("no"))])).verdicts


async def settles_and_claims(line: Line, held: list[Held]) -> object:
    a, b = held
    settled = await settle_and_claim(line, [(a, Retried(0, "no")), (b, HandedBack())], 2, promote=1)
    return settled.verdicts, [job.id for job in settled.claimed.jobs]


async def beats(line: Line, held: list[Held]) -> object:
    _ = held
    beat = await line.beat(
        limit=2, lease_ms=LEASE_MS, promote=1, reap=9, crash_limit=5, max_attempts=10
    )
    return [job.id for job in beat.claimed.jobs]


async def two_held_one_due_two_waiting(queue: QueueStore, line: Line) -> list[Held]:
    await enqueue(queue, A, B)
    held = list(await claim(line, 2))
    await queue.enqueue([new_job(C, at_ms=1), new_job(D)])
    return held


@pytest.mark.parametrize("losses", LOSSES, ids=lambda losses: "+".join(one.name for one in losses))
@pytest.mark.parametrize("call", [claims, settles, settles_and_claims, beats])
async def test_a_call_that_was_lost_ends_as_if_it_had_not_been(
    shaky: Shaky,
    new_line: NewLine,
    queue: QueueStore,
    look: Look,
    call: Call,
    losses: Sequence[Fault],
):
    held = await two_held_one_due_two_waiting(queue, shaky.line)
    shaky.wire.next_calls(*losses)
    answer = await call(shaky.line, held)
    lossy = await look.state()
    late = await shaky.wire.deliver_late()
    assert await look.state() == lossy
    assert shaky.tries == [*range(1, len(losses) + 1)]
    assert len(late) == losses.count(Fault.LATE)

    for key in await look.key_names():
        await look.do("DEL", key)
    smooth = new_line()
    held = await two_held_one_due_two_waiting(queue, smooth)
    assert await call(smooth, held) == answer
    assert await look.state() == lossy


async def test_a_late_original_after_a_later_call_is_refused(
    shaky: Shaky, queue: QueueStore, look: Look
):
    await enqueue(queue, A, B, C)
    shaky.wire.next_calls(Fault.LATE)
    await claim(shaky.line)
    await claim(shaky.line)
    before = await look.dumps()

    (refusal,) = await shaky.wire.deliver_late()

    assert "EMQLATE" in str(refusal)
    assert await look.dumps() == before
    assert await look.places() == {"pending": [C], "active": [A, B]}


@pytest.mark.case("CRW-06")
async def test_a_late_settlement_does_not_touch_the_next_run_of_the_job(
    shaky: Shaky, queue: QueueStore, look: Look
):
    await enqueue(queue, A)
    job = await claim_one(shaky.line)
    shaky.wire.next_calls(Fault.LATE)
    await settle_and_claim(shaky.line, [(job, HandedBack())], 1)
    before = await look.dumps()

    await shaky.wire.deliver_late()

    assert await look.dumps() == before
    assert await look.places() == {"active": [A]}


async def test_an_empty_claim_that_is_asked_again_leaves_a_receipt_for_its_late_original(
    shaky: Shaky, queue: QueueStore, look: Look
):
    shaky.wire.next_calls(Fault.LATE)
    assert await claim(shaky.line) == []
    await enqueue(queue, A)

    await shaky.wire.deliver_late()

    assert await look.places() == {"pending": [A]}


async def test_a_call_that_changes_nothing_leaves_no_receipt(line: Line, look: Look):
    await claim(line)
    await line.settle([])

    assert not [key for key in await look.key_names() if ":call:" in key]


async def test_a_receipt_is_kept_for_ten_minutes(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, A)
    await claim_one(line)

    kept_ms = await look.do("PTTL", look.keys.call(line.caller.name))
    assert 590_000 < kept_ms <= 600_000


async def test_a_caller_has_one_receipt_however_many_calls_it_makes(
    queue: QueueStore, line: Line, look: Look
):
    await enqueue(queue, A, B, C)
    for _ in range(3):
        await claim_one(line)

    (mine,) = [key for key in await look.key_names() if key.endswith(line.caller.name)]
    assert (await look.do("GET", mine)).decode() == f"3 {C}"


async def test_a_claim_asked_again_brings_only_what_is_still_held(
    shaky: Shaky, new_line: NewLine, queue: QueueStore, look: Look
):
    other = new_line()
    await enqueue(queue, A, B, C)

    async def lose_two_of_them() -> None:
        await look.expire_lease(A, B)
        await queue.reap(9)
        assert (await claim_one(other)).id == A

    shaky.wire.next_calls(Fault.UNANSWERED)
    shaky.wire.meanwhile = lose_two_of_them

    assert [job.id for job in await claim(shaky.line, 3)] == [C]


@pytest.mark.parametrize("limit", [0, 1])
async def test_a_beat_asked_again_tells_again_what_it_has_taken_back(
    shaky: Shaky, queue: QueueStore, look: Look, limit: int
):
    await queue.enqueue([new_job(A, max_attempts=1), new_job(B)])
    await claim(shaky.line, 2)
    await look.expire_lease(A, B)
    shaky.wire.next_calls(Fault.UNANSWERED, Fault.LATE)

    beat = await shaky.line.beat(
        limit=limit, lease_ms=LEASE_MS, promote=9, reap=9, crash_limit=5, max_attempts=10
    )

    assert beat.reaped == Reaped(recovered=(B,), buried=(A,))
    assert [job.id for job in beat.claimed.jobs] == [B][:limit]
    before = await look.dumps()
    await shaky.wire.deliver_late()
    assert await look.dumps() == before


async def test_a_claim_asked_again_brings_the_same_claim_id(
    shaky: Shaky, queue: QueueStore, look: Look
):
    await enqueue(queue, A)
    shaky.wire.next_calls(Fault.UNANSWERED)

    job = await claim_one(shaky.line)

    assert (await look.row(A))["claim"] == job.claim
    assert (await shaky.line.settle([(job, Completed())])).verdicts == [Verdict.OK]


async def test_a_pause_between_two_tries_changes_nothing_about_what_was_claimed(
    shaky: Shaky, queue: QueueStore
):
    await enqueue(queue, A)
    shaky.wire.next_calls(Fault.UNANSWERED)
    shaky.wire.meanwhile = queue.pause

    claimed = await handout(shaky.line)

    assert ([job.id for job in claimed.jobs], claimed.paused) == ([A], True)


async def test_a_line_has_one_call_in_flight(queue: QueueStore, line: Line):
    await enqueue(queue, A, B)

    answers = await asyncio.gather(claim(line), claim(line), return_exceptions=True)

    assert [type(answer) for answer in answers].count(RuntimeError) == 1
    assert [job.id for job in await claim(line)] == [B]


async def test_a_line_that_gave_a_call_up_goes_on_with_the_next(
    shaky: Shaky, queue: QueueStore, look: Look
):
    async def give_up(error: Exception, tries: int) -> None:
        raise asyncio.CancelledError

    await enqueue(queue, A, B)
    shaky.line.trouble = give_up
    shaky.wire.next_calls(Fault.LATE)
    with pytest.raises(asyncio.CancelledError):
        await claim(shaky.line)

    assert [job.id for job in await claim(shaky.line)] == [A]
    await shaky.wire.deliver_late()
    assert await look.places() == {"pending": [B], "active": [A]}
