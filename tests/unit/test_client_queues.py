"""`app.queues`: what is set for a queue as a whole."""

from typing import Any

import pytest

from echomq_worker import EchoMQ, InvalidArgumentError
from echomq_worker.domain.views import Order
from echomq_worker.errors import InvalidQueueError
from tests.unit.client_fakes import FakeBackend


async def test_the_order_inside_a_priority_is_set_queue_by_queue() -> None:
    app = EchoMQ(backend=FakeBackend())
    assert await app.queues.order() is Order.ARRIVAL

    await app.queues.put_order("mint")
    await app.queues.put_order(Order.MINT, queue="mail")
    await app.queues.put_order("arrival", queue="mail")

    assert await app.queues.order() is Order.MINT
    assert await app.queues.order("mail") is Order.ARRIVAL


def test_code_that_blocks_can_do_the_same() -> None:
    app = EchoMQ(backend=FakeBackend())
    app.sync.queues.put_order("mint")
    app.sync.queues.put_order("mint", queue="mail")
    assert [app.sync.queues.order(), app.sync.queues.order("mail")] == [Order.MINT] * 2
    app.sync.close()


@pytest.mark.parametrize("order", ["", "MINT", "random", None, 1])
async def test_an_order_that_is_none_is_refused(order: Any) -> None:
    app = EchoMQ(backend=FakeBackend())
    with pytest.raises(InvalidArgumentError, match="expected 'arrival' or 'mint'"):
        await app.queues.put_order(order)


async def test_a_queue_that_cannot_be_is_refused() -> None:
    app = EchoMQ(backend=FakeBackend())
    with pytest.raises(InvalidQueueError):
        await app.queues.put_order("mint", queue="a b")
