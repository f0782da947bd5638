"""Batches and the slots of a worker: all of one batch share a slot."""

import asyncio
from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from echomq_worker import Batch, EchoMQ
from echomq_worker.store.rights import Role
from tests.support.crew import crew, wait_for
from tests.support.least_rights import least


@pytest_asyncio.fixture
async def app(server_url: str, queue_name: str) -> AsyncGenerator[EchoMQ]:
    """An application that workers may serve."""
    async with EchoMQ(least(server_url, Role.WORKER), default_queue=queue_name) as app:
        yield app


@pytest.fixture
def url(server_url: str) -> str:
    """Where workers connect."""
    return least(server_url, Role.WORKER)


async def test_a_batch_may_be_larger_than_what_a_worker_runs_at_once(app: EchoMQ, url: str):
    seen: list[list[int]] = []

    @app.job("index", batch=Batch(25, wait="5s"))
    async def index(numbers: list[int]) -> None:
        seen.append(numbers)
        await asyncio.sleep(0)

    await app.enqueue_many(index.call(n) for n in range(50))
    async with crew(app, url, 1, CONCURRENCY="2"):
        await wait_for(lambda: sum(map(len, seen)) == 50)

    assert [len(batch) for batch in seen] == [25, 25]


async def test_a_worker_with_one_slot_runs_batches_of_one(app: EchoMQ, url: str):
    seen: list[list[int]] = []

    @app.job("index", batch=Batch(25, wait="20ms"))
    async def index(numbers: list[int]) -> None:
        seen.append(numbers)
        await asyncio.sleep(0)

    await app.enqueue_many(index.call(n) for n in range(3))
    async with crew(app, url, 1, CONCURRENCY="1"):
        await wait_for(lambda: len(seen) == 3)

    assert sorted(seen) == [[0], [1], [2]]


async def test_all_of_a_batch_share_one_slot_until_the_last_has_ended(app: EchoMQ, url: str):
    going, most, done = 0, {"beside": 0, "after": 0}, {"beside": 0, "after": 0}
    begun, go_on = asyncio.Event(), asyncio.Event()

    @app.job("index", batch=Batch(5, wait="5s"))
    async def index(numbers: list[int]) -> None:
        del numbers
        begun.set()
        await go_on.wait()

    @app.job("mail")
    async def mail(when: str) -> None:
        nonlocal going
        going += 1
        most[when] = max(most[when], going)
        await asyncio.sleep(0.02)
        going -= 1
        done[when] += 1

    await app.enqueue_many(index.call(n) for n in range(5))
    async with crew(app, url, 1, CONCURRENCY="2"):
        async with asyncio.timeout(10):
            await begun.wait()
        await app.enqueue_many(mail.call("beside") for _ in range(6))
        await wait_for(lambda: done["beside"] == 6)
        go_on.set()
        await app.enqueue_many(mail.call("after") for _ in range(20))
        await wait_for(lambda: done["after"] == 20)

    assert most == {"beside": 1, "after": 2}
