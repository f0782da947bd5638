import asyncio
import threading
from datetime import UTC, datetime

import pytest
from structlog.testing import capture_logs

from echomq_worker.domain.ids import BrandedId
from echomq_worker.domain.job import JobId
from echomq_worker.errors import EchoMQError, InvalidArgumentError
from echomq_worker.handlers import JobContext


def made(*, attempt: int = 1, deadline_ms: int | None = None) -> JobContext:
    return JobContext(
        id=JobId("JOB0NsUH6L9tuD"),
        queue="mail",
        name="email.send",
        attempt=attempt,
        max_attempts=3,
        deadline_ms=deadline_ms,
    )


def test_it_tells_times_as_datetimes_too() -> None:
    context = made(deadline_ms=1_750_000_000_500)
    assert context.deadline == datetime(2025, 6, 15, 15, 6, 40, 500_000, UTC)
    assert made().deadline is None


def test_it_knows_when_its_job_was_minted() -> None:
    job_id = BrandedId.pack("JOB", 1_750_000_000_000, 7, 1).text
    context = JobContext(id=JobId(job_id), queue="q", name="x", attempt=1, max_attempts=3)
    assert context.enqueued_ms == 1_750_000_000_000


def test_it_knows_the_last_attempt() -> None:
    assert not made(attempt=2).is_last_attempt
    assert made(attempt=3).is_last_attempt


def test_it_is_not_cancelled_until_it_is() -> None:
    context = made()
    assert (context.cancelled, context.cancel_reason, context.lease_lost) == (False, None, False)
    context.cancel("shutdown")
    assert (context.cancelled, context.cancel_reason, context.lease_lost) == (
        True,
        "shutdown",
        False,
    )


def test_it_remembers_whether_the_handler_has_looked() -> None:
    context = made()
    assert not context.cancelled
    context.cancel("timeout")
    assert not context.told
    assert context.cancelled
    assert context.told


def test_the_first_reason_counts() -> None:
    context = made()
    context.cancel("lease_lost")
    context.cancel("shutdown")
    assert context.lease_lost


async def test_whoever_waits_for_the_cancel_hears_it_from_another_thread() -> None:
    context = made()
    waiting = [asyncio.create_task(context.wait_cancelled()) for _ in range(2)]
    await asyncio.sleep(0)
    thread = threading.Thread(target=context.cancel, args=("timeout",))
    thread.start()
    await asyncio.wait_for(asyncio.gather(*waiting), 5)
    thread.join()
    assert context.cancel_reason == "timeout"


async def test_waiting_for_a_cancel_that_has_come_returns_at_once() -> None:
    context = made()
    context.cancel("timeout")
    await asyncio.wait_for(context.wait_cancelled(), 5)
    assert context.cancelled


def test_a_cancel_outlives_the_loop_of_a_waiter() -> None:
    context = made()

    async def give_up() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(context.wait_cancelled(), 0)

    asyncio.run(give_up())
    context.cancel("shutdown")
    assert context.cancelled


def test_its_log_says_which_job_it_is_about() -> None:
    with capture_logs() as lines:
        made(attempt=2).log.info("sent", to="x")
    assert lines == [
        {
            "event": "sent",
            "log_level": "info",
            "to": "x",
            "job_id": "JOB0NsUH6L9tuD",
            "job_name": "email.send",
            "queue": "mail",
            "attempt": 2,
        }
    ]


def test_it_shows_what_it_is() -> None:
    assert repr(made()) == "<JobContext JOB0NsUH6L9tuD email.send attempt 1/3>"


def test_an_instant_beyond_the_years_that_python_knows_is_none():
    assert made(deadline_ms=999_999_999_999_999).deadline is None


class Notebook:
    def __init__(self) -> None:
        self.written: list[tuple[JobId, str]] = []

    async def update_progress(self, job_id: JobId, progress: str) -> bool:
        self.written.append((job_id, progress))
        return True

    async def add_log(self, job_id: JobId, line: str) -> int | None:
        self.written.append((job_id, line))
        return 1


def told(notebook: Notebook) -> JobContext:
    job_id = JobId("JOB0NsUH6L9tuD")
    return JobContext(id=job_id, queue="q", name="x", attempt=1, max_attempts=3, notes=notebook)


async def test_a_thread_waits_until_what_it_tells_is_written():
    notebook = Notebook()
    context = told(notebook)
    await asyncio.to_thread(context.sync.set_progress, {"done": 1})
    await asyncio.to_thread(context.sync.add_log, "a line")
    assert notebook.written == [(context.id, '{"done": 1}'), (context.id, "a line")]
    with pytest.raises(InvalidArgumentError, match=r"such as 0\.5"):
        await asyncio.to_thread(context.sync.set_progress, object())


async def test_who_would_block_the_event_loop_is_told_to_await():
    notebook = Notebook()
    context = told(notebook)
    with pytest.raises(EchoMQError, match=r"Await context\.set_progress"):
        context.sync.set_progress(1)
    assert notebook.written == []


def test_a_thread_that_outlives_its_worker_is_told_so():
    async def made() -> JobContext:
        return told(Notebook())

    context = asyncio.run(made())
    with pytest.raises(EchoMQError, match="the worker has stopped"):
        context.sync.add_log("too late")
