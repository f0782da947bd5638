import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from echomq_worker import EchoMQ, UnavailableError
from echomq_worker.client import Connections
from tests.unit.client_fakes import FakeBackend


def made() -> tuple[Connections, list[FakeBackend]]:
    backends: list[FakeBackend] = []

    def make() -> FakeBackend:
        backends.append(FakeBackend())
        return backends[-1]

    return Connections(make), backends


def states(backends: list[FakeBackend]) -> list[tuple[int, int]]:
    return [(backend.opened, backend.closed) for backend in backends]


async def test_nothing_is_connected_before_it_is_needed() -> None:
    connections, backends = made()
    assert backends == []
    await connections.backend()
    assert states(backends) == [(1, 0)]


async def test_whoever_comes_while_connecting_waits_for_the_same_connection() -> None:
    connections, backends = made()
    first, second = await asyncio.gather(connections.backend(), connections.backend())
    assert first is second
    assert states(backends) == [(1, 0)]


async def test_the_last_hold_disconnects() -> None:
    connections, backends = made()
    await connections.hold()
    await connections.hold()
    await connections.release()
    assert states(backends) == [(1, 0)]
    await connections.release()
    assert states(backends) == [(1, 1)]
    await connections.backend()
    assert states(backends) == [(1, 1), (1, 0)]


def test_an_ending_loop_disconnects_what_nobody_closed() -> None:
    connections, backends = made()
    asyncio.run(_use(connections))
    assert states(backends) == [(1, 1)]


def test_each_loop_has_a_connection_of_its_own() -> None:
    connections, backends = made()
    asyncio.run(_use(connections))
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, _use(connections)).result()
    asyncio.run(_use(connections))
    assert states(backends) == [(1, 1)] * 3
    assert len(connections._of_loop) == 1


async def test_a_failed_connect_is_tried_again_by_whoever_comes_next() -> None:
    broken = FakeBackend(down=True)
    connections = Connections(lambda: broken)
    for _ in range(2):
        with pytest.raises(UnavailableError):
            await connections.backend()
    broken.down = False
    assert await connections.backend() is broken
    assert states([broken]) == [(1, 2)]


async def test_a_failed_connect_holds_nothing() -> None:
    broken = FakeBackend(down=True)
    connections = Connections(lambda: broken)
    with pytest.raises(UnavailableError):
        await connections.hold()
    broken.down = False
    await connections.hold()
    await connections.release()
    assert broken.opened == 1
    assert broken.closed == 2


async def test_an_application_is_connected_in_its_block() -> None:
    backend = FakeBackend()
    async with EchoMQ(backend=backend) as app:
        assert states([backend]) == [(1, 0)]
        async with app:
            pass
        assert states([backend]) == [(1, 0)]
    assert states([backend]) == [(1, 1)]


async def _use(connections: Connections) -> None:
    await connections.backend()
    await connections.backend()
