"""Every limit of `domain/limits.py`: what is at it passes, and what is one over it does not."""

import json
from typing import Any

import pytest
import structlog

from echomq_worker import EchoMQ
from echomq_worker.config import load
from echomq_worker.domain.failures import Failure, read_failures, remember, shorten
from echomq_worker.domain.limits import (
    ATTEMPTS,
    BATCH,
    BATCH_BYTES,
    ERROR_TEXT,
    FAILURES,
    FAILURES_BYTES,
    HANDLER_NAME,
    LOG_TEXT,
    NUMBER_DIGITS,
    PAUSE_REASON,
    PAUSED_BY,
    PAYLOAD_BYTES,
    QUARANTINED_FIELD,
    QUARANTINED_ID,
    QUEUE_NAME,
    RESULT_BYTES,
    TRACEBACK,
    WORKER_NAME,
)
from echomq_worker.domain.outcome import Buried, Completed, Verdict
from echomq_worker.domain.queue_name import check_queue_name
from echomq_worker.errors import (
    HandlerError,
    InvalidArgumentError,
    PayloadTooLargeError,
    ResultError,
    SettingsError,
)
from echomq_worker.handlers.results import ANY_RESULT
from echomq_worker.protocol.rows import read_number
from echomq_worker.store import QueueStore, Requeued
from echomq_worker.store.line import Line
from echomq_worker.worker import WorkerOptions
from tests.support.jobs import A, claim, job_id, new_job
from tests.support.logs import configured
from tests.support.look import Look
from tests.unit.client_fakes import FakeBackend, FakeQueue

OBJECT = len(b'{"text":""}')
IDS = [job_id(number) for number in range(BATCH + 1)]


def made(**given: Any) -> tuple[EchoMQ, Any, FakeQueue]:
    backend = FakeBackend()
    app = EchoMQ(backend=backend, **given)

    @app.job("work", queue="q")
    async def work(text: str) -> None: ...

    return app, work, backend.queue("q")


