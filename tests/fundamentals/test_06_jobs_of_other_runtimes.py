"""Queues may be shared with programs in other languages, whose jobs are just bytes. A raw handler
takes the bytes of a queue; or you say where in the bytes the name of the handler is.
"""

import json

from echomq_worker import EchoMQ
from echomq_worker.store import QueueStore
from tests.fundamentals.conftest import Work


async def test_a_raw_handler_takes_the_bytes_of_its_queue(app: EchoMQ, work: Work, queue_name: str):
    taken: list[bytes] = []

    @app.raw_handler(queue=queue_name)
    async def take(payload: bytes) -> None:
        taken.append(payload)

    await app.enqueue_raw(b"\x00 whatever the other side writes \xff")
    await work()

    assert taken == [b"\x00 whatever the other side writes \xff"]


async def test_a_payload_may_name_the_handler(app: EchoMQ, work: Work, queue_name: str):
    paid: list[int] = []
    app.queue(queue_name, name_from="type", arguments_from="data")

    @app.job("order.paid")
    async def order_paid(order: int) -> None:
        paid.append(order)

    await app.enqueue_raw(json.dumps({"type": "order.paid", "data": {"order": 7}}).encode())
    await work()

    assert paid == [7]


async def test_what_names_no_handler_goes_to_the_raw_one(app: EchoMQ, work: Work, queue_name: str):
    taken: list[bytes] = []
    app.queue(queue_name, name_from="type")

    @app.raw_handler(queue=queue_name)
    async def take(payload: bytes) -> None:
        taken.append(payload)

    await app.enqueue_raw(b"no JSON at all")
    await work()

    assert taken == [b"no JSON at all"]


async def test_a_job_that_nobody_here_knows_is_put_back_for_a_worker_that_does(
    app: EchoMQ, work: Work, queue: QueueStore
):
    handle = await app.enqueue_by_name("deployed.tomorrow", {})
    stats = await work()

    assert (stats.unknown, stats.buried) == (1, 0)
    job = await queue.inspect(handle.id)
    assert job is not None
    assert job.attempts == 0  # after an hour of this it is buried
