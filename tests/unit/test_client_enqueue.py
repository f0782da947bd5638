import dataclasses
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from echomq_worker import EchoMQ
from echomq_worker.domain.ids import BrandedId
from echomq_worker.domain.job import After, At, JobId, NewJob
from echomq_worker.errors import (
    ArgumentsError,
    DuplicateJobError,
    EchoMQError,
    HandlerError,
    InvalidArgumentError,
    InvalidIdError,
    InvalidQueueError,
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


@pytest.mark.parametrize("delay", [-1, float("nan"), float("inf"), 1e30, "soon", None])
async def test_a_delay_that_is_none_sends_nothing(delay: Any) -> None:
    _, send, mail = with_send()
    with pytest.raises(InvalidArgumentError, match="is no duration"):
        await send.enqueue_in(delay, "a")
    assert mail.calls == []


async def test_no_delay_means_at_once() -> None:
    _, send, mail = with_send()
    await send.enqueue_in(0, "a")
    assert mail.jobs[0].due is None


@pytest.mark.parametrize(
    ("when", "unix_ms"),
    [
        (datetime(2026, 3, 29, 1, 59, 59, 999_000, ZoneInfo("Europe/Berlin")), 1_774_745_999_999),
        (datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=1), 1792891800000),
        (datetime(2026, 1, 1, 0, 0, 0, 1, UTC), 1_767_225_600_001),
        (datetime(1969, 1, 1, tzinfo=UTC), 0),
    ],
)
async def test_an_instant_is_rounded_up_to_the_millisecond(when: datetime, unix_ms: int) -> None:
    _, send, mail = with_send()
    await send.enqueue_at(when, "a")
    assert mail.jobs[0].due == At(unix_ms)


@pytest.mark.parametrize(
    ("when", "hint"),
    [
        (datetime(2027, 1, 1), "does not say its time zone"),  # noqa: DTZ001
        (datetime.max.replace(tzinfo=UTC), "over 100 years away"),
        (1_750_000_000, "expected a datetime"),
        ("tomorrow", "expected a datetime"),
    ],
)
async def test_an_instant_that_cannot_be_meant_sends_nothing(when: Any, hint: str) -> None:
    _, send, mail = with_send()
    with pytest.raises(InvalidArgumentError, match=hint):
        await send.enqueue_at(when, "a")
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


async def test_ids_that_are_taken_again_and_again_are_an_error() -> None:
    _, send, mail = with_send(node_id=7)
    mail.taken = {JobId(BrandedId.pack("JOB", NOW_MS, 7, n).text) for n in range(99)}
    with pytest.raises(DuplicateJobError, match="same ECHOMQ_NODE_ID"):
        await send.enqueue("a")


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


async def test_a_handler_is_called_by_name_with_checked_arguments_if_it_is_known() -> None:
    app, _, mail = with_send()
    handle = await app.enqueue_by_name("email.send", {"to": "a"}, delay="5s", max_attempts=2)
    assert mail.jobs == [
        NewJob(handle.id, b'{"to":"a"}', After(5_000), name="email.send", max_attempts=2)
    ]
    with pytest.raises(ArgumentsError, match='missing argument "to"'):
        await app.enqueue_by_name("email.send", {})


async def test_a_handler_that_is_not_known_is_called_by_name_in_the_default_queue() -> None:
    app, backend = made(default_queue="main")
    at = datetime.fromtimestamp(NOW_MS / 1000, UTC) + timedelta(seconds=1)
    await app.enqueue_by_name("report.render", {"day": at.date()}, at=at)
    await app.enqueue_by_name("report.render", {}, queue="reports")
    (job,) = backend.queue("main").jobs
    assert (job.payload, job.name) == (b'{"day":"2025-06-15"}', "report.render")
    assert job.due == At(NOW_MS + 1000)
    assert len(backend.queue("reports").jobs) == 1


@pytest.mark.parametrize(
    ("name", "arguments", "options", "error"),
    [
        ("two words", {}, {}, HandlerError),
        ("x", {"a": object()}, {}, ArgumentsError),
        ("x", {1: 2}, {}, ArgumentsError),
        ("x", {}, {"delay": 1, "at": datetime(2027, 1, 1, tzinfo=UTC)}, InvalidArgumentError),
        ("x", {}, {"delay": -1}, InvalidArgumentError),
        ("x", {}, {"queue": "a b"}, InvalidQueueError),
    ],
)
async def test_a_call_by_name_that_no_worker_could_read_sends_nothing(
    name: str, arguments: Any, options: Any, error: type[Exception]
) -> None:
    app, backend = made()
    with pytest.raises(error):
        await app.enqueue_by_name(name, arguments, **options)
    assert backend.opened == 0


async def test_raw_bytes_are_enqueued_as_they_are_without_a_name() -> None:
    app, backend = made()
    handle = await app.enqueue_raw(b"\x00\xff", queue="orders")
    assert backend.queue("orders").jobs == [NewJob(handle.id, b"\x00\xff")]
    wrong: Any = "text"
    with pytest.raises(InvalidArgumentError, match="expected bytes"):
        await app.enqueue_raw(wrong)
