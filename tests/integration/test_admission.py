"""What enqueueing writes: at once, at an instant, after a delay."""

import asyncio

import pytest

from echomq_worker.domain.job import Admission, JobId
from echomq_worker.domain.outcome import Completed
from echomq_worker.errors import InvalidIdError
from echomq_worker.store import QueueStore
from tests.support.jobs import A, B, C, D, claim_one, enqueue, job_id, new_job
from tests.support.look import Look
from tests.support.stores import NewLine

FAR_MS = 4_000_000_000_000


async def test_an_enqueued_job_waits_in_pending_at_score_0(queue: QueueStore, look: Look):
    assert await queue.enqueue([new_job(A)]) == [Admission.ENQUEUED]

    assert await look.scores(look.keys.pending) == {A: 0}
    assert await look.row(A) == {"state": "pending", "attempts": "0", "payload": A}


async def test_jobs_wait_in_mint_order_however_they_arrive(queue: QueueStore, look: Look):
    await enqueue(queue, C, A)
    await enqueue(queue, B)

    assert await look.places() == {"pending": [A, B, C]}


async def test_a_row_holds_only_what_is_not_default(queue: QueueStore, look: Look):
    await queue.enqueue([new_job(A, name="mail", max_attempts=3, keep_result_ms=60_000)])

    assert await look.row(A) == {
        "state": "pending",
        "attempts": "0",
        "payload": A,
        "name": "mail",
        "max": "3",
        "keep": "60000",
    }


async def test_a_payload_may_be_any_bytes(queue: QueueStore, look: Look):
    payload = bytes(range(256))
    await queue.enqueue([new_job(A, payload=payload), new_job(B, payload=b"")])

    assert await look.do("HGET", look.keys.job(A), "payload") == payload
    assert await look.do("HGET", look.keys.job(B), "payload") == b""


async def test_an_id_that_has_a_row_is_a_duplicate_and_nothing_changes(
    queue: QueueStore, look: Look
):
    await enqueue(queue, A)
    await queue.enqueue([new_job(B, at_ms=FAR_MS)])
    before = await look.everything()

    again = [new_job(A, payload=b"other"), new_job(B, payload=b"other"), new_job(A, after_ms=5)]

    assert await queue.enqueue(again) == [Admission.DUPLICATE] * 3
    assert await look.everything() == before


async def test_the_same_id_twice_in_one_call_goes_in_once(queue: QueueStore, look: Look):
    jobs = [new_job(A), new_job(A, payload=b"other")]

    assert await queue.enqueue(jobs) == [Admission.ENQUEUED, Admission.DUPLICATE]
    assert (await look.row(A))["payload"] == A


async def test_a_due_job_waits_in_schedule_scored_by_its_instant(queue: QueueStore, look: Look):
    admissions = await queue.enqueue([new_job(A, at_ms=FAR_MS), new_job(B, at_ms=FAR_MS - 1)])

    assert admissions == [Admission.SCHEDULED, Admission.SCHEDULED]
    assert await look.scores(look.keys.schedule) == {A: FAR_MS, B: FAR_MS - 1}
    assert await look.row(A) == {"state": "scheduled", "attempts": "0", "payload": A}


async def test_an_instant_in_the_past_is_due_at_once(queue: QueueStore, look: Look):
    await queue.enqueue([new_job(A, at_ms=-5)])

    assert (await queue.promote(10)).moved == 1
    assert await look.places() == {"pending": [A]}


@pytest.mark.parametrize("delay_ms", [0, 1, 7, 60_000])
async def test_a_delay_counts_from_the_servers_clock_and_never_ends_early(
    queue: QueueStore, look: Look, delay_ms: int
):
    before_us = await look.now_us()
    await queue.enqueue([new_job(A, after_ms=delay_ms)])
    after_us = await look.now_us()

    due_ms = (await look.scores(look.keys.schedule))[A]
    earliest_us = before_us + delay_ms * 1000 if delay_ms else before_us - before_us % 1000
    assert earliest_us <= due_ms * 1000
    assert due_ms * 1000 <= after_us + delay_ms * 1000 + 999


