"""A job can be enqueued to run after a delay, or at an instant. It never starts early by the
server's clock, and a worker that has nothing else to do sleeps exactly until then.
"""

import asyncio
import time
from datetime import UTC, datetime, timedelta

import pytest

from echomq_worker import EchoMQ, InvalidArgumentError, JobState
from tests.fundamentals.conftest import Work, Worker


async def test_a_delayed_job_starts_when_its_time_has_come(app: EchoMQ, worker: Worker):
    started = asyncio.Event()
    started_at = 0.0

    @app.job("reminder.send")
    async def remind() -> None:
        nonlocal started_at
        started_at = time.time()
        started.set()

    async with worker():
        asked_at = time.time()
        await remind.enqueue_in("200ms")
        await asyncio.wait_for(started.wait(), 5)

    assert started_at - asked_at >= 0.2


async def test_what_is_not_due_is_left_alone(app: EchoMQ, work: Work):
    @app.job("reminder.send")
    async def remind() -> None: ...

    handle = await remind.enqueue_in("1h")
    stats = await work()

    assert stats.completed == 0
    assert await handle.state() is JobState.SCHEDULED


async def test_delays_are_written_as_people_say_them(app: EchoMQ):
    @app.job("reminder.send")
    async def remind() -> None: ...

    for delay in ("1h30m", "500ms", 90, 0.5, timedelta(days=2)):  # numbers are seconds
        handle = await remind.enqueue_in(delay)
        assert await handle.state() is JobState.SCHEDULED

    for nonsense in ("soon", -1, float("nan")):
        with pytest.raises(InvalidArgumentError, match="is no duration"):
            await remind.enqueue_in(nonsense)


async def test_an_instant_says_its_time_zone(app: EchoMQ, work: Work):
    @app.job("reminder.send")
    async def remind() -> None: ...

    now = datetime.now(UTC)
    with pytest.raises(InvalidArgumentError, match="does not say its time zone"):
        await remind.enqueue_at(now.replace(tzinfo=None))

    await remind.enqueue_at(now - timedelta(minutes=1))  # past: at once
    await remind.enqueue_at(now + timedelta(days=1))
    assert (await work()).completed == 1
