"""An enqueue that was not answered is asked again under its number: nothing goes in twice."""

import asyncio
from collections.abc import Sequence

import pytest
from redis import exceptions as redis_errors

from echomq_worker.domain.job import Admission, NewJob
from echomq_worker.domain.outcome import Completed
from echomq_worker.errors import InvalidArgumentError, OutOfMemoryError, UnavailableError
from echomq_worker.protocol.scripts import Operand
from echomq_worker.store import Places, QueueStore
from echomq_worker.store.line import Line
from echomq_worker.store.wire import PrivateWire, Reply
from tests.support.cut_wire import CutWire, Fault
from tests.support.jobs import A, B, C, D, claim_one, enqueue, job_id, new_job, settle
from tests.support.look import Look

FAR_MS = 4_000_000_000_000
LOSSES = [
    (Fault.LOST,),
    (Fault.UNANSWERED,),
    (Fault.LATE,),
    (Fault.UNANSWERED, Fault.LATE, Fault.LOST),
]
JOBS = {
    "at once": [new_job(A), new_job(B)],
    "later": [new_job(A, at_ms=FAR_MS), new_job(B, at_ms=FAR_MS)],
    "after a delay": [new_job(A, after_ms=60_000), new_job(B, after_ms=60_000)],
}


@pytest.fixture
def wire(queue: QueueStore) -> CutWire:
    """The wire of the queue's producer."""
    wire = CutWire(queue._producer.wire)
    queue._producer.wire = wire
    return wire


@pytest.mark.parametrize("losses", LOSSES, ids=lambda losses: "+".join(one.name for one in losses))
@pytest.mark.parametrize("when", JOBS)
async def test_a_call_that_was_lost_ends_as_if_it_had_not_been(
    queue: QueueStore, wire: CutWire, look: Look, when: str, losses: Sequence[Fault]
):
    jobs: list[NewJob] = JOBS[when]
    admitted = Admission.ENQUEUED if when == "at once" else Admission.SCHEDULED
    wire.next_calls(*losses)

    assert await queue.enqueue(jobs) == [admitted, admitted]

    before = await look.dumps()
    late = await wire.deliver_late()
    assert late == [b"11"] * losses.count(Fault.LATE)
    assert await look.dumps() == before
    assert await look.places() == {"pending" if when == "at once" else "schedule": [A, B]}
    assert await look.bells() == (2 if when == "at once" else 0)


@pytest.mark.parametrize("due_ms", [None, 1])
async def test_a_job_that_has_run_between_two_tries_does_not_run_twice(
    queue: QueueStore, line: Line, wire: CutWire, look: Look, due_ms: int | None
):
    async def run_it() -> None:
        await queue.promote(1)
        await settle(line, await claim_one(line), Completed())

    wire.next_calls(Fault.UNANSWERED)
    wire.meanwhile = run_it

    admissions = await queue.enqueue([new_job(A, at_ms=due_ms)])

    assert admissions == [Admission.ENQUEUED if due_ms is None else Admission.SCHEDULED]
    assert await look.places() == {}
    assert (await queue.counts()).completed == 1


async def test_a_job_removed_between_two_tries_does_not_come_back(
    queue: QueueStore, wire: CutWire, look: Look
):
    async def remove_it() -> None:
        await queue.remove(A, Places.ANY)

    wire.next_calls(Fault.UNANSWERED)
    wire.meanwhile = remove_it
    await queue.enqueue([new_job(A)])

    assert await look.places() == {}


async def test_a_late_original_after_a_later_call_puts_nothing_in(
    queue: QueueStore, line: Line, wire: CutWire, look: Look
):
    wire.next_calls(Fault.LATE)
    await enqueue(queue, A)
    await settle(line, await claim_one(line), Completed())
    await enqueue(queue, B)
    before = await look.dumps()

    (refusal,) = await wire.deliver_late()

    assert "EMQLATE" in str(refusal)
    assert await look.dumps() == before


async def test_duplicates_that_are_asked_again_leave_a_receipt_for_their_late_original(
    queue: QueueStore, line: Line, wire: CutWire, look: Look
):
    await enqueue(queue, A)
    job = await claim_one(line)
    wire.next_calls(Fault.LATE)
    assert await queue.enqueue([new_job(A, payload=b"again")]) == [Admission.DUPLICATE]
    await settle(line, job, Completed())

    assert await wire.deliver_late() == [b"0"]
    assert await look.places() == {}


async def test_immediate_and_due_jobs_of_one_call_are_repeated_apart(
    queue: QueueStore, wire: CutWire, look: Look
):
    wire.next_calls(Fault.UNANSWERED, Fault.LATE)
    jobs = [new_job(A, at_ms=FAR_MS), new_job(B), new_job(C, at_ms=FAR_MS), new_job(D)]

    admissions = await queue.enqueue(jobs)

    assert admissions == [Admission.SCHEDULED, Admission.ENQUEUED] * 2
    await wire.deliver_late()
    assert await look.places() == {"pending": [B, D], "schedule": [A, C]}


async def test_a_silent_server_is_given_up_after_a_while_and_the_outcome_called_unknown(
    queue: QueueStore, wire: CutWire, look: Look
):
    queue._producer.give_up_ms = 50
    wire.next_calls(*[Fault.LATE] * 99)

    with pytest.raises(UnavailableError, match=rf"Whether {A} went in is not known"):
        await queue.enqueue([new_job(A)])

    assert await look.places() == {}


