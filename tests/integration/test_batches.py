"""Handlers that take many jobs at once, by real workers on a real server, and in the kit."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from functools import wraps
from typing import Any

import pytest
import pytest_asyncio

from echomq_worker import (
    INJECTED,
    ArgumentsError,
    Batch,
    Discard,
    EchoMQ,
    HandlerError,
    InvalidArgumentError,
    JobContext,
    JobHandle,
    Retry,
    Snooze,
)
from echomq_worker.domain.job import State
from echomq_worker.store import QueueStore
from echomq_worker.store.rights import Role
from echomq_worker.testing import inline
from tests.support.crew import crew, wait_for
from tests.support.least_rights import least
from tests.support.look import Look


@pytest_asyncio.fixture
async def app(server_url: str, queue_name: str) -> AsyncGenerator[EchoMQ]:
    """An application that workers may serve."""
    async with EchoMQ(least(server_url, Role.WORKER), default_queue=queue_name) as app:
        yield app


@pytest.fixture
def url(server_url: str) -> str:
    """Where workers connect."""
    return least(server_url, Role.WORKER)


async def test_jobs_come_in_batches_of_a_size_and_the_rest_after_a_while(app: EchoMQ, url: str):
    seen: list[list[int]] = []

    @app.job("index", batch=Batch(10, wait="100ms"))
    async def index(numbers: list[int]) -> None:
        seen.append(numbers)
        await asyncio.sleep(0)

    await app.enqueue_many(index.call(n) for n in range(25))
    async with crew(app, url, 1, CONCURRENCY="30"):
        await wait_for(lambda: sum(map(len, seen)) == 25)

    assert [len(batch) for batch in seen] == [10, 10, 5]
    assert sorted(n for batch in seen for n in batch) == list(range(25))


async def test_a_time_limit_counts_from_when_the_batch_begins(app: EchoMQ, url: str, look: Look):
    @app.job("index", batch=Batch(9, wait="300ms"), timeout="200ms", backoff="1h")
    async def index(numbers: list[int], context: JobContext = INJECTED) -> None:
        assert context.deadline_ms is not None
        if 1 in numbers:
            await asyncio.sleep(60)

    fast = await index.enqueue(0)
    async with crew(app, url, 1):
        await becomes(fast, State.ABSENT)
        slow = await index.enqueue(1)
        await becomes(slow, State.SCHEDULED)

    assert "TimeoutError" in (await look.row(slow.id))["last_error"]
    await slow.cancel()


async def test_a_plain_wrapper_around_an_async_handler_is_awaited(app: EchoMQ, url: str):
    seen: list[list[int]] = []

    def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return call

    @app.job("index", batch=Batch(3, wait="5s"))
    @wrapped
    async def index(numbers: list[int]) -> None:
        await asyncio.sleep(0)
        seen.append(sorted(numbers))

    await app.enqueue_many(index.call(n) for n in range(3))
    async with crew(app, url, 1):
        await wait_for(lambda: seen)

    assert seen == [[0, 1, 2]]


async def test_each_member_has_a_verdict_of_its_own(app: EchoMQ, url: str, look: Look):
    @app.job("index", batch=Batch(6, wait="50ms"), keep_result="1m", backoff="1h")
    async def index(numbers: list[int]) -> list[Any]:
        await asyncio.sleep(0)
        said = {
            0: "fine",
            1: Retry(after="1h"),
            2: Discard("no"),
            3: Snooze("1h"),
            4: ValueError("bad"),
        }
        return [said[number] for number in numbers if number in said]

    handles = [await index.enqueue(n) for n in range(6)]
    async with crew(app, url, 1, CONCURRENCY="10"):
        assert await handles[0].result(timeout="5s") == "fine"
        for handle in handles:
            await becomes(handle, State.ABSENT, State.SCHEDULED, State.DEAD)

    states = [await handle.state() for handle in handles]
    assert states == [
        State.ABSENT,
        State.SCHEDULED,
        State.DEAD,
        State.SCHEDULED,
        State.SCHEDULED,
        State.SCHEDULED,
    ]
    assert (await look.row(handles[5].id))["last_error"].endswith("missing verdict")
    assert (await look.row(handles[3].id))["returned"] == "1", "a snooze uses no attempt"
    for handle in handles[1:]:
        await handle.cancel()


async def becomes(handle: JobHandle[Any], *states: State) -> None:
    async with asyncio.timeout(10):
        while await handle.state() not in states:  # noqa: ASYNC110 - the worker's
            await asyncio.sleep(0.01)


async def test_a_handler_that_raises_fails_each_by_its_own_attempts(app: EchoMQ, url: str):
    @app.job("index", batch=Batch(2, wait="50ms"), backoff="1h")
    async def index(numbers: list[int]) -> None:
        await asyncio.sleep(0)
        msg = f"all {len(numbers)}"
        raise RuntimeError(msg)

    last = await index.options(max_attempts=1).enqueue(1)
    first = await index.enqueue(2)
    async with crew(app, url, 1):
        await becomes(last, State.DEAD)
        await becomes(first, State.SCHEDULED)

    assert await first.state() is State.SCHEDULED
    await first.cancel()


async def test_a_member_whose_arguments_do_not_fit_fails_alone(
    app: EchoMQ, url: str, queue: QueueStore
):
    seen: list[int] = []

    @app.job("index", batch=Batch(3, wait="50ms"), backoff="1h")
    async def index(numbers: list[int]) -> None:
        seen.extend(numbers)
        await asyncio.sleep(0)

    with pytest.raises(ArgumentsError):
        await index.enqueue("one")  # pyright: ignore[reportArgumentType]
    bad = await app.enqueue_by_name("index", {"numbers": 1})
    await queue.operator.update_data(bad.id, b'{"numbers": "one"}')
    await index.enqueue(7)
    async with crew(app, url, 1):
        await wait_for(lambda: seen == [7])
        await becomes(bad, State.SCHEDULED)
    await bad.cancel()


async def test_a_batch_by_lane_has_one_lane(app: EchoMQ, url: str):
    seen: list[set[str]] = []

    @app.job("index", batch=Batch(4, wait="50ms", by_lane=True))
    async def index(names: list[str], *, context: JobContext = INJECTED) -> None:
        seen.append({*names, context.lane or ""})
        await asyncio.sleep(0)

    for lane in ("a", "b") * 6:
        await index.options(lane=lane).enqueue(lane)
    async with crew(app, url, 1, CONCURRENCY="12"):
        await wait_for(lambda: len(seen) >= 4)

    assert all(len(names) == 1 for names in seen)


async def test_a_plain_function_takes_batches_in_a_thread(app: EchoMQ, url: str):
    seen: list[int] = []

    @app.job("index", batch=Batch(3, wait="50ms"))
    def index(numbers: list[int]) -> dict[int, int]:
        seen.extend(numbers)
        return dict.fromkeys(range(len(numbers)), 0)

    await app.enqueue_many(index.call(n) for n in range(3))
    async with crew(app, url, 1):
        await wait_for(lambda: sorted(seen) == [0, 1, 2])


async def test_who_waits_for_others_when_the_worker_stops_is_not_lost(
    app: EchoMQ, url: str, look: Look
):
    @app.job("index", batch=Batch(5, wait="1h"))
    async def index(numbers: list[int]) -> None:
        raise AssertionError(numbers)

    handle = await index.enqueue(1)
    async with crew(app, url, 1, STOP_GRACE="100ms"):
        await becomes(handle, State.ACTIVE)

    assert await handle.state() is State.PENDING
    assert (await look.row(handle.id))["returned"] == "1"
    assert await handle.cancel()


async def test_the_kit_runs_batches_of_what_there_is(queue_name: str):
    app = EchoMQ(default_queue=queue_name)
    seen: list[list[int]] = []

    @app.job("index", batch=Batch(10, wait="1h"))
    async def index(numbers: list[int]) -> None:
        seen.append(numbers)
        await asyncio.sleep(0)

    async with inline(app, concurrency=4) as kit:
        for n in range(4):
            await index.enqueue(n)
        report = await kit.run_until_idle()

    assert (seen, report.completed) == ([[0, 1, 2, 3]], 4)


def test_what_takes_no_list_is_no_batch_handler():
    app = EchoMQ()
    with pytest.raises(HandlerError, match=r"list\[int\]"):

        @app.job("index", batch=Batch(10))  # pyright: ignore[reportArgumentType]
        async def index(number: int) -> None: ...

    for size in (0, 1_001, "10", True):
        with pytest.raises(InvalidArgumentError, match="1 to 1000"):
            Batch(size)  # pyright: ignore[reportArgumentType]
