"""`echomq job reschedule` and `promote`, and what a job may say about its time when enqueued."""

import json

import pytest

from echomq_worker.domain.job import At, State
from echomq_worker.domain.outcome import Buried, Completed, Retried
from echomq_worker.store import QueueStore
from echomq_worker.store.line import Line
from tests.support.commands import Ask
from tests.support.jobs import A, B, claim_one, job_id, new_job, settle
from tests.support.look import Look

FAR_MS = 4_000_000_000_000


async def test_a_job_is_moved_to_an_instant(ask: Ask, queue: QueueStore, look: Look):
    await queue.enqueue([new_job(A, at_ms=FAR_MS)])

    when = ("--at", "2093-06-01T00:00:00.001+02:00")
    answer = await ask("job", "reschedule", A, *when, "-q", queue.name, "--json")

    assert answer.code == 0, answer.err
    assert answer.records == [
        {"id": A, "queue": queue.name, "outcome": "ok", "due_at": "2093-05-31T22:00:00.001Z"}
    ]
    assert await look.scores(look.keys.schedule) == {A: 3_894_645_600_001}


async def test_a_job_is_moved_by_a_delay_and_a_person_reads_when_it_runs(
    ask: Ask, queue: QueueStore, look: Look
):
    await queue.enqueue([new_job(A, at_ms=FAR_MS)])
    before_ms = await look.now_us() // 1_000

    answer = await ask("job", "reschedule", A, "--in", "10m", "-q", queue.name)

    assert (answer.code, answer.out) == (0, ""), answer.err
    assert f"job {A} in queue {queue.name} is due in " in answer.err
    due_ms = (await look.scores(look.keys.schedule))[A]
    assert before_ms + 600_000 <= due_ms <= await look.now_us() // 1_000 + 600_001


async def test_a_time_that_is_past_means_now(ask: Ask, queue: QueueStore):
    await queue.enqueue([new_job(A, at_ms=FAR_MS)])

    answer = await ask("job", "reschedule", A, "--at", "2001-01-01T00:00:00Z", "-q", queue.name)

    assert (answer.code, answer.err) == (0, f"job {A} in queue {queue.name} is due now\n")
    assert (await queue.promote(1)).moved == 1


async def test_a_retry_is_let_run_now(ask: Ask, queue: QueueStore, line: Line):
    await queue.enqueue([new_job(A), new_job(B, at_ms=FAR_MS)])
    await settle(line, await claim_one(line), Retried(60_000, "no"))

    person = await ask("job", "promote", A, "-q", queue.name)
    program = await ask("job", "promote", B, "--json", "-q", queue.name)

    assert (person.code, person.err) == (0, f"job {A} in queue {queue.name} may run now\n")
    assert program.records == [{"id": B, "queue": queue.name, "outcome": "ok", "due_at": None}]
    assert await queue.pending_ids(9) == [A, B]


