"""Hazards of an event loop: cancellation anywhere, the collector, tasks left behind."""

import asyncio
import gc
import weakref
from collections import Counter
from contextlib import suppress

import pytest

from echomq_worker import EchoMQ, testing

STEPS = sorted({*range(0, 61, 3), *range(60, 301, 10)})


@pytest.mark.case("AIO-01")
@pytest.mark.parametrize("ticks", STEPS)
async def test_a_worker_that_is_cancelled_at_any_moment_ends_within_a_second(
    server_url: str, queue_name: str, ticks: int
):
    app = EchoMQ(redis_url=server_url, default_queue=queue_name)

    @app.job("work")
    async def work(n: int) -> None:
        await asyncio.sleep(0.001 * n)

    async with app:
        await app.enqueue_many(work.call(n) for n in range(5))
        running = asyncio.create_task(testing.run_worker(app, server_url))
        for _ in range(ticks):
            await asyncio.sleep(0)
        running.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.wait_for(asyncio.shield(running), 1)
        assert running.done()
        await testing.run_worker(app, server_url)


@pytest.mark.case("AIO-02")
async def test_the_collector_takes_no_job_that_waits_for_what_nobody_else_holds(
    server_url: str, queue_name: str
):
    app = EchoMQ(redis_url=server_url, default_queue=queue_name)
    ended: list[int] = []

    @app.job("work")
    async def work(n: int) -> None:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        held = weakref.ref(future)

        def wake() -> None:
            found = held()
            if found is not None:
                found.set_result(None)

        loop.call_later(0.03, wake)
        del loop
        await future
        ended.append(n)

    async def collect() -> None:
        while True:
            gc.collect()
            await asyncio.sleep(0.01)

    async with app:
        await app.enqueue_many(work.call(n) for n in range(200))
        collecting = asyncio.create_task(collect())
        stats = await testing.run_worker(app, server_url)
        collecting.cancel()

    assert stats.completed == 200
    assert sorted(ended) == list(range(200))


@pytest.mark.case("EVT-01")
async def test_everybody_who_waits_for_a_quick_job_gets_its_result(
    server_url: str, queue_name: str
):
    app = EchoMQ(redis_url=server_url, default_queue=queue_name)

    @app.job("work", keep_result="1m")
    async def work(n: int) -> int:
        return n

    async with app:
        handles = await app.enqueue_many(work.call(n) for n in range(300))
        waiting = asyncio.gather(*(handle.result("20s") for handle in handles))
        await testing.run_worker(app, server_url)
        results = await waiting

    assert Counter(results) == Counter(range(300))