async def test_immediate_and_due_jobs_of_one_call_are_answered_in_order(
    queue: QueueStore, look: Look
):
    jobs = [new_job(A, at_ms=FAR_MS), new_job(B), new_job(C, after_ms=60_000), new_job(D)]

    assert await queue.enqueue(jobs) == [
        Admission.SCHEDULED,
        Admission.ENQUEUED,
        Admission.SCHEDULED,
        Admission.ENQUEUED,
    ]
    assert await look.places() == {"pending": [B, D], "schedule": [C, A]}


async def test_an_id_of_another_kind_is_refused_and_its_neighbours_with_it(
    queue: QueueStore, look: Look
):
    with pytest.raises(InvalidIdError, match="JOB"):
        await queue.enqueue([new_job(A), new_job(JobId("USR0NsUH6L9tuD"))])
    with pytest.raises(InvalidIdError, match="JOB"):
        await queue.enqueue([new_job(JobId("JOB:weird"), after_ms=5)])

    assert await look.places() == {}


async def test_more_jobs_than_one_script_takes_go_in_all_the_same(queue: QueueStore, look: Look):
    jobs = [new_job(job_id(number)) for number in range(2_500)]

    assert await queue.enqueue(jobs) == [Admission.ENQUEUED] * 2_500
    assert (await queue.counts()).pending == 2_500
    assert await look.members(look.keys.pending) == [job.id for job in jobs]


async def test_jobs_of_many_tasks_share_round_trips_and_get_their_own_answers(
    queue: QueueStore, look: Look
):
    await enqueue(queue, job_id(3))
    calls = await last_call(look)

    answers = await asyncio.gather(*(queue.enqueue([new_job(job_id(n))]) for n in range(50)))

    assert answers == [[Admission.DUPLICATE if n == 3 else Admission.ENQUEUED] for n in range(50)]
    assert await last_call(look) - calls <= 2


async def test_one_task_with_a_bad_id_does_not_spoil_the_jobs_of_others(
    queue: QueueStore, look: Look
):
    bad = JobId("JOB:weird")
    answers = await asyncio.gather(
        queue.enqueue([new_job(A)]),
        queue.enqueue([new_job(B)]),
        queue.enqueue([new_job(bad)]),
        queue.enqueue([new_job(bad, after_ms=5)]),
        queue.enqueue([new_job(C, at_ms=FAR_MS)]),
        return_exceptions=True,
    )

    assert [answer if isinstance(answer, list) else type(answer) for answer in answers] == [
        [Admission.ENQUEUED],
        [Admission.ENQUEUED],
        InvalidIdError,
        InvalidIdError,
        [Admission.SCHEDULED],
    ]
    assert await look.places() == {"pending": [A, B], "schedule": [C]}


async def test_big_payloads_are_sent_in_several_calls(queue: QueueStore, look: Look):
    jobs = [new_job(job_id(number), payload=bytes(3_000_000)) for number in range(7)]

    assert await queue.enqueue(jobs) == [Admission.ENQUEUED] * 7
    assert await last_call(look) == 4


async def test_who_had_a_part_of_his_jobs_refused_is_told_how_many_went_in(
    queue: QueueStore, look: Look
):
    jobs = [new_job(job_id(number)) for number in range(1_000)]

    with pytest.raises(InvalidIdError, match="Of 1001 jobs 1000 had gone in before"):
        await queue.enqueue([*jobs, new_job(JobId("JOB:weird"))])

    assert (await queue.counts()).pending == 1_000


async def test_a_completed_job_leaves_its_id_free(queue: QueueStore, new_line: NewLine):
    line = new_line()
    await enqueue(queue, A)
    await line.settle([(await claim_one(line), Completed())])

    assert await queue.enqueue([new_job(A)]) == [Admission.ENQUEUED]


async def last_call(look: Look) -> int:
    """Return the number of the last call that left a receipt; there is one caller."""
    (receipt,) = (key for key in await look.key_names() if key.startswith(look.keys.call("")))
    return int((await look.do("GET", receipt)).split()[0])
