"""`echomq job`: from the shell to the server and back."""

import asyncio
import json

import pytest

from echomq_worker.domain.failures import Failure, remember
from echomq_worker.domain.job import JobId, State
from echomq_worker.domain.outcome import Buried, Completed, Retried
from echomq_worker.store import QueueStore
from tests.support.commands import Answer, Ask
from tests.support.jobs import A, claim, claim_one, new_job, settle
from tests.support.stores import NewLine

MINE = "JOB0NsUH6L9tuD"


async def test_a_job_is_enqueued_without_the_application(ask: Ask, queue: QueueStore):
    answer = await ask("job", "enqueue", "email.send", "to=a@b.c", "n:=2", "-q", queue.name)

    assert answer.code == 0, answer.err
    view = await queue.inspect(JobId(answer.out.strip()))
    assert view is not None
    assert (view.state, view.name) == (State.PENDING, "email.send")
    assert json.loads(view.payload) == {"to": "a@b.c", "n": 2}


async def test_arguments_may_come_as_one_object_from_standard_input(ask: Ask, queue: QueueStore):
    words = ("job", "enqueue", "x", "--args", "-", "b=2", "-q", queue.name, "--json")

    answer = await ask(*words, given='{"a": [1]}')

    (record,) = answer.records
    assert record == {"id": record["id"], "queue": queue.name, "created": True}
    view = await queue.inspect(record["id"])
    assert view is not None
    assert json.loads(view.payload) == {"a": [1], "b": "2"}


@pytest.mark.parametrize("when", [("--delay", "10m"), ("--at", "2090-01-01T00:00:00Z")])
async def test_a_job_may_wait_for_its_time(when: tuple[str, str], ask: Ask, queue: QueueStore):
    answer = await ask("job", "enqueue", "x", *when, "-q", queue.name)

    view = await queue.inspect(JobId(answer.out.strip()))
    assert view is not None
    assert view.state is State.SCHEDULED


async def test_a_second_job_with_an_id_is_not_taken(ask: Ask, queue: QueueStore):
    words = ("job", "enqueue", "x", "--id", MINE, "-q", queue.name)
    await ask(*words)

    again = await ask(*words)
    refused = await ask(*words, "--fail-on-duplicate")

    assert (again.code, again.out.strip(), refused.code) == (0, MINE, 5)
    assert "nothing was enqueued" in again.err
    assert (await queue.counts()).pending == 1


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("x", "oops"), "expected name=text"),
        (("a handler", "a=1"), "cannot name a handler"),
        (("x", "--delay=-1"), "is no duration"),
        (("x", "--delay=nan"), "is no duration"),
        (("x", "--at=tomorrow"), "expected one such as 2030-01-31"),
        (("x", "--at=2030-01-01T00:00:00"), "does not say its time zone"),
        (("x", "--at=2030-01-01T00:00:00Z", "--delay=1s"), "both delay= and at="),
        (("x", "--id=JOB1"), "is no branded id"),
        (("x", "--max-attempts=0"), "expected a whole number"),
        (("x", "-q", "no queue"), "cannot name a queue"),
    ],
)
async def test_bad_input_is_refused_and_nothing_is_sent(
    words: tuple[str, ...], complaint: str, ask: Ask, queue: QueueStore
):
    where = () if "-q" in words else ("-q", queue.name)

    answer = await ask("job", "enqueue", *words, *where)

    assert answer.code == 2
    assert complaint in answer.err
    counts = await queue.counts()
    assert counts.pending == counts.scheduled == 0


async def test_an_oversized_payload_is_refused_with_the_limit(ask: Ask, queue: QueueStore):
    answer = await ask("job", "enqueue", "x", "-q", queue.name, "--args", "-", given=huge())

    assert answer.code == 2
    assert "1.1MiB, the limit 1MiB (ECHOMQ_MAX_PAYLOAD)" in answer.err


def huge() -> str:
    return json.dumps({"text": "x" * 1_150_000})


async def run_one(new_line: NewLine, result: bytes | None) -> None:
    """Be a worker that runs the next job: complete it, or bury it if there is no result."""
    line = new_line()
    claimed = await claim(line)
    for _ in range(500):
        if claimed:
            break
        await asyncio.sleep(0.01)
        claimed = await claim(line)
    (held,) = claimed
    outcome = Buried("ValueError: no good") if result is None else Completed(result, 60_000)
    await settle(line, held, outcome)