@pytest.mark.parametrize("words", [("promote",), ("reschedule", "--in", "1s")])
async def test_what_waits_for_no_time_is_not_moved_and_the_reason_is_told(
    ask: Ask, queue: QueueStore, line: Line, words: tuple[str, ...]
):
    verb, *more = words

    async def refusal(job: str) -> str:
        answer = await ask("job", verb, job, *more, "-q", queue.name)
        assert answer.code == 5, answer
        assert "only a job that waits for its time can be moved" in answer.err
        return answer.err

    await queue.enqueue([new_job(A)])
    assert "it waits for a worker already" in await refusal(A)
    held = await claim_one(line)
    assert "it is running" in await refusal(A)
    await settle(line, held, Buried("no"))
    assert "it has died; `echomq dead requeue` brings it back" in await refusal(A)
    await queue.enqueue([new_job(B)])
    await settle(line, await claim_one(line), Completed(b"1", 60_000))
    assert "it has completed" in await refusal(B)
    program = await ask("job", verb, A, *more, "-q", queue.name, "--json")
    outcome = {"id": A, "queue": queue.name, "outcome": "not_scheduled", "due_at": None}
    assert (program.code, program.records) == (5, [outcome])


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        (("reschedule", A), 2, "expected one of --in"),
        (("reschedule", A, "--in=1s", "--at=2030-01-01T00:00:00Z"), 2, "expected one of --in"),
        (("reschedule", A, "--in=5"), 2, "does not say its unit"),
        (("reschedule", A, "--in=-5s"), 2, "is no duration"),
        (("reschedule", A, "--at=soon"), 2, "expected one such as 2030-01-31"),
        (("reschedule", A, "--at=2030-01-01T00:00:00"), 2, "does not say its time zone"),
        (("reschedule", A, "--at=2999-01-01T00:00:00Z"), 2, "over 100 years away"),
        (("reschedule", "JOB1", "--in=1s"), 2, "is no branded id"),
        (("promote", "JOB1"), 2, "is no branded id"),
        (("promote", job_id(9)), 3, "there is no job"),
    ],
)
async def test_bad_input_moves_nothing(
    ask: Ask, queue: QueueStore, look: Look, words: tuple[str, ...], code: int, complaint: str
):
    await queue.enqueue([new_job(A, at_ms=FAR_MS)])

    answer = await ask("job", *words, "-q", queue.name)

    assert (answer.code, complaint in answer.err) == (code, True), answer
    assert "Traceback" not in answer.err
    assert await look.scores(look.keys.schedule) == {A: FAR_MS}


async def test_a_job_may_say_how_it_runs_and_until_when(ask: Ask, queue: QueueStore, look: Look):
    when = ("--at", "2090-01-01T00:00:00Z", "--expires", "10m")
    how = ("--timeout", "30s", "--backoff", "1s,10s")
    answer = await ask("job", "enqueue", "x", "-q", queue.name, "--id", A, *when, *how)

    assert answer.code == 0, answer.err
    row = await look.row(A)
    said = (row["timeout"], row["backoff"], row["more"], row["expires"])
    assert said == ("30000", "steps:1000,10000:none", "1", "3786912600000")
    shown = await ask("job", "inspect", A, "-q", queue.name, "--json")
    assert json.loads(shown.out)["expires_at"] == "2090-01-01T00:10:00.000Z"
    assert "expires" in (await ask("job", "inspect", A, "-q", queue.name)).out


async def test_a_job_may_expire_at_an_instant(ask: Ask, queue: QueueStore, look: Look):
    answer = await ask(
        *("job", "enqueue", "x", "-q", queue.name, "--id", A),
        *("--expires", "2090-01-01T00:00:00+01:00", "--backoff", "exponential"),
    )

    assert answer.code == 0, answer.err
    row = await look.row(A)
    assert (row["state"], row["expires"]) == (State.PENDING, "3786908400000")
    assert row["backoff"] == "exponential:1000:600000:2:full"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--expires=0s",), "no job starts so soon"),
        (("--expires=5",), "does not say its unit"),
        (("--expires=2090-01-01T00:00:00",), "does not say its time zone"),
        (("--expires=2090-13-01",), "expected one such as 2030-01-31"),
        (("--expires=2089-01-01T00:00Z", "--at=2090-01-01T00:00Z"), "before it is due"),
        (("--expires=2999-01-01T00:00Z",), "over 100 years away"),
        (("--timeout=never",), "is no duration"),
        (("--backoff=1s,,2s",), "is no duration"),
        (("--backoff=steps:x",), "is no duration"),
    ],
)
async def test_times_that_cannot_be_meant_are_refused(
    ask: Ask, queue: QueueStore, words: tuple[str, ...], complaint: str
):
    answer = await ask("job", "enqueue", "x", "-q", queue.name, *words)

    assert (answer.code, complaint in answer.err) == (2, True), answer
    counts = await queue.counts()
    assert counts.pending == counts.scheduled == 0


async def test_a_job_is_found_in_whichever_queue_it_is(ask: Ask, queue: QueueStore):
    await queue.enqueue([new_job(job_id(987_654_321), at_ms=FAR_MS)])

    answer = await ask("job", "promote", job_id(987_654_321))

    assert answer.code == 0, answer.err
    assert await queue.reschedule([job_id(987_654_321)], At(1)) == ["not_scheduled"]
