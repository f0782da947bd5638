"""A job that fails is tried again, 10 times unless you say otherwise, with growing waits between.
What is out of attempts is not lost: it lies with the dead, with its history, for you to look at.
"""

import asyncio

import pytest

from echomq_worker import INJECTED, Discard, EchoMQ, JobContext, JobState, Retry, Snooze
from echomq_worker.domain.failures import read_failures
from echomq_worker.store import QueueStore
from tests.fundamentals.conftest import Work, Worker


async def test_a_job_that_fails_is_tried_again(app: EchoMQ, worker: Worker):
    attempts: list[int] = []
    worked = asyncio.Event()

    @app.job("page.fetch", backoff="20ms")
    async def fetch(context: JobContext = INJECTED) -> None:
        attempts.append(context.attempt)
        if context.attempt < 3:
            msg = "no route to host"
            raise OSError(msg)
        worked.set()

    async with worker():
        await fetch.enqueue()
        await asyncio.wait_for(worked.wait(), 5)

    assert attempts == [1, 2, 3]


async def test_a_job_that_is_out_of_attempts_lies_with_the_dead(
    app: EchoMQ, work: Work, queue: QueueStore
):
    @app.job("page.fetch", max_attempts=1)
    async def fetch(url: str) -> None:
        msg = f"no such host: {url}"
        raise OSError(msg)

    handle = await fetch.enqueue("http://nowhere.example")
    stats = await work()

    assert stats.buried == 1
    assert await handle.state() is JobState.DEAD
    (dead,) = await queue.dead(10)
    assert dead.last_error == "OSError: no such host: http://nowhere.example"


async def test_every_failed_attempt_is_remembered_with_the_job(
    app: EchoMQ, work: Work, queue: QueueStore
):
    @app.job("page.fetch", max_attempts=2, backoff="0s")
    async def fetch(context: JobContext = INJECTED) -> None:
        msg = f"attempt {context.attempt} failed"
        raise OSError(msg)

    await fetch.enqueue()
    await work()

    (dead,) = await queue.dead(10)
    first, second = read_failures(dead.failures)
    assert (first.type, first.message) == ("OSError", "attempt 1 failed")
    assert "raise OSError(msg)" in second.traceback
    assert second.worker  # who ran it, and `at_ms` says when


async def test_a_dead_job_can_be_brought_back(app: EchoMQ, work: Work, queue: QueueStore):
    broken = True

    @app.job("page.fetch", max_attempts=1)
    async def fetch() -> None:
        if broken:
            raise OSError

    handle = await fetch.enqueue()
    await work()

    broken = False  # you have fixed it
    await queue.requeue([handle.id])  # `echomq dead requeue`
    assert (await work()).completed == 1


async def test_a_handler_may_ask_for_another_attempt_at_a_time_of_its_own(
    app: EchoMQ, work: Work, queue: QueueStore
):
    @app.job("page.fetch")
    async def fetch() -> None:
        raise Retry(after="1h", reason="the site asks us to slow down")

    handle = await fetch.enqueue()
    assert (await work()).retried == 1

    job = await queue.inspect(handle.id)
    assert job is not None
    assert (job.state, job.attempts) == (JobState.SCHEDULED, 1)


async def test_a_handler_may_say_that_no_further_attempt_can_help(app: EchoMQ, work: Work):
    @app.job("page.fetch")
    async def fetch(url: str) -> None:
        reason = f"{url} is no address"
        raise Discard(reason)

    await fetch.enqueue("nonsense")

    assert (await work()).buried == 1


async def test_a_handler_may_ask_to_run_later_without_using_up_an_attempt(
    app: EchoMQ, work: Work, queue: QueueStore
):
    @app.job("report.build")
    async def build() -> None:
        raise Snooze(delay="15m")  # the numbers are not in yet

    handle = await build.enqueue()
    assert (await work()).snoozed == 1

    job = await queue.inspect(handle.id)
    assert job is not None
    assert (job.state, job.attempts) == (JobState.SCHEDULED, 0)


@pytest.mark.parametrize(("error", "outcome"), [(KeyError, "buried"), (OSError, "retried")])
async def test_some_errors_bury_a_job_at_once(
    app: EchoMQ, work: Work, error: type[Exception], outcome: str
):
    @app.job("order.ship", bury_on=[KeyError, TypeError], backoff="1h")
    async def ship() -> None:
        raise error

    await ship.enqueue()

    assert str(await work()) == f"1 {outcome}"


async def test_a_job_that_takes_too_long_is_cancelled_and_tried_again(app: EchoMQ, work: Work):
    @app.job("page.fetch", timeout="50ms", backoff="1h")
    async def fetch() -> None:
        await asyncio.sleep(60)

    await fetch.enqueue()

    assert (await work()).retried == 1