async def wait_with(ask: Ask, new_line: NewLine, queue: QueueStore, result: bytes | None) -> Answer:
    words = ("job", "enqueue", "x", "-q", queue.name, "--wait", "5s", "--json")
    answer, _ = await asyncio.gather(ask(*words), run_one(new_line, result))
    return answer


async def test_waiting_tells_what_came_of_it(ask: Ask, queue: QueueStore, new_line: NewLine):
    good = await wait_with(ask, new_line, queue, b"[1,2]")
    bad = await wait_with(ask, new_line, queue, None)

    assert (good.code, good.records[0]["outcome"], good.records[0]["result"]) == (
        0,
        "completed",
        [1, 2],
    )
    assert (bad.code, bad.records[0]["outcome"]) == (1, "dead")
    assert bad.records[0]["error"] == "ValueError: no good"


async def test_waiting_ends_when_its_time_is_over(ask: Ask, queue: QueueStore):
    answer = await ask("job", "enqueue", "x", "-q", queue.name, "--wait", "100ms")

    assert answer.code == 1
    assert "had no result within 100ms" in answer.err
    assert (await queue.counts()).pending == 1


async def test_inspect_finds_a_job_in_whatever_queue_it_is(
    ask: Ask, queue: QueueStore, new_line: NewLine
):
    made = await ask("job", "enqueue", "email.send", "to=a@b.c", "password=x", "-q", queue.name)
    line = new_line()
    await settle(line, await claim_one(line), Retried(60_000, "ValueError: no good"))

    answer = await ask("job", "inspect", made.out.strip(), "--json")

    (record,) = answer.records
    assert answer.code == 0
    assert (record["queue"], record["state"], record["attempts"]) == (queue.name, "scheduled", 1)
    assert record["last_error"] == "ValueError: no good"
    assert record["payload"] == {"to": "a@b.c", "password": "***"}
    assert record["due_at"].endswith("Z")


async def test_inspect_shows_secrets_only_when_told_to(ask: Ask, queue: QueueStore):
    made = await ask("job", "enqueue", "x", "password=hunter22", "-q", queue.name)

    hidden = await ask("job", "inspect", made.out.strip(), "-q", queue.name)
    shown = await ask("job", "inspect", made.out.strip(), "-q", queue.name, "--raw")

    assert "hunter22" not in hidden.out
    assert "hunter22" in shown.out


async def test_an_error_is_shown_without_the_secrets_in_it(
    ask: Ask, queue: QueueStore, new_line: NewLine
):
    error = "cannot reach redis://:hunter22@db:6379"
    failure = Failure(attempt=1, type="OSError", message=error, at_ms=1, traceback=error)
    made = await ask("job", "enqueue", "x", "-q", queue.name)
    await settle(new_line(), await claim_one(new_line()), Buried(error, remember(None, failure)))
    words = ("-q", queue.name)
    look = ("job", "inspect", made.out.strip(), *words)

    answers = [
        await ask("dead", "list", *words),
        await ask("dead", "list", "--json", *words),
        await ask(*look),
        await ask(*look, "--json"),
    ]

    assert all("redis://:***@db" in answer.out for answer in answers)
    assert not any("hunter22" in answer.out for answer in answers)
    assert "hunter22" in (await ask(*look, "--raw")).out


async def test_inspect_knows_a_kept_result(ask: Ask, queue: QueueStore, new_line: NewLine):
    made = await ask("job", "enqueue", "x", "-q", queue.name, "--keep-result", "1m")
    await run_one(new_line, b'{"answer":42}')

    answer = await ask("job", "inspect", made.out.strip(), "-q", queue.name)

    assert answer.code == 0
    assert "completed" in answer.out
    assert '{"answer": 42}' in answer.out


async def test_inspect_of_a_job_that_is_not_there_exits_with_3(ask: Ask, queue: QueueStore):
    await ask("job", "enqueue", "x", "-q", queue.name)

    nowhere = await ask("job", "inspect", MINE)
    not_here = await ask("job", "inspect", MINE, "-q", queue.name)
    no_queue = await ask("job", "inspect", MINE, "-q", queue.name[:-1])

    assert [nowhere.code, not_here.code, no_queue.code] == [3, 3, 3]
    assert f"there is no job {MINE} in default, {queue.name}" in nowhere.err
    assert f"Did you mean {queue.name}?" in no_queue.err


async def test_a_payload_that_is_no_text_is_shown_as_base64(ask: Ask, queue: QueueStore):
    await queue.enqueue([new_job(A, payload=b"\xff\x00")])

    (record,) = (await ask("job", "inspect", A, "--json", "-q", queue.name)).records

    assert record["payload"] == {"base64": "/wA="}
