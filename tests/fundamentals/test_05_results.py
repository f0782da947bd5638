"""A job that has completed leaves nothing behind, unless you ask for its result to be kept for a
while. Then whoever has the handle, or just the id, can wait for it.
"""

from dataclasses import dataclass

import pytest

from echomq_worker import EchoMQ, JobFailedError, ResultTimeoutError, ResultUnavailableError
from tests.fundamentals.conftest import Work, Worker


@dataclass
class Summary:
    lines: int
    words: int


async def test_a_result_is_kept_if_you_ask_for_it_and_comes_back_as_what_it_was(
    app: EchoMQ, worker: Worker
):
    @app.job("text.count", keep_result="1h")
    async def count(text: str) -> Summary:
        return Summary(len(text.splitlines()), len(text.split()))

    async with worker():
        handle = await count.enqueue("to be\nor not to be")
        assert await handle.result(timeout="5s") == Summary(lines=2, words=6)


async def test_a_result_can_be_asked_for_by_the_id_alone(app: EchoMQ, work: Work):
    @app.job("math.double", keep_result="1h")
    async def double(n: int) -> int:
        return 2 * n

    job_id = (await double.enqueue(21)).id  # in a session, or a URL
    await work()

    assert await double.handle(job_id).result() == 42


async def test_one_call_may_be_kept_where_others_are_not(app: EchoMQ, work: Work):
    @app.job("math.double")
    async def double(n: int) -> int:
        return 2 * n

    kept = await double.options(keep_result="1m").enqueue(1)
    other = await double.enqueue(2)
    await work()

    assert await kept.result() == 2
    with pytest.raises(ResultUnavailableError, match="keep_result="):
        await other.result()


async def test_waiting_for_a_job_that_has_died_says_why(app: EchoMQ, work: Work):
    @app.job("math.divide", keep_result="1h", max_attempts=1)
    async def divide(a: int, b: int) -> float:
        return a / b

    handle = await divide.enqueue(1, 0)
    await work()

    with pytest.raises(JobFailedError, match="ZeroDivisionError: division by zero"):
        await handle.result()


async def test_whoever_waits_may_lose_patience_and_the_job_goes_on(app: EchoMQ, work: Work):
    @app.job("math.double", keep_result="1h")
    async def double(n: int) -> int:
        return 2 * n

    handle = await double.enqueue(21)
    with pytest.raises(ResultTimeoutError):
        await handle.result(timeout="10ms")  # no worker runs

    await work()
    assert await handle.result(timeout=0) == 42
