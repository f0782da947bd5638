"""A real worker and a real server in a user's tests."""

import asyncio
from collections.abc import AsyncGenerator, Callable

import pytest

from echomq_worker import EchoMQ, EchoMQError, JobState, SettingsError, testing
from echomq_worker.testing import fixtures

echomq_server = fixtures.echomq_server


async def test_a_worker_runs_until_nothing_is_left(server_url: str, queue_name: str):
    app = EchoMQ(redis_url=server_url, default_queue=queue_name)

    @app.job("double", keep_result="1m")
    async def double(n: int) -> int:
        return 2 * n

    async with app:
        handle = await double.enqueue(4)
        later = await double.enqueue_in("1h", 5)
        stats = await testing.run_worker(app, server_url)

        assert stats.completed == 1
        assert await handle.result(0) == 8
        assert await later.state() is JobState.SCHEDULED


async def test_it_serves_the_queues_of_the_handlers_unless_told_which(
    server_url: str, new_queue_name: Callable[[], str]
):
    one, two = new_queue_name(), new_queue_name()
    app = EchoMQ(redis_url=server_url, default_queue=one)

    @app.job("here")
    async def here() -> None: ...

    @app.job("there", queue=two)
    async def there() -> None: ...

    async with app:
        await here.enqueue()
        await there.enqueue()
        assert (await testing.run_worker(app, server_url, queues=[two])).completed == 1
        await there.enqueue()
        assert (await testing.run_worker(app, server_url)).completed == 2


async def test_settings_are_those_of_the_environment_but_given_by_hand(
    server_url: str, queue_name: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ECHOMQ_MAX_ATTEMPTS", "7")
    app = EchoMQ(redis_url=server_url, default_queue=queue_name)

    @app.job("fail")
    async def fail() -> None:
        raise OSError

    async with app:
        await fail.enqueue()
        once = {"ECHOMQ_MAX_ATTEMPTS": "1"}
        assert (await testing.run_worker(app, server_url, settings=once)).buried == 1
        with pytest.raises(SettingsError, match="ECHOMQ_CONCURRENCY"):
            await testing.run_worker(app, server_url, settings={"ECHOMQ_CONCURRENCY": "0"})


async def test_a_worker_runs_as_long_as_the_block_lasts(server_url: str, queue_name: str):
    app = EchoMQ(redis_url=server_url, default_queue=queue_name)
    begun = asyncio.Event()

    @app.job("hang")
    async def hang() -> None:
        begun.set()
        await asyncio.Event().wait()

    async with app:
        async with testing.running_worker(app, server_url):
            handle = await hang.enqueue()
            await asyncio.wait_for(begun.wait(), 5)
            assert await handle.state() is JobState.ACTIVE
        assert await handle.state() is JobState.PENDING


async def test_a_worker_that_fails_fails_the_test(server_url: str, queue_name: str):
    app = EchoMQ(redis_url=server_url, default_queue=queue_name)

    @app.lifespan
    async def broken() -> AsyncGenerator[None]:
        raise OSError
        yield

    assert broken
    with pytest.raises(EchoMQError, match=r"lifespan failed \(.* exit code 1\)"):
        await testing.run_worker(app, server_url)
    with pytest.raises(EchoMQError, match="the worker has failed"):
        async with testing.running_worker(app, server_url):
            pass


async def test_a_test_may_have_a_server_to_itself(echomq_server: str):
    app = EchoMQ(redis_url=echomq_server)

    @app.job("note")
    async def note() -> None: ...

    async with app:
        await note.enqueue()
        assert (await testing.run_worker(app, echomq_server)).completed == 1
