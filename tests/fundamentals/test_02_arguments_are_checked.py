"""Arguments travel as JSON, by parameter name, and are checked against the handler's annotations
twice: where they are enqueued, so that nothing wrong gets in, and where the handler is about to
run.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from uuid import UUID

import pytest

from echomq_worker import ArgumentsError, EchoMQ, HandlerError
from echomq_worker.store import QueueStore
from tests.fundamentals.conftest import Work


class Currency(StrEnum):
    EUR = "EUR"
    NOK = "NOK"


@dataclass
class Price:
    amount: Decimal
    currency: Currency


async def test_rich_values_arrive_as_what_they_were(app: EchoMQ, work: Work):
    arrived: list[object] = []

    @app.job("invoice.send")
    async def send(number: UUID, price: Price, due: datetime, copies: set[str]) -> None:
        arrived.extend([number, price, due, copies])

    number = UUID("0189c3ff-55f3-7d50-a6a4-0c1b1b3b6c5a")
    price = Price(Decimal("19.90"), Currency.EUR)
    due = datetime(2026, 5, 1, 12, tzinfo=UTC)
    await send.enqueue(number, price, due, copies={"ada", "bob"})
    await work()

    assert arrived == [number, price, due, {"ada", "bob"}]


async def test_what_does_not_fit_never_reaches_the_queue(app: EchoMQ, queue: QueueStore):
    @app.job("email.send")
    async def send(to: str, copies: int = 1) -> None: ...

    arguments = {"to": "ada@example.com", "copies": "many"}
    with pytest.raises(ArgumentsError, match=r'email\.send: argument "copies": expected `int`'):
        await app.enqueue_by_name("email.send", arguments)
    with pytest.raises(ArgumentsError, match='missing argument "to"'):
        await app.enqueue_by_name("email.send", {})
    with pytest.raises(ArgumentsError, match='unknown argument "cc"; it takes: to, copies'):
        await app.enqueue_by_name("email.send", {"to": "ada@example.com", "cc": "bob"})

    assert send.queue == queue.name
    assert (await queue.counts()).pending == 0


async def test_what_is_in_the_queue_can_be_read_and_written_by_hand(app: EchoMQ, queue: QueueStore):
    @app.job("email.send")
    async def send(to: str, copies: int = 1) -> None: ...

    handle = await send.enqueue("ada@example.com", copies=2)

    job = await queue.inspect(handle.id)
    assert job is not None
    assert job.payload == b'{"to":"ada@example.com","copies":2}'


async def test_a_parameter_that_json_cannot_carry_is_refused_when_the_handler_is_declared(
    app: EchoMQ,
):
    class Connection: ...

    with pytest.raises(HandlerError, match=r'argument "connection": JSON cannot carry'):

        @app.job("table.copy")
        async def copy(connection: Connection) -> None: ...
