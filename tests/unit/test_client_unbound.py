from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from echomq_worker import EchoMQ
from echomq_worker.client.call import OPTIONS
from echomq_worker.domain.job import After, At, NewJob
from echomq_worker.errors import (
    ArgumentsError,
    HandlerError,
    InvalidArgumentError,
    InvalidQueueError,
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
        ("x", None, {}, ArgumentsError),
        ("x", [("a", 1)], {}, ArgumentsError),
        ("x", {"a": float("nan")}, {}, ArgumentsError),
        ("x", {"a": [{"b": float("inf")}]}, {}, ArgumentsError),
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


async def test_a_known_handler_too_wants_its_arguments_by_name() -> None:
    app, _, mail = with_send()
    with pytest.raises(ArgumentsError, match=r"^email\.send: arguments are named by text"):
        await app.enqueue_by_name("email.send", None)  # pyright: ignore[reportArgumentType]
    assert mail.calls == []


async def test_an_option_there_is_not_is_refused_and_the_others_are_named() -> None:
    app, backend = made()
    dealy: Any = {"dealy": "1h"}
    known = f"expected one of {', '.join(OPTIONS)}, delay, at"
    with pytest.raises(InvalidArgumentError, match=f"'dealy': {known}. Is delay meant"):
        await app.enqueue_by_name("x", {}, **dealy)
    with pytest.raises(InvalidArgumentError, match="'dealy'"):
        await app.enqueue_raw(b"", **dealy)
    assert backend.opened == 0


async def test_raw_bytes_are_enqueued_as_they_are_without_a_name() -> None:
    app, backend = made()
    handle = await app.enqueue_raw(b"\x00\xff", queue="orders")
    assert backend.queue("orders").jobs == [NewJob(handle.id, b"\x00\xff")]
    wrong: Any = "text"
    with pytest.raises(InvalidArgumentError, match="expected bytes"):
        await app.enqueue_raw(wrong)
