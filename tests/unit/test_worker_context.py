"""What surrounds a run: its context, its middleware, its log names."""

import asyncio
import threading
from contextlib import nullcontext
from contextvars import ContextVar
from typing import Any

import pytest
from structlog.contextvars import get_contextvars

from echomq_worker.domain.outcome import Retried
from echomq_worker.handlers import (
    INJECTED,
    JobContext,
    Next,
    State,
)
from tests.fakes import NOW_MS, settled
from tests.unit.worker_rig import Rig, outcome_in, wait_for


async def test_the_context_says_which_run_it_is():
    rig, seen = Rig(), list[JobContext]()

    async def work(context: JobContext = INJECTED) -> None:
        seen.append(context)

    rig.handle(work, max_attempts=7, timeout="3s")
    await outcome_in(rig, token=4, returned=2)
    (context,) = seen
    assert (context.queue, context.name, context.attempt) == ("default", "work", 3)
    assert (context.max_attempts, context.deadline_ms) == (7, NOW_MS + 3_000)


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ({}, (0, None)),
        ({"priority": -7}, (-7, None)),
        ({"lane": "acme", "group": "LAN00000000001"}, (0, "acme")),
        ({"group": "LAN00000000002"}, (0, "LAN00000000002")),  # a peer's: no name is known
    ],
)
async def test_the_context_says_where_the_job_has_waited(
    said: dict[str, Any], place: tuple[int, str | None]
):
    rig, seen = Rig(), list[JobContext]()

    async def work(context: JobContext = INJECTED) -> None:
        seen.append(context)

    rig.handle(work)
    await outcome_in(rig, **said)
    (context,) = seen
    assert (context.priority, context.lane) == place


async def test_every_log_line_of_a_handler_can_say_whose_it_is():
    rig, seen = Rig(), list[dict[str, Any]]()

    async def work() -> None:
        seen.append(dict(get_contextvars()))

    rig.handle(work)
    job = rig.queue.add()
    async with rig.running():
        expected = {"queue": "default", "job_name": "work", "job_id": job, "attempt": 1}
        assert expected.items() <= seen[0].items()
    assert "job_id" not in get_contextvars()


@pytest.mark.case("AIO-05")
async def test_what_one_job_leaves_in_the_context_the_next_does_not_see():
    rig, variable, seen = Rig(concurrency=1), ContextVar("leak", default=0), list[int]()

    async def work() -> None:
        seen.append(variable.get())
        variable.set(1)

    rig.handle(work)
    rig.queue.add()
    rig.queue.add()
    async with rig.running():
        assert seen == [0, 0]


async def test_middleware_wraps_each_run_the_first_one_outermost():
    rig, order = Rig(), list[str]()

    async def outer(context: JobContext, run: Next) -> object:
        order.append(f"outer {context.name}")
        try:
            return await run()
        finally:
            order.append("outer done")

    async def inner(_context: JobContext, run: Next) -> object:
        order.append("inner")
        return await run()

    async def work() -> None:
        order.append("handler")

    rig.handle(work)
    rig.middleware = (outer, inner)
    await outcome_in(rig)
    assert order == ["outer work", "inner", "handler", "outer done"]


async def test_a_failure_of_middleware_is_a_failure_of_the_run():
    rig = Rig()

    async def broken(_context: JobContext, _run: Next) -> object:
        msg = "not today"
        raise RuntimeError(msg)

    async def work() -> None: ...

    rig.handle(work)
    rig.middleware = (broken,)
    made = await outcome_in(rig)
    assert isinstance(made, Retried)
    assert made.error == "RuntimeError: not today"


async def test_a_handler_in_a_thread_sees_state_context_and_log_names():
    rig, seen = Rig(), list[Any]()

    def work(
        n: int, pool: State[dict[str, int]] = INJECTED, context: JobContext = INJECTED
    ) -> None:
        seen.append((n, pool, context.id, get_contextvars()["job_id"], threading.current_thread()))

    rig.handle(work)
    job = rig.queue.add(payload=b'{"n":1}')
    rig.lifespan = lambda: nullcontext({"size": 3})
    async with rig.running():
        await wait_for(lambda: job in rig.queue.completed)
        n, pool, context_id, logged_id, thread = seen[0]
        assert (n, pool, context_id, logged_id) == (1, {"size": 3}, job, job)
        assert thread is not threading.main_thread()


@pytest.mark.case("AIO-04")
async def test_a_task_that_a_handler_leaves_behind_and_that_fails_hurts_nobody():
    rig, kept = Rig(), list[asyncio.Task[None]]()

    async def later() -> None:
        await asyncio.sleep(0)
        raise ZeroDivisionError

    async def work() -> None:
        kept.append(asyncio.create_task(later()))

    rig.handle(work)
    job = rig.queue.add()
    async with rig.running():
        await settled()
        assert job in rig.queue.completed
        assert isinstance(kept[0].exception(), ZeroDivisionError)
