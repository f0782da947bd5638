"""Jobs that say until when they are to be started, and how: from the producer to the worker."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from echomq_worker import EchoMQ, JobFailedError, JobState, Retry, testing
from echomq_worker.domain.job import After, At, Due
from echomq_worker.errors import InvalidArgumentError
from echomq_worker.store import QueueStore, Server, ServerOptions
from echomq_worker.testing import inline
from tests.support.jobs import A, B, new_job
from tests.support.look import Look


async def test_a_job_that_nobody_starts_in_time_is_buried_unrun(server_url: str, queue_name: str):
    app = EchoMQ(redis_url=server_url, default_queue=queue_name)
    ran: list[str] = []

    @app.job("work", keep_result="1m")
    async def work(what: str) -> str:
        ran.append(what)
        return what

    async with app:
        late = await work.options(expires="20ms").enqueue("late")
        past = await work.options(expires=datetime.now(UTC) - timedelta(seconds=1)).enqueue("past")
        good = await work.options(expires="1h").enqueue("good")
        await asyncio.sleep(0.03)
        report = await testing.run_worker(app, server_url)

        assert (ran, await good.result(0)) == (["good"], "good")
        for handle in (late, past):
            with pytest.raises(JobFailedError, match="it was to be started by"):
                await handle.result(0)
    assert report.completed == 1


async def test_a_delayed_job_has_its_time_after_it_is_due(server_url: str, queue_name: str):
    app = EchoMQ(redis_url=server_url, default_queue=queue_name)

    @app.job("work")
    async def work() -> None: ...

    async with app:
        handle = await work.options(expires="30s").enqueue_in("30ms")
        await asyncio.sleep(0.05)
        assert (await testing.run_worker(app, server_url)).completed == 1
        assert await handle.state() is JobState.ABSENT


async def test_a_job_brought_back_after_it_has_expired_runs(server_url: str, queue_name: str):
    app = EchoMQ(redis_url=server_url, default_queue=queue_name)

    @app.job("work")
    async def work() -> None: ...

    async with app, Server(ServerOptions(url=server_url)) as server:
        handle = await work.options(expires="1ms").enqueue()
        await asyncio.sleep(0.01)
        await testing.run_worker(app, server_url)
        assert await handle.state() is JobState.DEAD
        await server.queue(queue_name).requeue([handle.id])
        assert (await testing.run_worker(app, server_url)).completed == 1


async def test_a_job_waits_between_attempts_as_its_producer_has_said(
    server_url: str, queue_name: str, look: Look
):
    app = EchoMQ(redis_url=server_url, default_queue=queue_name)

    @app.job("work", backoff="1s")
    async def work() -> None:
        raise Retry

    async with app:
        handle = await work.options(backoff="1h").enqueue()
        before_ms = await look.now_us() // 1_000
        await testing.run_worker(app, server_url)
    due_ms = (await look.scores(look.keys.schedule))[handle.id]
    assert before_ms + 3_600_000 <= due_ms <= await look.now_us() // 1_000 + 3_600_001


async def test_in_memory_a_job_expires_by_the_clock_of_the_test():
    app, ran = EchoMQ(), list[str]()

    @app.job("work")
    async def work(what: str) -> None:
        ran.append(what)

    async with inline(app) as kit:
        late = await work.options(expires="1m").enqueue("late")
        moved = await work.options(expires="1m").enqueue_in("1h", "moved")
        now = await work.enqueue_in("1d", "now")
        kit.advance("2m")
        assert await moved.reschedule("10m")
        assert await now.promote()
        await kit.run_until_idle()
        assert (ran, await late.state()) == (["now"], JobState.DEAD)
        kit.advance("10m")
        await kit.run_until_idle()
        assert ran == ["now", "moved"]
        assert not await moved.reschedule("1m")


@pytest.mark.parametrize("due", [None, After(60_000), At(1)])
async def test_a_wait_to_be_started_that_is_no_number_is_refused_before_anything_is_written(
    queue: QueueStore, look: Look, due: Due | None
):
    odd = replace(new_job(B), due=due, expires=After(-1))
    with pytest.raises(InvalidArgumentError, match="expires_in"):
        await queue.enqueue([replace(new_job(A), due=due), odd])
    assert await look.places() == {}
    assert not await look.row(A)
