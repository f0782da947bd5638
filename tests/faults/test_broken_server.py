"""A server that forgets scripts, cuts clients off or is killed: no job is lost or doubled."""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio
import redis

from echomq_worker.embedded import EmbeddedServer
from echomq_worker.store import QueueStore, Server, ServerOptions
from tests.support.load import Load, ids, meanwhile
from tests.support.look import Look, looking_at
from tests.support.private import QUEUE, cut_all_connections
from tests.support.proxy import Proxy

SIZE = 300


@pytest_asyncio.fixture
async def own_queue(private_server: EmbeddedServer) -> AsyncGenerator[QueueStore]:
    """A queue on the private server."""
    async with Server(ServerOptions(url=private_server.url)) as server:
        yield server.queue(QUEUE)


async def assert_all_done_once(load: Load, look: Look) -> None:
    """Every job has completed once, was refused never, and left nothing behind."""
    assert load.completed == Counter(ids(load.size))
    assert load.refused == []
    assert await look.places() == {}
    assert await look.hash(look.keys.completed_count) == {"count": str(load.size)}
    assert [key for key in await look.key_names() if ":job:" in key] == []


async def test_scripts_that_the_server_forgets_are_sent_again(
    own_queue: QueueStore, own_look: Look
):
    load = Load(own_queue, SIZE)

    async with meanwhile(lambda: own_look.do("SCRIPT", "FLUSH", "SYNC"), every_s=0.003, times=200):
        await load.run()

    await assert_all_done_once(load, own_look)
    assert load.troubles == 0


async def test_connections_that_the_server_closes_are_made_again(
    own_queue: QueueStore, own_look: Look, admin: "redis.Redis"
):
    load = Load(own_queue, SIZE)

    async def cut() -> None:
        cut_all_connections(admin)

    async with meanwhile(cut, every_s=0.02):
        await load.run()

    await assert_all_done_once(load, own_look)
    assert load.troubles > 0


async def test_a_server_that_is_killed_and_started_again_has_lost_nothing(tmp_path: Path):
    with EmbeddedServer(tmp_path) as first:
        async with (
            Proxy(first.url) as proxy,
            Server(ServerOptions(url=proxy.url, timeout_ms=2_000)) as server,
        ):
            load = Load(server.queue(QUEUE), SIZE)
            running = asyncio.create_task(load.run())
            await load.is_under_way.wait()
            assert first.pid is not None
            os.kill(first.pid, signal.SIGKILL)
            proxy.go_down()
            await asyncio.to_thread(first.stop)
            with EmbeddedServer(tmp_path) as second:
                proxy.upstream = second.url
                proxy.come_up()
                await running
                async with looking_at(second.url, QUEUE) as look:
                    await assert_all_done_once(load, look)
    assert load.troubles > 0


@pytest.mark.case("SRV-18")
async def test_a_server_that_stands_still_for_a_while_is_waited_for(
    private_server: EmbeddedServer, own_look: Look
):
    async with Server(ServerOptions(url=private_server.url, timeout_ms=60)) as server:
        load = Load(server.queue(QUEUE), SIZE)
        running = asyncio.create_task(load.run())
        await load.is_under_way.wait()
        assert private_server.pid is not None
        os.kill(private_server.pid, signal.SIGSTOP)
        await asyncio.sleep(0.15)
        os.kill(private_server.pid, signal.SIGCONT)
        await running

    await assert_all_done_once(load, own_look)
    assert load.troubles > 0


async def test_a_server_that_is_busy_with_a_script_of_somebody_is_waited_for(
    own_queue: QueueStore, own_look: Look, admin: "redis.Redis", private_server: EmbeddedServer
):
    admin.config_set("busy-reply-threshold", 10)
    load = Load(own_queue, SIZE)
    running = asyncio.create_task(load.run())
    await load.is_under_way.wait()

    await asyncio.to_thread(be_busy, private_server.url)
    await running

    await assert_all_done_once(load, own_look)


def be_busy(url: str) -> None:
    """Keep the server busy for about 100 ms."""
    spin = """
    local function ms() local t = redis.call('TIME') return t[1] * 1000 + t[2] / 1000 end
    local start = ms()
    while ms() - start < 100 do end
    """
    with redis.Redis.from_url(url) as client:
        client.eval(spin, 0)


async def test_a_server_that_takes_no_writes_for_a_while_is_waited_for(
    own_queue: QueueStore, own_look: Look, admin: "redis.Redis"
):
    # A replica that is missing makes the server refuse writes, as a disk that is full does.
    admin.config_set("min-replicas-to-write", 1)
    load = Load(own_queue, 50)
    running = asyncio.create_task(load.run())
    await asyncio.sleep(0.05)
    assert await own_look.key_names() == []
    admin.config_set("min-replicas-to-write", 0)
    await running

    await assert_all_done_once(load, own_look)
    assert load.troubles > 0
