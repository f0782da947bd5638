"""`app.lanes` and `app.sync.lanes`: lanes for the code that looks after tenants."""

from collections.abc import AsyncGenerator, Awaitable, Callable

import pytest
import pytest_asyncio

from echomq_worker import EchoMQ, InvalidArgumentError, InvalidIdError, LaneState, Reassigned
from echomq_worker.domain.gates import Rate
from echomq_worker.domain.lanes import lane_group
from echomq_worker.errors import InvalidQueueError
from echomq_worker.store.line import Line
from echomq_worker.store.rights import Role
from echomq_worker.testing.backend import InlineBackend
from tests.support.jobs import claim
from tests.support.least_rights import least


@pytest_asyncio.fixture(params=["server", "memory"])
async def either(
    request: pytest.FixtureRequest, server_url: str, queue_name: str
) -> AsyncGenerator[EchoMQ]:
    """An application of a producer, on a server or in memory."""
    url = least(server_url, Role.PRODUCER)
    backend = InlineBackend() if request.param == "memory" else None
    app = EchoMQ(redis_url=url, default_queue=queue_name, backend=backend)
    async with app:
        yield app


async def test_what_is_set_is_told(either: EchoMQ):
    lanes = either.lanes
    await lanes.limit("acme", 4)
    await lanes.weight("acme", 3)
    await lanes.maximum("acme", 9, "drop-oldest")
    assert await lanes.first("acme")
    assert await lanes.rate("acme", "50/s", burst=10)
    assert not await lanes.rate("acme", "50/s", burst=10)
    assert await lanes.pause("acme", reason="unpaid", by="ann")
    assert not await lanes.pause("acme", reason="unpaid", by="ann")

    view = await lanes.inspect("acme")

    assert (view.name, view.group) == ("acme", lane_group("acme"))
    assert (view.limit, view.weight, view.maximum, view.on_full) == (4, 3, 9, "drop-oldest")
    assert view.state is LaneState.PAUSED
    assert view.first
    assert view.rate == Rate(50, 1_000, 10)
    assert view.paused is not None
    assert (view.paused.reason, view.paused.by) == ("unpaid", "ann")
    assert [each.name for each in await lanes.list()] == ["acme"]

    assert await lanes.resume("acme")
    assert not await lanes.resume("acme")
    assert await lanes.first("acme", on=False)
    assert await lanes.rate("acme", None)
    await lanes.limit("acme", None)
    await lanes.weight("acme", None)
    await lanes.maximum("acme", None)
    view = await lanes.inspect("acme")
    assert (view.limit, view.weight, view.maximum, view.on_full) == (None, 1, None, None)
    assert view.state is LaneState.IDLE


async def test_jobs_wait_in_the_lane_they_were_enqueued_to(either: EchoMQ):
    @either.job("mail.send")
    async def send(to: str) -> None: ...

    mail = send.options(lane="acme")
    first, second = await mail.enqueue("a"), await mail.enqueue("b")
    flat = await send.enqueue("c")

    assert await either.lanes.depths(["acme", "bolt"]) == {"acme": 2, "bolt": 0}
    view = await either.lanes.inspect("acme")
    assert (view.oldest, view.newest, view.state) == (first.id, second.id, LaneState.READY)

    assert await either.lanes.reassign(second.id, "bolt") is Reassigned.OK
    assert await either.lanes.reassign(second.id, "bolt") is Reassigned.NOOP
    assert await either.lanes.reassign(flat.id, "bolt") is Reassigned.OK
    assert await either.lanes.reassign(either.new_job_id(), "bolt") is Reassigned.NOT_FOUND
    assert await either.lanes.depths(["acme", "bolt"]) == {"acme": 1, "bolt": 2}

    assert await either.lanes.drain("bolt") == 2
    assert await either.lanes.depth("bolt") == 0
    assert await either.lanes.reap("acme") in ([], ())


async def test_what_makes_no_sense_is_refused_before_anything_is_sent(either: EchoMQ):
    lanes = either.lanes
    refused: list[Callable[[], Awaitable[object]]] = [
        lambda: lanes.pause("a b"),
        lambda: lanes.pause(""),
        lambda: lanes.limit("acme", 0),
        lambda: lanes.weight("acme", 0),
        lambda: lanes.maximum("acme", 0),
        lambda: lanes.maximum("acme", 3, "explode"),
        lambda: lanes.rate("acme", "50"),
        lambda: lanes.rate("a b", "50/s"),
        lambda: lanes.depths(["acme", "ü"]),
        lambda: lanes.list(limit=0),
        lambda: lanes.list(offset=-1),
    ]
    for call in refused:
        with pytest.raises(InvalidArgumentError):
            await call()
    with pytest.raises(InvalidIdError):
        await lanes.reassign("acme", "bolt")
    with pytest.raises(InvalidQueueError):
        await lanes.depth("acme", queue="a b")
    assert await lanes.list() == []


async def test_an_illegal_lane_of_a_job_is_refused(either: EchoMQ):
    @either.job("mail.send")
    async def send(to: str) -> None: ...

    with pytest.raises(InvalidArgumentError, match="cannot name a lane"):
        send.options(lane="a b")


async def test_a_group_of_the_wire_and_its_name_are_one_lane(app: EchoMQ):
    await app.lanes.limit(lane_group("acme"), 1)
    await app.lanes.pause("acme")

    (view,) = await app.lanes.list()

    assert (view.name, view.limit) == ("acme", 1)


async def test_another_queue_can_be_named(app: EchoMQ, new_queue_name: Callable[[], str]):
    other = new_queue_name()
    await app.lanes.pause("acme", queue=other)

    assert await app.lanes.list() == []
    assert [view.name for view in await app.lanes.list(queue=other)] == ["acme"]


def test_code_that_blocks_can_do_the_same(server_url: str, queue_name: str):
    app = EchoMQ(least(server_url, Role.PRODUCER), default_queue=queue_name)
    lanes = app.sync.lanes
    job = app.sync.enqueue_raw(b"x", lane="acme")

    assert lanes.pause("acme", reason="unpaid", by="ada") is True
    lanes.limit("acme", 2)
    lanes.weight("acme", 2)
    assert lanes.first("acme") is True
    assert lanes.rate("acme", "5/10s", sliding=True) is True
    lanes.maximum("acme", 9)
    assert [view.state for view in lanes.list()] == [LaneState.PAUSED]
    assert lanes.resume("acme") is True
    assert lanes.inspect("acme").limit == 2
    assert lanes.reassign(job.id, "bolt") is Reassigned.OK
    assert lanes.depths(["acme", "bolt"]) == {"acme": 0, "bolt": 1}
    assert lanes.reap("bolt") == ()
    assert (lanes.drain("bolt"), lanes.depth("bolt")) == (1, 0)
    app.sync.close()


async def test_workers_obey_with_their_next_claim(app: EchoMQ, line: Line):
    await app.enqueue_raw(b"x", lane="acme")
    await app.lanes.pause("acme")
    assert await claim(line) == []
    await app.lanes.resume("acme")
    assert len(await claim(line)) == 1
