"""The fence: who speaks another wire, or another layout of a queue, writes nothing here."""

from collections.abc import AsyncGenerator, Generator
from contextlib import closing

import pytest
import pytest_asyncio
import redis

from echomq_worker.embedded import EmbeddedServer
from echomq_worker.errors import WireVersionError
from echomq_worker.protocol.keyspace import VERSION_KEY
from echomq_worker.store import QueueStore, Server, ServerOptions
from echomq_worker.store.extender import BlockingExtender
from echomq_worker.store.line import Line
from echomq_worker.store.options import EXTENSION_VERSION
from echomq_worker.version import WIRE_VERSION
from tests.support.jobs import LEASE_MS, A, B, C, claim_one, enqueue, new_job
from tests.support.look import Look
from tests.support.private import QUEUE, cut_all_connections

FOREIGN = "echomq:9.0.0"


async def no_patience(error: Exception, tries: int) -> None:
    """Ask again a few times: every connection was cut."""
    if tries > 5:
        raise error


@pytest_asyncio.fixture
async def own_server(private_server: EmbeddedServer) -> AsyncGenerator[Server]:
    server = Server(ServerOptions(url=private_server.url))
    yield server
    await server.aclose()


@pytest.fixture
def own_queue(own_server: Server) -> QueueStore:
    return own_server.queue(QUEUE)


@pytest_asyncio.fixture
async def own_line(own_queue: QueueStore) -> AsyncGenerator[Line]:
    line = own_queue.line(trouble=no_patience)
    yield line
    await line.aclose()


@pytest.fixture
def extender(private_server: EmbeddedServer) -> Generator[BlockingExtender]:
    with closing(BlockingExtender(ServerOptions(url=private_server.url))) as extender:
        yield extender


async def test_the_first_to_connect_claims_the_wire_for_all(
    own_server: Server, admin: "redis.Redis"
):
    await own_server.open()
    await own_server.open()

    assert admin.get(VERSION_KEY) == WIRE_VERSION.encode()
    assert admin.ttl(VERSION_KEY) == -1


async def test_making_a_server_connects_nowhere():
    server = Server(ServerOptions(url="unix:///nowhere"))

    assert server.queue("mail").name == "mail"
    await server.aclose()


async def test_a_foreign_wire_is_refused_and_left_alone(
    own_server: Server, own_queue: QueueStore, own_line: Line, admin: "redis.Redis"
):
    admin.set(VERSION_KEY, FOREIGN)

    for attempt in (
        own_server.open(),
        own_queue.enqueue([new_job(A)]),
        own_queue.counts(),
        own_line.claim(limit=1, lease_ms=LEASE_MS, promote=0),
        own_queue.wait_hint(bell=True, clock=True, timeout_ms=10),
    ):
        with pytest.raises(WireVersionError) as caught:
            await attempt
        assert (caught.value.found, caught.value.own) == (FOREIGN, WIRE_VERSION)

    assert admin.get(VERSION_KEY) == FOREIGN.encode()
    assert admin.dbsize() == 1


@pytest.mark.parametrize("found", ["", "echomq:3.0.1", "echomq:3.0.0 ", "\xff"])
async def test_only_the_very_same_version_passes(
    own_server: Server, admin: "redis.Redis", found: str
):
    admin.set(VERSION_KEY, found)

    with pytest.raises(WireVersionError, match="ECHOMQ_WIRE_VERSION"):
        await own_server.open()
    assert admin.get(VERSION_KEY) == found.encode()


async def test_the_version_can_be_chosen(private_server: EmbeddedServer, admin: "redis.Redis"):
    admin.set(VERSION_KEY, FOREIGN)
    async with Server(ServerOptions(url=private_server.url, wire_version=FOREIGN)) as server:
        assert (await server.queue(QUEUE).enqueue([new_job(A)])) == ["enqueued"]