async def test_what_was_given_up_may_be_asked_again_with_the_same_ids(
    queue: QueueStore, wire: CutWire, look: Look
):
    queue._producer.give_up_ms = 1
    wire.next_calls(Fault.UNANSWERED)
    with pytest.raises(UnavailableError):
        await queue.enqueue([new_job(A)])

    assert await queue.enqueue([new_job(A), new_job(B)]) == ["duplicate", "enqueued"]
    assert await look.places() == {"pending": [A, B]}


async def test_a_call_that_was_given_up_holds_nobody_else_up(
    queue: QueueStore, wire: CutWire, look: Look
):
    queue._producer.give_up_ms = 1
    wire.next_calls(Fault.LOST)

    first = asyncio.create_task(queue.enqueue([new_job(A)]))
    await asyncio.sleep(0)
    second = asyncio.create_task(queue.enqueue([new_job(B)]))
    answers = await asyncio.gather(first, second, return_exceptions=True)

    assert isinstance(answers[0], UnavailableError)
    assert answers[1] == [Admission.ENQUEUED]
    assert await look.places() == {"pending": [B]}


async def test_an_enqueue_of_unknown_outcome_says_which_ids_to_ask_again(
    queue: QueueStore, wire: CutWire
):
    queue._producer.give_up_ms = 1
    wire.next_calls(Fault.UNANSWERED)

    answers = await asyncio.gather(
        queue.enqueue([new_job(A), new_job(B)]), queue.enqueue([new_job(C)]), return_exceptions=True
    )

    assert [error.ids for error in answers if isinstance(error, UnavailableError)] == [(A, B), (C,)]


class Failing(CutWire):
    """Passes some calls on, and fails the others with an error of the client library."""

    def __init__(self, inner: PrivateWire, passing: int, error: redis_errors.RedisError) -> None:
        super().__init__(inner)
        self._passing = passing
        self._error = error

    async def command(self, *parts: Operand) -> Reply:
        if self._passing == 0:
            raise self._error
        self._passing -= 1
        return await super().command(*parts)


async def test_a_server_that_is_gone_when_asked_again_may_have_done_it(
    queue: QueueStore, wire: CutWire
):
    await enqueue(queue, B)  # the script is known
    gone = redis_errors.ConnectionError("Error 111 connecting to h:1. Connect call failed.")
    queue._producer.wire = CutWire(Failing(wire, 0, gone))
    queue._producer.wire.next_calls(Fault.LOST)
    queue._producer.give_up_ms = 30

    with pytest.raises(UnavailableError, match=rf"outcome is unknown. Whether {A} went in is not"):
        await queue.enqueue([new_job(A)])


async def test_a_server_that_fills_up_midway_says_how_far_it_came_and_the_ids(
    queue: QueueStore, wire: CutWire
):
    await enqueue(queue, B)  # the script is known
    full = redis_errors.ResponseError("OOM command not allowed when used memory > 'maxmemory'.")
    queue._producer.wire = Failing(wire, 1, full)
    jobs = [new_job(job_id(number)) for number in range(10, 1_011)]

    with pytest.raises(OutOfMemoryError, match="Of 1001 jobs 1000 had gone in before") as caught:
        await queue.enqueue(jobs)

    assert caught.value.ids == tuple(job.id for job in jobs)
    assert "Nothing was changed" not in str(caught.value)


async def test_a_job_that_cannot_be_sent_harms_nobody_elses(queue: QueueStore, look: Look):
    answers = await asyncio.gather(
        queue.enqueue([new_job(A)]),
        queue.enqueue([new_job(B), new_job(D, name="half \ud800")]),
        queue.enqueue([new_job(C)]),
        return_exceptions=True,
    )

    assert isinstance(answers[1], InvalidArgumentError)
    assert [answers[0], answers[2]] == [["enqueued"], ["enqueued"]]
    assert await look.places() == {"pending": [A, C]}


class Fussy(CutWire):
    """Cannot send one of the payloads, and says so with an error of many arguments."""

    async def command(self, *parts: Operand) -> Reply:
        """Send one command and return its reply."""
        if b"unfit" in parts:
            "\ud800".encode()
        return await super().command(*parts)


@pytest.mark.parametrize("before", [1, 1_000])
async def test_nobody_waits_for_ever_for_an_error_that_cannot_be_made_anew(
    queue: QueueStore, before: int
):
    queue._producer.wire = Fussy(queue._producer.wire)
    many = [new_job(job_id(n)) for n in range(10, 10 + before)]

    async with asyncio.timeout(20):
        answers = await asyncio.gather(
            queue.enqueue([new_job(A)]),
            queue.enqueue([*many, new_job(B, payload=b"unfit")]),
            queue.enqueue([new_job(C)]),
            return_exceptions=True,
        )

    assert isinstance(answers[1], UnicodeEncodeError)
    assert [answers[0], answers[2]] == [["enqueued"], ["enqueued"]]


async def test_a_task_that_was_cancelled_leaves_the_answers_of_the_others_right(
    queue: QueueStore, look: Look
):
    gone = asyncio.create_task(queue.enqueue([new_job(A)]))
    others = [asyncio.create_task(queue.enqueue([new_job(id_)])) for id_ in (B, A, C)]
    await asyncio.sleep(0)
    gone.cancel()

    answers = [await other for other in others]

    assert answers == [["enqueued"], ["duplicate"], ["enqueued"]]
    assert await look.places() == {"pending": [A, B, C]}
