"""Running jobs inside a test: retries, time limits, and what comes to no end."""

import asyncio
import threading

import pytest

from echomq_worker import (
    INJECTED,
    Discard,
    EchoMQ,
    JobContext,
    JobFailedError,
    JobState,
    Next,
    Retry,
    Snooze,
    testing,
)
from echomq_worker.testing import Completed, Retried


@pytest.fixture
def app() -> EchoMQ:
    return EchoMQ()


async def test_jobs_run_in_mint_order_when_they_are_told_to(app: EchoMQ):
    ran: list[int] = []

    @app.job("note")
    async def note(number: int) -> None:
        ran.append(number)

    async with testing.inline(app) as kit:
        for number in range(3):
            await note.enqueue(number)
        assert ran == []

        report = await kit.run_until_idle()

    assert ran == [0, 1, 2]
    assert (report.completed, len(report.runs)) == (3, 3)
    assert [ran.outcome for ran in report.runs] == [Completed()] * 3


async def test_what_jobs_enqueue_runs_as_well(app: EchoMQ):
    ran: list[int] = []

    @app.job("count")
    async def count(down_from: int) -> None:
        ran.append(down_from)
        if down_from:
            await count.enqueue(down_from - 1)

    async with testing.inline(app) as kit:
        await count.enqueue(3)
        assert (await kit.run_until_idle()).completed == 4

    assert ran == [3, 2, 1, 0]


async def test_a_delayed_job_runs_once_the_clock_has_been_moved_on(app: EchoMQ):
    @app.job("later")
    async def later() -> None: ...

    async with testing.inline(app) as kit:
        await later.enqueue_in("10m")
        kit.advance("9m59s")
        assert str(await kit.run_until_idle()) == "no jobs ran"
        kit.advance("1s")
        assert (await kit.run_until_idle()).completed == 1


async def test_a_job_that_fails_is_retried_after_its_backoff_and_dies_in_the_end(app: EchoMQ):
    attempts: list[int] = []

    @app.job("fail", max_attempts=3, backoff=["10s", "1m"])
    async def fail(context: JobContext = INJECTED) -> None:
        attempts.append(context.attempt)
        msg = "no luck"
        raise ValueError(msg)

    async with testing.inline(app) as kit:
        handle = await fail.enqueue()
        first = await kit.run_until_idle()
        kit.advance("10s")
        second = await kit.run_until_idle()
        kit.advance("59s")
        assert not (await kit.run_until_idle()).runs
        kit.advance("1s")
        third = await kit.run_until_idle()

        assert attempts == [1, 2, 3]
        assert (first.retried, second.retried, third.buried) == (1, 1, 1)
        (dead,) = kit.dead
        assert (dead.id, dead.last_error) == (handle.id, "ValueError: no luck")
        assert await handle.state() is JobState.DEAD
        with pytest.raises(JobFailedError, match="no luck"):
            await handle.result()


async def test_the_dice_roll_the_longest_wait_unless_told_otherwise(app: EchoMQ):
    @app.job("fail")
    async def fail() -> None:
        raise OSError

    async with testing.inline(app) as kit:
        await fail.enqueue()
        (ran,) = (await kit.run_until_idle()).runs
    assert isinstance(ran.outcome, Retried)
    assert ran.outcome.delay_ms == 1_000

    async with testing.inline(app, dice=lambda low, high: (low + high) / 4) as kit:
        await fail.enqueue()
        (ran,) = (await kit.run_until_idle()).runs
    assert isinstance(ran.outcome, Retried)
    assert ran.outcome.delay_ms == 250


async def test_handlers_say_what_becomes_of_their_jobs(app: EchoMQ):
    @app.job("again")
    async def again() -> None:
        raise Retry(after="5m")

    @app.job("never")
    async def never() -> None:
        reason = "no such user"
        raise Discard(reason)

    @app.job("not.now")
    async def not_now() -> None:
        raise Snooze(3_600)

    async with testing.inline(app) as kit:
        for job in (again, never, not_now):
            await job.enqueue()
        report = await kit.run_until_idle()

        assert (report.retried, report.buried, report.snoozed) == (1, 1, 1)
        assert kit.backend.queue("default").memory.schedule == {
            report.runs[0].id: kit.clock.now_ms() + 300_000,
            report.runs[2].id: kit.clock.now_ms() + 3_600_000,
        }


async def test_a_job_without_a_handler_is_put_off_as_a_worker_does(app: EchoMQ):
    async with testing.inline(app) as kit:
        await app.enqueue_by_name("nobody", {})
        report = await kit.run_until_idle()

    assert (report.unknown, report.snoozed) == (1, 0)
    assert "nobody" in str(report)
    assert "has no handler here; put off by 1s" in str(report)


async def test_a_time_limit_goes_by_the_clock_of_the_test(app: EchoMQ):
    @app.job("download", timeout="30s", max_attempts=1)
    async def download() -> None:
        kit.advance("30s")  # what a slow server does
        await asyncio.Event().wait()

    async with testing.inline(app) as kit:
        await download.enqueue()
        (ran,) = (await kit.run_until_idle()).runs

    assert str(ran).endswith("died: TimeoutError: it did not end within 30s")


async def test_a_handler_in_a_thread_sees_that_its_time_is_over(app: EchoMQ):
    @app.job("crunch", timeout="30s", max_attempts=1)
    def crunch(context: JobContext = INJECTED) -> None:
        kit.advance("30s")
        while not context.cancelled:
            threading.Event().wait(0.001)

    async with testing.inline(app) as kit:
        await crunch.enqueue()
        report = await kit.run_until_idle()

    assert report.buried == 1


async def test_middleware_wraps_the_runs(app: EchoMQ):
    said: list[str] = []

    @app.middleware
    async def shout(context: JobContext, run: Next) -> object:
        said.append(f"before {context.name}")
        return await run()

    @app.job("speak")
    def speak() -> None:
        said.append("spoken")

    assert callable(shout)
    async with testing.inline(app) as kit:
        await speak.enqueue()
        (await kit.run_until_idle()).raise_errors()

    assert said == ["before speak", "spoken"]


async def test_a_report_raises_what_handlers_raised(app: EchoMQ):
    @app.job("fail", max_attempts=1)
    async def fail(text: str) -> None:
        raise ValueError(text)

    async with testing.inline(app) as kit:
        (await kit.run_until_idle()).raise_errors()
        await fail.enqueue("one")
        with pytest.raises(ValueError, match="one"):
            (await kit.run_until_idle()).raise_errors()
        await fail.enqueue("two")
        await fail.enqueue("three")
        with pytest.raises(ExceptionGroup, match="2 of 2 attempts failed"):
            (await kit.run_until_idle()).raise_errors()


async def test_a_paused_queue_is_left_alone(app: EchoMQ):
    @app.job("note", queue="mail")
    async def note() -> None: ...

    async with testing.inline(app) as kit:
        await note.enqueue()
        await kit.backend.queue("mail").pause()
        assert not (await kit.run_until_idle()).runs
        await kit.backend.queue("mail").resume()
        assert (await kit.run_until_idle()).completed == 1
