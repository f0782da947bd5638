"""Waiting for hints: told, not told, or told to stop waiting, all on one connection."""

import asyncio
import re

from echomq_worker.store import QueueStore, Server, ServerOptions
from tests.support.jobs import A, enqueue
from tests.support.look import Look

LONG_MS = 20_000
BLOCKED = re.compile(rb" flags=\w*b\w* .* cmd=blpop ")


async def waiting(queue: QueueStore, look: Look, *, clock: bool = False) -> "asyncio.Task[bool]":
    """Wait for the bell; return when the server knows of it."""
    task = asyncio.create_task(queue.wait_hint(bell=True, clock=clock, timeout_ms=LONG_MS))
    await seen(look, blocked=True)
    return task


async def seen(look: Look, *, blocked: bool) -> None:
    async with asyncio.timeout(5):
        while bool(BLOCKED.search(await look.do("CLIENT", "LIST"))) is not blocked:  # noqa: ASYNC110 - the server's
            await asyncio.sleep(0.01)


async def test_a_wait_is_ended_from_outside_and_the_next_uses_the_same_connection(
    queue: QueueStore, look: Look
):
    ids: list[int | None] = []
    for _ in range(3):
        task = await waiting(queue, look)
        assert await queue.end_wait()
        async with asyncio.timeout(5):
            assert await task is False
        ids.append(queue._hints._connection_id)
    assert len(set(ids)) == 1


async def test_with_nobody_waiting_there_is_nothing_to_end(queue: QueueStore, look: Look):
    assert not await queue.end_wait()
    await waiting(queue, look)
    assert await queue.end_wait()
    await asyncio.sleep(0)
    assert not await queue.end_wait()


async def test_a_hint_that_came_before_the_end_is_told(queue: QueueStore, look: Look):
    task = await waiting(queue, look)
    await enqueue(queue, A)
    await queue.end_wait()
    async with asyncio.timeout(5):
        assert await task is True


async def test_after_a_cut_the_new_connection_is_the_one_that_is_ended(
    queue: QueueStore, look: Look
):
    task = await waiting(queue, look)
    task.cancel()
    await asyncio.wait((task,))
    await seen(look, blocked=False)

    again = await waiting(queue, look)
    assert await queue.end_wait()
    async with asyncio.timeout(5):
        assert await again is False


async def test_connections_tell_whose_they_are_and_what_for(
    server_url: str, queue_name: str, look: Look
):
    options = ServerOptions(url=server_url, client_name=f"echomq:{queue_name}")
    async with Server(options) as server:
        queue = server.queue(queue_name)
        await enqueue(queue, A)
        await queue.counts()
        assert await queue.wait_hint(bell=True, clock=False, timeout_ms=LONG_MS)
        task = await waiting(queue, look)
        listed: bytes = await look.do("CLIENT", "LIST")
        names = {word for word in listed.decode().split() if f"echomq:{queue_name}" in word}
        assert names == {f"name=echomq:{queue_name}{use}" for use in ("", ":enqueue", ":hints")}
        await queue.end_wait()
        await task
