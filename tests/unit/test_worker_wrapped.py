"""A plain wrapper around an async handler: its call returns at once, and the job is yet to run."""

import asyncio
import functools
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from echomq_worker import EchoMQ, testing
from echomq_worker.domain.outcome import Completed, HandedBack, Retried
from echomq_worker.handlers import JobContext, Next
from tests.fakes import settled
from tests.unit.worker_rig import Rig, wait_for


def wrapped(function: Callable[..., Awaitable[Any]]) -> Callable[..., Any]:
    """Decorate as many libraries do: with a function that is not async itself."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


async def ran(rig: Rig, seen: list[object]) -> None:
    await wait_for(lambda: seen)
    await settled()


async def test_a_wrapped_async_handler_runs_on_the_loop_before_its_job_is_completed():
    rig, seen = Rig(), list[object]()

    async def work() -> None:
        await asyncio.sleep(0)
        seen.append(threading.current_thread())

    rig.handle(wrapped(work))
    job = rig.queue.add()
    async with rig.running():
        await ran(rig, seen)
        assert seen == [threading.main_thread()]
        assert rig.queue.outcome_of(job) == Completed()


async def test_what_a_wrapped_async_handler_raises_is_its_jobs_failure():
    rig, seen = Rig(), list[object]()

    async def work() -> None:
        seen.append("here")
        msg = "no such user"
        raise ValueError(msg)

    rig.handle(wrapped(work))
    job = rig.queue.add()
    async with rig.running():
        await ran(rig, seen)
        made = rig.queue.outcome_of(job)
        assert isinstance(made, Retried)
        assert made.error == "ValueError: no such user"


@pytest.mark.parametrize("middleware", [False, True])
async def test_a_wrapped_async_handler_over_its_limit_is_cancelled_and_counts_as_a_failure(
    middleware: bool,  # noqa: FBT001 - a parameter of the test
):
    rig, seen, ended = Rig(), list[object](), list[int]()

    async def passes(_context: JobContext, call: Next) -> object:
        return await call()

    async def work() -> None:
        seen.append("here")
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(rig.clock.ms)

    rig.middleware = (passes,) if middleware else ()
    rig.handle(wrapped(work), timeout="2s")
    job = rig.queue.add()
    async with rig.running():
        await ran(rig, seen)
        await rig.clock.advance(2_000)
        made = rig.queue.outcome_of(job)
        assert ended == [2_000]
        assert isinstance(made, Retried)
        assert made.error == "TimeoutError: it did not end within 2s"


async def test_a_wrapped_async_handler_is_handed_back_when_the_worker_stops():
    rig, seen = Rig(), list[object]()

    async def work() -> None:
        seen.append("here")
        await asyncio.Event().wait()

    rig.handle(wrapped(work))
    job = rig.queue.add()
    async with rig.running():
        await ran(rig, seen)
        rig.stop.cancel("SIGQUIT")
        await rig.ended()
        assert rig.queue.outcome_of(job) == HandedBack()


async def test_one_that_is_told_to_stop_while_it_is_called_does_not_begin():
    rig, called, go, seen = Rig(), list[object](), threading.Event(), list[object]()

    async def work() -> None:
        seen.append("here")

    @functools.wraps(work)
    def slow() -> Any:
        rest = work()
        called.append("in the thread")
        go.wait(5)
        return rest

    rig.handle(slow)
    job = rig.queue.add()
    async with rig.running():
        await ran(rig, called)
        rig.stop.cancel("SIGQUIT")
        await settled()
        go.set()
        await wait_for(lambda: rig.queue.outcome_of(job))
        assert rig.queue.outcome_of(job) == HandedBack()
    assert seen == []


async def test_the_result_of_a_wrapped_async_handler_is_what_it_returns_in_the_end():
    rig, seen = Rig(), list[object]()

    async def work() -> int:
        seen.append("here")
        return 7

    rig.handle(wrapped(work), keep_result="1h")
    job = rig.queue.add()
    async with rig.running():
        await ran(rig, seen)
        assert rig.queue.outcome_of(job) == Completed(b"7", 3_600_000)


async def test_a_test_runs_a_wrapped_async_handler_too():
    app, seen = EchoMQ(), list[int]()

    async def charge(n: int) -> None:
        seen.append(n)

    job = app.job("charge")(wrapped(charge))
    async with testing.inline(app) as kit:
        await job.enqueue(n=7)
        assert (await kit.run_until_idle()).completed == 1
    assert seen == [7]
