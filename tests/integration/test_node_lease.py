"""Node numbers: no two workers have the same at a time."""

from collections.abc import Generator

import pytest
import redis

from echomq_worker.protocol.keyspace import NODES_KEY
from echomq_worker.store import Server
from echomq_worker.store import nodes as store_nodes
from tests.support.look import Look


@pytest.fixture(autouse=True)
def no_nodes(leak_client: "redis.Redis") -> Generator[None]:
    """Node numbers belong to the server, not to a queue: leave none behind."""
    leak_client.delete(NODES_KEY)
    yield
    leak_client.delete(NODES_KEY)


async def test_every_worker_gets_a_number_of_its_own(server: Server):
    taken = [await server.node_lease().take() for _ in range(50)]

    assert len(set(taken)) == 50
    assert all(node is not None and 0 <= node < 1024 for node in taken)


async def test_a_number_is_kept_by_taking_it_again(server: Server, look: Look):
    lease = server.node_lease()
    node = await lease.take()
    before = await look.scores(NODES_KEY)

    assert await lease.take() == node
    after = await look.scores(NODES_KEY)
    assert list(after) == [str(node)]
    assert after[str(node)] >= before[str(node)]


async def test_a_number_is_leased_for_a_minute_by_the_servers_clock(server: Server, look: Look):
    before_ms = await look.now_us() // 1000
    node = await server.node_lease().take()

    end_ms = (await look.scores(NODES_KEY))[str(node)]
    assert before_ms + store_nodes.NODE_LEASE_MS <= end_ms
    assert end_ms <= await look.now_us() // 1000 + store_nodes.NODE_LEASE_MS


async def test_a_number_given_back_is_free(server: Server, look: Look):
    lease = server.node_lease()
    await lease.take()
    await lease.give_back()

    assert lease.node is None
    assert await look.members(NODES_KEY) == []


async def test_giving_back_nothing_does_no_harm(server: Server, look: Look):
    one = server.node_lease()
    await server.node_lease().take()
    await one.give_back()

    assert len(await look.members(NODES_KEY)) == 1


async def test_a_lease_that_was_lost_is_replaced_and_its_heir_left_alone(
    server: Server, look: Look
):
    lease = server.node_lease()
    lost = await lease.take()
    heirs_end_ms = await look.now_us() // 1000 + 99_000
    await look.do("ZADD", NODES_KEY, heirs_end_ms, str(lost))

    node = await lease.take()

    assert node is not None
    assert node != lost
    assert (await look.scores(NODES_KEY))[str(lost)] == heirs_end_ms


async def test_who_lost_a_number_cannot_give_it_back(server: Server, look: Look):
    lease = server.node_lease()
    lost = await lease.take()
    await look.do("ZADD", NODES_KEY, await look.now_us() // 1000 + 99_000, str(lost))

    await lease.give_back()

    assert await look.members(NODES_KEY) == [str(lost)]


async def test_a_number_whose_lease_ran_out_is_free(server: Server, look: Look):
    numbers = (part for node in range(1024) for part in (1 if node == 7 else 10**13, node))
    await look.do("ZADD", NODES_KEY, *numbers)

    assert await server.node_lease().take() == 7


async def test_when_all_are_taken_there_is_none(server: Server, look: Look):
    await look.do("ZADD", NODES_KEY, *(part for n in range(1024) for part in (10**13, n)))

    assert await server.node_lease().take() is None
