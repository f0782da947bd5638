"""Handlers that block run in threads, next to the async ones. Scripts and web frameworks that are
not async enqueue by `app.sync`, which blocks instead of being awaited.
"""

import asyncio
import threading

import pytest

from echomq_worker import INJECTED, EchoMQ, EchoMQError, JobContext, JobState
from tests.fundamentals.conftest import Work


async def test_handlers_that_block_run_side_by_side(app: EchoMQ, work: Work):
    all_there = threading.Barrier(4, timeout=5)

    @app.job("image.shrink")
    def shrink(number: int) -> None:
        all_there.wait()  # each waits until four of them run

    await app.enqueue_many(shrink.call(number) for number in range(4))

    assert (await work()).completed == 4


async def test_scripts_enqueue_and_wait_without_an_event_loop(app: EchoMQ, work: Work):
    @app.job("math.double", keep_result="1h")
    def double(n: int) -> int:
        return 2 * n

    def script() -> tuple[int, JobState]:
        later = app.sync.enqueue_in("1h", double, 1)
        handle = app.sync.enqueue(double, 21)
        try:
            return handle.result(timeout="5s"), later.state()
        finally:
            app.sync.close()

    running = asyncio.get_running_loop().run_in_executor(None, script)
    while not running.done():
        await work()

    assert await running == (42, JobState.SCHEDULED)


async def test_blocking_an_event_loop_is_refused(app: EchoMQ):
    @app.job("math.double")
    def double(n: int) -> int:
        return 2 * n

    with pytest.raises(EchoMQError, match=r"await app\.enqueue"):
        app.sync.enqueue(double, 21)


async def test_a_handler_in_a_thread_looks_now_and_then_whether_it_should_stop(
    app: EchoMQ, work: Work
):
    @app.job("image.shrink", timeout="50ms", max_attempts=1)
    def shrink(context: JobContext = INJECTED) -> None:
        while not context.cancelled:  # a thread cannot be interrupted
            threading.Event().wait(0.005)

    await shrink.enqueue()

    assert (await work()).buried == 1  # it timed out
