"""Whoever is told to stop while it talks to the server stops."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from echomq_worker.store import QueueStore, Server
from tests.support.stores import NewLine

TURNS = range(12)
"""How many turns of the loop a command may have had when the cancellation comes."""

Talk = Callable[[], Awaitable[object]]


async def is_heeded(talk: Talk, turns: int) -> bool:
    """Cancel a task that talks for ever after some turns of the loop; tell if it stops."""

    async def for_ever() -> None:
        while True:
            await talk()

    task = asyncio.create_task(for_ever())
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    done, _ = await asyncio.wait((task,), timeout=1)
    task.cancel()
    return task in done


async def is_heeded_from_inside(talk: Talk) -> bool:
    """Cancel a task between two awaits, as a signal handler does."""

    async def told_to_stop() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await talk()

    task = asyncio.create_task(told_to_stop())
    await asyncio.wait((task,))
    return task.cancelled()


@pytest.mark.parametrize("warm", [False, True])
async def test_over_the_shared_connections(warm: bool, server: Server, queue: QueueStore):  # noqa: FBT001
    if warm:
        await queue.counts()

    assert all([await is_heeded(queue.counts, turns) for turns in TURNS])
    assert await is_heeded_from_inside(queue.counts)
    assert (await queue.counts()).pending == 0


async def test_while_waiting_for_a_hint(queue: QueueStore):
    async def wait() -> None:
        await queue.wait_hint(bell=True, clock=True, timeout_ms=10_000)

    assert all([await is_heeded(wait, turns) for turns in TURNS])
    assert await is_heeded_from_inside(wait)


async def test_over_a_line_of_its_own(new_line: NewLine):
    line = new_line()

    async def claim() -> None:
        await line.claim(limit=1, lease_ms=1_000, promote=1)

    assert all([await is_heeded(claim, turns) for turns in TURNS])
    assert await is_heeded_from_inside(claim)
    assert (await line.claim(limit=1, lease_ms=1_000, promote=1)).left == 0
