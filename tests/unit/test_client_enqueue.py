from datetime import UTC, datetime
from typing import Any

import pytest

from echomq_worker import EchoMQ
from echomq_worker.client.call import OPTIONS, TIMED_OPTIONS, CallOptions, TimedOptions
from echomq_worker.domain.ids import BrandedId
from echomq_worker.domain.job import After, At, NewJob
from echomq_worker.errors import (
    ArgumentsError,
    HandlerError,
    InvalidArgumentError,
    InvalidIdError,
    InvalidQueueError,
    PayloadTooLargeError,
    UnavailableError,
)
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


async def test_an_enqueued_call_is_one_job_with_its_arguments_by_name() -> None:
    _, send, mail = with_send()
    handle = await send.enqueue("a@b.c", n=2)
    assert mail.jobs == [NewJob(handle.id, b'{"to":"a@b.c","n":2}', name="email.send")]
    assert (handle.queue, handle.created) == ("mail", True)


async def test_the_application_enqueues_what_the_job_would() -> None:
    app, send, mail = with_send()
    when = datetime(2027, 1, 1, tzinfo=UTC)
    await app.enqueue(send, "a")
    await app.enqueue_in("10m", send, "b")
    await app.enqueue_at(when, send, to="c")
    await send.enqueue("a")
    await send.enqueue_in("10m", "b")
    await send.enqueue_at(when, to="c")
    shapes = [(job.payload, job.due, job.name) for job in mail.jobs]
    assert shapes[:3] == shapes[3:]
    assert [due for _, due, _ in shapes[:3]] == [None, After(600_000), At(1_798_761_600_000)]


async def test_ids_are_minted_in_order_by_the_clock_of_the_application() -> None:
    app, send, mail = with_send(node_id=7)
    for _ in range(3):
        await send.enqueue("a")
    ids = [job.id for job in mail.jobs]
    assert ids == sorted(set(ids))
    assert ids[0] == BrandedId.pack("JOB", NOW_MS, 7, 0).text
    assert app.new_job_id() > ids[-1]


async def test_options_stand_apart_from_arguments() -> None:
    app, send, mail = with_send()
    job_id = app.new_job_id()
    await send.options(job_id=job_id, max_attempts=2).options(keep_result="1d").enqueue("a")
    assert mail.jobs == [
        NewJob(
            job_id,
            b'{"to":"a"}',
            name="email.send",
            max_attempts=2,
            keep_result_ms=86_400_000,
        )
    ]


async def test_options_change_the_queue_for_one_sender_only() -> None:
    app, send, mail = with_send()
    bulk = send.options(queue="bulk")
    handle = await app.enqueue(bulk, "a")
    assert (handle.queue, bulk.queue, send.queue) == ("bulk", "bulk", "mail")
    assert mail.jobs == []


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"queue": "no queue"}, InvalidQueueError),
        ({"queue": "emq"}, InvalidQueueError),
        ({"job_id": "7"}, InvalidIdError),
        ({"job_id": "LAN0NsUH6L9tuD"}, InvalidIdError),
        ({"max_attempts": 0}, InvalidArgumentError),
        ({"keep_result": -1}, InvalidArgumentError),
    ],
)
def test_options_that_cannot_be_used_are_refused_where_they_are_given(
    options: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        with_send()[1].options(**options)


@pytest.mark.parametrize(
    ("option", "hint"),
    [
        ("foo", f"unknown option 'foo': expected one of {', '.join(OPTIONS)}$"),
        ("delay", "enqueue_in and enqueue_at, not by delay="),
        ("at", "enqueue_in and enqueue_at, not by at="),
        ("max_attemps", "Is max_attempts meant"),
    ],
)
def test_an_option_there_is_not_is_refused_and_the_others_are_named(option: str, hint: str) -> None:
    with pytest.raises(InvalidArgumentError, match=hint):
        with_send()[1].options(**{option: "1h"})


def test_every_option_that_is_declared_is_known() -> None:
    assert set(OPTIONS) == CallOptions.__optional_keys__
    assert set(TIMED_OPTIONS) == TimedOptions.__optional_keys__


def test_a_result_that_json_cannot_carry_cannot_be_kept() -> None:
    app, _ = made()

    @app.job("odd")
    def odd() -> FakeBackend: ...  # pyright: ignore[reportReturnType]

    with pytest.raises(HandlerError, match="odd: the kept result"):
        odd.options(keep_result="1h")


async def test_wrong_arguments_send_nothing() -> None:
    app, send, mail = with_send()
    for call in (send.enqueue(), app.enqueue(send, 1), send.enqueue_in("1s", "a", n="x")):
        with pytest.raises(ArgumentsError):
            await call
    assert mail.calls == []


async def test_a_payload_over_the_limit_sends_nothing_and_says_both_sizes() -> None:
    _, send, mail = with_send(max_payload="1KiB")
    fits = "x" * (1024 - len('{"to":""}'))
    await send.enqueue(fits)
    with pytest.raises(PayloadTooLargeError) as refused:
        await send.enqueue("x" * 4096)
    assert str(refused.value) == (
        "email.send: the payload is 4.0KiB, the limit 1KiB (ECHOMQ_MAX_PAYLOAD). "
        "Store the data elsewhere and pass a reference"
    )
    assert len(mail.jobs) == 1
    with pytest.raises(PayloadTooLargeError):
        await send.enqueue(fits + "x")


async def test_a_chosen_id_that_exists_is_not_replaced_and_the_handle_says_so() -> None:
    app, send, mail = with_send()
    job_id = app.new_job_id()
    first = await send.options(job_id=job_id).enqueue("a")
    second = await send.options(job_id=job_id).enqueue("b")
    assert (first.created, second.created) == (True, False)
    assert first == second
    assert len(mail.calls) == 2


async def test_a_server_that_does_not_answer_is_reported() -> None:
    _, send, _ = with_send()
    app, backend = made()
    backend.down = True
    send = app.job("x")(lambda: None)
    with pytest.raises(UnavailableError):
        await send.enqueue()
