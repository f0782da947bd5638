"""When a test's jobs have come to an end, and what is said if they do not."""

import asyncio

import pytest

from echomq_worker import EchoMQ, EchoMQError, JobState, Snooze, testing
from echomq_worker.testing import NotIdleError


@pytest.fixture
def app() -> EchoMQ:
    return EchoMQ()


async def test_a_job_that_runs_again_at_once_for_ever_is_an_error_that_names_it(app: EchoMQ):
    @app.job("spin")
    async def spin() -> None:
        raise Snooze(0)

    async with testing.inline(app) as kit:
        await spin.enqueue()
        with pytest.raises(NotIdleError, match=r"20 attempts were made, 20 of them of spin"):
            await kit.run_until_idle(limit=20)


async def test_as_many_attempts_as_allowed_are_no_error(app: EchoMQ):
    @app.job("note")
    async def note() -> None: ...

    async with testing.inline(app) as kit:
        for _ in range(3):
            await note.enqueue()
        assert (await kit.run_until_idle(limit=3)).completed == 3
        await kit.run_until_idle(limit=0)
        await note.enqueue()
        with pytest.raises(NotIdleError, match="0 attempts were made"):
            await kit.run_until_idle(limit=0)


async def test_a_handler_that_does_not_end_is_an_error_that_names_it_and_is_handed_back(
    app: EchoMQ,
):
    @app.job("hang")
    async def hang() -> None:
        await asyncio.Event().wait()

    async with testing.inline(app) as kit:
        handle = await hang.enqueue()
        with pytest.raises(NotIdleError, match=r"no handler ended within 20ms.*hang \(JOB"):
            await kit.run_until_idle(give_up="20ms")

        assert await handle.state() is JobState.PENDING


async def test_jobs_that_wait_for_each_other_run_together_if_they_may(app: EchoMQ):
    met = asyncio.Event()

    @app.job("first")
    async def first() -> None:
        await met.wait()

    @app.job("second")
    async def second() -> None:
        met.set()

    async with testing.inline(app, concurrency=2) as kit:
        await first.enqueue()
        await second.enqueue()
        report = await kit.run_until_idle()

    assert [ran.name for ran in report.runs] == ["second", "first"]


async def test_only_one_call_runs_jobs(app: EchoMQ):
    @app.job("meddle", max_attempts=1)
    async def meddle() -> None:
        await kit.run_until_idle()

    async with testing.inline(app) as kit:
        await meddle.enqueue()
        report = await kit.run_until_idle()

    with pytest.raises(EchoMQError, match="is running jobs already"):
        report.raise_errors()


async def test_to_wait_for_a_result_is_to_run_what_is_due(app: EchoMQ):
    @app.job("add", keep_result="1h")
    async def add(a: int, b: int) -> int:
        return a + b

    async with testing.inline(app):
        handle = await add.enqueue(1, 2)
        assert await handle.result() == 3


async def test_to_wait_for_what_is_not_due_is_an_error(app: EchoMQ):
    @app.job("add", keep_result="1h")
    async def add(a: int, b: int) -> int:
        return a + b

    async with testing.inline(app):
        handle = await add.enqueue_in("1h", 1, 2)
        with pytest.raises(NotIdleError, match="neither pending nor due"):
            await handle.result()


async def test_a_job_may_wait_for_the_result_of_another(app: EchoMQ):
    @app.job("leaf", keep_result="1h")
    async def leaf() -> int:
        return 7

    @app.job("root", keep_result="1h")
    async def root() -> int:
        return await (await leaf.enqueue()).result()

    async with testing.inline(app, concurrency=2):
        assert await (await root.enqueue()).result() == 7
