import dataclasses
from collections.abc import Sequence
from typing import Any

import pytest

from echomq_worker import EchoMQ
from echomq_worker.domain.ids import BrandedId
from echomq_worker.domain.job import After, JobId
from echomq_worker.errors import (
    DuplicateJobError,
    EchoMQError,
    InvalidArgumentError,
    OutOfMemoryError,
    PayloadTooLargeError,
    UnavailableError,
)
from echomq_worker.handlers import Outgoing, Send, Sent
from tests.unit.client_fakes import NOW_MS, FakeBackend, FakeQueue, StepClock


def made(**given: Any) -> tuple[EchoMQ, FakeBackend]:
    backend = FakeBackend()
    return EchoMQ(backend=backend, clock=StepClock(), **given), backend


def with_send(**given: Any) -> tuple[EchoMQ, Any, FakeQueue]:
    app, backend = made(**given)

    @app.job("email.send", queue="mail", keep_result="1h")
    async def send(to: str, n: int = 1) -> int:
        return len(to) * n

    return app, send, backend.queue("mail")


async def test_many_calls_go_to_each_queue_at_once_and_come_back_in_order() -> None:
    app, send, mail = with_send()
    bulk = send.options(queue="bulk")
    calls = [(bulk if n % 2 else send).call(str(n)) for n in range(6)]
    calls[4] = calls[4].after("1s")
    handles = await app.enqueue_many(calls)
    assert [handle.queue for handle in handles] == ["mail", "bulk"] * 3
    assert len(mail.calls) == 1
    assert [job.payload for job in mail.jobs] == [b'{"to":"0"}', b'{"to":"2"}', b'{"to":"4"}']
    assert [job.due for job in mail.jobs] == [None, None, After(1000)]
    assert [job.id for job in mail.jobs] == [handles[n].id for n in (0, 2, 4)]


async def test_many_calls_are_all_checked_before_the_first_is_sent() -> None:
    app, send, mail = with_send(max_payload=64)
    with pytest.raises(PayloadTooLargeError):
        await app.enqueue_many([send.call("a"), send.options(queue="b").call("x" * 99)])
    assert mail.calls == []


async def test_what_is_no_call_is_refused_before_anything_is_sent() -> None:
    app, send, mail = with_send()
    calls: list[Any] = [send.call("a"), 1]
    with pytest.raises(InvalidArgumentError, match=r"^1 is no call: expected what job\.call"):
        await app.enqueue_many(calls)
    with pytest.raises(InvalidArgumentError, match="is no call"):
        await app.enqueue_many([send])
    assert mail.calls == []


async def test_no_calls_ask_nothing_of_the_server() -> None:
    app, backend = made()
    assert await app.enqueue_many([]) == []
    assert backend.opened == 0


async def test_a_minted_id_that_is_taken_is_minted_again() -> None:
    _, send, mail = with_send(node_id=7)
    mail.taken = {JobId(BrandedId.pack("JOB", NOW_MS, 7, n).text) for n in range(3)}
    handle = await send.enqueue("a")
    assert (handle.created, handle.id) == (True, BrandedId.pack("JOB", NOW_MS, 7, 3).text)
    assert [len(call) for call in mail.calls] == [1, 1, 1, 1]


async def test_only_the_taken_ones_of_many_are_sent_again() -> None:
    app, send, mail = with_send(node_id=7)
    mail.taken = {JobId(BrandedId.pack("JOB", NOW_MS, 7, 1).text)}
    handles = await app.enqueue_many([send.call(str(n)) for n in range(3)])
    assert [handle.created for handle in handles] == [True, True, True]
    assert [job.payload for job in mail.calls[1]] == [b'{"to":"1"}']
    assert handles[1].id == mail.calls[1][0].id


async def test_an_unknown_outcome_says_which_ids_to_ask_again_in_the_order_of_the_calls() -> None:
    app, send, mail = with_send(node_id=7)
    mail.silent = True
    bulk = send.options(queue="bulk")
    calls = [bulk.call("0"), send.call("1"), bulk.call("2")]

    with pytest.raises(UnavailableError) as caught:
        await app.enqueue_many(calls)

    ids = caught.value.ids
    mail.silent = False
    again = [
        dataclasses.replace(call, options=dataclasses.replace(call.options, job_id=JobId(ids[n])))
        for n, call in enumerate(calls)
    ]
    handles = await app.enqueue_many(again)
    assert [handle.id for handle in handles] == list(ids)
    assert [handle.created for handle in handles] == [False, True, False]


async def test_a_full_server_too_says_the_ids_and_what_had_gone_in() -> None:
    app, send, mail = with_send(node_id=7)
    mail.full = True
    bulk = send.options(queue="bulk")

    with pytest.raises(OutOfMemoryError) as caught:
        await app.enqueue_many([bulk.call("0"), send.call("1"), bulk.call("2")])

    assert "memory. 2 jobs for other queues had gone in before: ask again" in str(caught.value)
    assert caught.value.ids == tuple(
        BrandedId.pack("JOB", NOW_MS, 7, number).text for number in range(3)
    )


async def test_ids_that_are_taken_again_and_again_are_an_error() -> None:
    _, send, mail = with_send(node_id=7)
    mail.taken = {JobId(BrandedId.pack("JOB", NOW_MS, 7, n).text) for n in range(99)}
    with pytest.raises(DuplicateJobError, match="same ECHOMQ_NODE_ID"):
        await send.enqueue("a")


async def test_middleware_sees_all_jobs_of_a_call_and_may_change_them() -> None:
    app, send, mail = with_send()
    seen: list[int] = []

    @app.enqueue_middleware
    async def to_bulk(jobs: Sequence[Outgoing], send: Send) -> Sequence[Sent]:
        seen.append(len(jobs))
        urgent = [
            dataclasses.replace(item, job=dataclasses.replace(item.job, max_attempts=1))
            for item in jobs
        ]
        return await send([dataclasses.replace(item, queue="bulk") for item in urgent])

    handles = await app.enqueue_many([send.call("a"), send.call("b")])
    assert seen == [2]
    assert mail.jobs == []
    assert [handle.queue for handle in handles] == ["bulk", "bulk"]
    assert to_bulk in app.enqueue_layers


async def test_what_middleware_sends_is_checked_too() -> None:
    app, send, mail = with_send(max_payload=64)

    @app.enqueue_middleware
    async def inflate(jobs: Sequence[Outgoing], send: Send) -> Sequence[Sent]:
        big = [dataclasses.replace(item.job, payload=b"x" * 99) for item in jobs]
        return await send([Outgoing("mail", job) for job in big])

    with pytest.raises(PayloadTooLargeError):
        await send.enqueue("a")
    assert (mail.calls, app.enqueue_layers) == ([], [inflate])


async def test_middleware_that_loses_a_job_is_told() -> None:
    app, send, _ = with_send()

    @app.enqueue_middleware
    async def forget(jobs: Sequence[Outgoing], send: Send) -> Sequence[Sent]:
        return await send(jobs[1:])

    with pytest.raises(EchoMQError, match="returned 0 answers for 1 jobs"):
        await send.enqueue("a")
    assert app.enqueue_layers == [forget]