@pytest.mark.case("PAY-07")
@pytest.mark.parametrize("letter", ["a", "\u00e9", "\U0001f600"])
@pytest.mark.parametrize("size", [PAYLOAD_BYTES - 1, PAYLOAD_BYTES])
async def test_a_payload_at_the_limit_is_sent(letter: str, size: int):
    _, work, queue = made()
    each = len(letter.encode())
    room = size - OBJECT
    text = letter * (room // each) + "." * (room % each)
    await work.enqueue(text)
    assert len(queue.jobs[0].payload) == size
    with pytest.raises(PayloadTooLargeError, match="ECHOMQ_MAX_PAYLOAD"):
        await work.enqueue(text + "." * (PAYLOAD_BYTES + 1 - size))
    assert len(queue.jobs) == 1


@pytest.mark.case("PAY-07")
async def test_one_payload_over_the_limit_refuses_all_of_a_bulk_before_anything_is_sent():
    app, work, queue = made(max_payload="1KiB")
    calls = [work.call("x"), work.call("y" * 1_024), work.call("z")]
    with pytest.raises(PayloadTooLargeError):
        await app.enqueue_many(calls)
    assert queue.calls == []


def test_a_result_at_the_limit_is_kept():
    at_limit = "r" * (RESULT_BYTES - 2)
    assert len(ANY_RESULT.encode(at_limit)) == RESULT_BYTES
    with pytest.raises(ResultError, match="limit is 1MiB"):
        ANY_RESULT.encode(at_limit + "r")


def test_a_name_of_a_handler_has_a_longest():
    app, _, _ = made()

    async def work() -> None: ...

    app.job("h" * HANDLER_NAME)(work)
    with pytest.raises(HandlerError, match=f"1 to {HANDLER_NAME} "):
        app.job("h" * (HANDLER_NAME + 1))(work)


def test_a_name_of_a_queue_has_a_longest():
    assert check_queue_name("q" * QUEUE_NAME)
    with pytest.raises(InvalidArgumentError, match=f"1 to {QUEUE_NAME} "):
        check_queue_name("q" * (QUEUE_NAME + 1))


def test_a_name_of_a_worker_has_a_longest():
    assert load({"ECHOMQ_WORKER_NAME": "w" * WORKER_NAME}, {}).settings.worker_name
    with pytest.raises(SettingsError, match=f"1 to {WORKER_NAME} "):
        load({"ECHOMQ_WORKER_NAME": "w" * (WORKER_NAME + 1)}, {})


async def test_attempts_have_a_most():
    _, work, _ = made()
    await work.options(max_attempts=ATTEMPTS).enqueue("x")
    with pytest.raises(InvalidArgumentError, match="max_attempts"):
        work.options(max_attempts=ATTEMPTS + 1)


@pytest.mark.parametrize("most", [ERROR_TEXT, TRACEBACK])
def test_a_long_text_loses_its_middle(most: int):
    assert shorten("m" * most, most) == "m" * most
    assert len(shorten("m" * (most + 1), most)) == most


def test_a_history_has_a_longest():
    failure = Failure(
        attempt=1, type="E", message="\U0001f600" * 9_999, at_ms=1, traceback="t" * 9_999
    )
    history = b""
    for _ in range(FAILURES + 1):
        history = remember(history, failure)
        assert len(history) <= FAILURES_BYTES
    kept = read_failures(history)
    assert len(kept) <= FAILURES
    assert all(len(each.message) == ERROR_TEXT for each in kept)


@pytest.mark.usefixtures("untouched_logging")
@pytest.mark.parametrize("extra", [0, 1])
def test_a_text_in_a_log_line_has_a_longest(extra: int):
    stream = configured()
    structlog.get_logger().info("x", text="a" * (LOG_TEXT + extra))
    (line,) = stream.lines
    assert (line["text"] == "a" * LOG_TEXT) is (extra == 0)


def test_a_number_on_a_row_has_a_longest():
    assert read_number(b"9" * NUMBER_DIGITS) == 10**NUMBER_DIGITS - 1
    assert read_number(b"9" * (NUMBER_DIGITS + 1)) is None


def test_a_worker_runs_a_thousand_jobs_at_once_and_no_more():
    for name in ("concurrency", "promote_batch", "reap_batch"):
        assert WorkerOptions(**{name: BATCH})  # type: ignore[arg-type]
        with pytest.raises(InvalidArgumentError, match=f"1 to {BATCH}"):
            WorkerOptions(**{name: BATCH + 1})  # type: ignore[arg-type]


async def test_a_thousand_and_one_jobs_live_through_everything_a_call_can_do(
    queue: QueueStore, line: Line, look: Look
):
    await queue.enqueue([new_job(id_, at_ms=1) for id_ in IDS])
    assert (await queue.promote(BATCH + 1)).moved == BATCH
    assert (await queue.promote(BATCH + 1)).moved == 1
    first, second = await claim(line, BATCH + 1), await claim(line, BATCH + 1)
    assert (len(first), len(second)) == (BATCH, 1)
    assert set(await queue.extend(first, 60_000)) == {Verdict.OK}
    for id_ in IDS:
        await look.do("ZADD", look.keys.active, "XX", 1, id_)
    assert len((await queue.reap(BATCH + 1)).recovered) == BATCH
    assert len((await queue.reap(BATCH + 1)).recovered) == 1
    held = [*await claim(line, BATCH), *await claim(line, BATCH)]
    dying = await line.settle([(job, Buried("no")) for job in held[:BATCH]])
    assert set(dying.verdicts) == {Verdict.OK}
    last = await line.settle([(held[BATCH], Buried("no"))])
    assert last.verdicts == [Verdict.OK]
    assert set(await queue.requeue(IDS)) == {Requeued.OK}
    held = [*await claim(line, BATCH), *await claim(line, BATCH)]
    for part in (held[:BATCH], held[BATCH:]):
        assert set((await line.settle([(job, Completed()) for job in part])).verdicts) == {
            Verdict.OK
        }
    assert await look.places() == {}


async def test_more_bytes_than_one_call_takes_go_in_all_the_same(queue: QueueStore):
    payload = b"p" * (BATCH_BYTES // 4 + 1)
    assert set(await queue.enqueue([new_job(id_, payload=payload) for id_ in IDS[:5]])) == {
        "enqueued"
    }
    assert (await queue.counts()).pending == 5


async def test_a_reason_of_a_pause_has_a_longest(queue: QueueStore):
    await queue.pause(reason="r" * (PAUSE_REASON + 1), by="b" * (PAUSED_BY + 1))
    note = await queue.pause_note()
    assert note is not None
    assert (note.reason, note.by) == ("r" * PAUSE_REASON, "b" * PAUSED_BY)


@pytest.mark.parametrize("extra", [0, 1])
async def test_copies_in_quarantine_have_a_longest(
    queue: QueueStore, line: Line, look: Look, extra: int
):
    await queue.enqueue([new_job(A, payload=b"p" * (QUARANTINED_FIELD + extra))])
    await look.do("HSET", look.keys.job(A), "attempts", "many")
    await look.do("ZADD", look.keys.pending, 0, "z" * (QUARANTINED_ID + extra))
    await claim(line, 5)
    row, member = await look.quarantine()
    assert row["payload"] == "p" * QUARANTINED_FIELD
    assert member["id"] == "z" * QUARANTINED_ID
    json.dumps(row)