async def test_the_wire_is_verified_again_after_each_reconnect(
    own_queue: QueueStore, own_line: Line, admin: "redis.Redis", own_look: Look
):
    await enqueue(own_queue, A, B)
    await claim_one(own_line)
    before = await own_look.dumps()
    admin.set(VERSION_KEY, FOREIGN)
    cut_all_connections(admin)

    for _ in range(2):
        with pytest.raises(WireVersionError):
            await own_queue.enqueue([new_job(C)])
        with pytest.raises(WireVersionError):
            await own_line.claim(limit=1, lease_ms=LEASE_MS, promote=0)

    assert admin.get(VERSION_KEY) == FOREIGN.encode()
    assert await own_look.dumps() == before


async def test_a_connection_that_holds_is_not_asked_again(
    own_queue: QueueStore, own_line: Line, admin: "redis.Redis"
):
    await enqueue(own_queue, A)
    await claim_one(own_line)
    admin.set(VERSION_KEY, FOREIGN)

    assert (await own_line.claim(limit=1, lease_ms=LEASE_MS, promote=0)).jobs == []


async def test_whoever_extends_leases_passes_the_fence_as_well(
    own_queue: QueueStore, own_line: Line, extender: BlockingExtender, admin: "redis.Redis"
):
    await enqueue(own_queue, A)
    job = await claim_one(own_line)
    assert extender.extend(QUEUE, [job], LEASE_MS) == ["ok"]
    admin.set(VERSION_KEY, FOREIGN)
    cut_all_connections(admin)

    with pytest.raises(WireVersionError):
        extender.extend(QUEUE, [job], LEASE_MS)
    assert admin.get(VERSION_KEY) == FOREIGN.encode()


async def test_the_first_to_use_a_queue_marks_its_layout(own_queue: QueueStore, own_look: Look):
    await enqueue(own_queue, A)

    assert await own_look.hash(own_look.keys.meta) == {"ext": EXTENSION_VERSION}


async def test_another_layout_is_refused_and_left_alone(
    own_queue: QueueStore, own_line: Line, own_look: Look
):
    await own_look.do("HSET", own_look.keys.meta, "ext", "99")
    before = await own_look.dumps()

    for attempt in (
        own_queue.enqueue([new_job(A)]),
        own_line.claim(limit=1, lease_ms=LEASE_MS, promote=0),
        own_line.settle([]),
    ):
        with pytest.raises(WireVersionError, match="layout '99'") as caught:
            await attempt
        assert (caught.value.found, caught.value.own) == ("99", EXTENSION_VERSION)

    assert await own_look.dumps() == before


async def test_the_layout_is_looked_at_again_after_a_reconnect(
    own_queue: QueueStore, own_line: Line, admin: "redis.Redis", own_look: Look
):
    await enqueue(own_queue, A, B)
    await claim_one(own_line)
    await claim_one(own_line)
    await own_look.do("HSET", own_look.keys.meta, "ext", "99")
    cut_all_connections(admin)
    before = await own_look.dumps()

    with pytest.raises(WireVersionError):
        await own_line.claim(limit=1, lease_ms=LEASE_MS, promote=0)
    assert await own_look.dumps() == before


async def test_a_worker_of_another_runtime_marks_no_layout(
    private_server: EmbeddedServer, own_look: Look
):
    async with Server(ServerOptions(url=private_server.url, extension=None)) as server:
        await enqueue(server.queue(QUEUE), A)

    assert await own_look.hash(own_look.keys.meta) == {}


async def test_a_marked_layout_is_looked_at_once_a_connection_also_by_whoever_marks_none(
    own_queue: QueueStore, own_look: Look
):
    await enqueue(own_queue, A)
    await own_queue.pause()  # connects
    await own_queue.pause()
    await own_look.do("HSET", own_look.keys.meta, "ext", "99")

    await own_queue.resume()
    assert (await own_queue.schedulers.due(1)).schedulers == ()


async def test_a_queue_without_a_mark_is_looked_at_each_time(own_queue: QueueStore, own_look: Look):
    assert not await own_queue.schedulers.remove("nightly")
    await own_look.do("HSET", own_look.keys.meta, "ext", "99")

    with pytest.raises(WireVersionError, match="layout '99'"):
        await own_queue.schedulers.remove("nightly")
