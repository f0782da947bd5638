"""What a handler or a producer may say about keys, and what the handle tells of it."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from echomq_worker import Admission, EchoMQ, HandlerError, InvalidArgumentError, debounce, throttle
from echomq_worker.domain.unique import wire_key
from echomq_worker.testing import InlineBackend

Made = tuple[EchoMQ, Any, InlineBackend]


def made(**declared: Any) -> Made:
    backend = InlineBackend()
    app = EchoMQ(backend=backend, default_queue="q")

    @app.job("work", batch=None, **declared)
    async def work(order: int = 0, *, note: str = "") -> None:
        del order, note

    return app, work, backend


def by_order(order: int = 0, **_: object) -> str:
    return f"order:{order}"


def none_at_zero(order: int) -> int | None:
    return order or None


def fails(*_args: object, **_kwargs: object) -> str:
    raise ZeroDivisionError


def always(answer: object) -> Callable[..., object]:
    def key(order: int) -> object:
        del order
        return answer

    return key


def payloads(backend: InlineBackend) -> list[str]:
    return [row.payload.decode() for row in backend.queue("q").memory.rows.values()]


async def test_the_handle_is_that_of_the_job_that_won_and_says_why() -> None:
    app, work, backend = made(key=by_order)
    first = await work.enqueue(1)
    second = await work.enqueue(1, note="again")
    other = await work.enqueue(2)
    assert (first.created, first.admission) == (True, Admission.ENQUEUED)
    assert (second.created, second.admission) == (False, Admission.HELD)
    assert second == first != other
    assert len(payloads(backend)) == 2
    assert await app.queues.holder("order:1") == first.id
    assert await app.queues.holder("order:3") is None


async def test_every_way_to_enqueue_knows_the_key() -> None:
    app, work, _ = made(key=by_order)
    first = await work.enqueue(1)
    others = [
        await work.enqueue_in("1m", 1),
        await app.enqueue_by_name("work", {"order": 1}),
        *await app.enqueue_many(work.call(1) for _ in range(2)),
        await work.options(queue="q").enqueue(1),
        await app.enqueue_raw(b"", queue="q", key="order:1"),
        await app.enqueue_by_name("elsewhere", {}, key="order:1"),
    ]
    assert {each.id for each in others} == {first.id}
    assert not any(each.created for each in others)


async def test_jobs_with_and_without_a_key_go_in_one_call() -> None:
    app, work, backend = made(key=none_at_zero)
    handles = await app.enqueue_many(work.call(order) for order in (0, 1, 0, 1, 2))
    assert [each.created for each in handles] == [True, True, True, False, True]
    assert handles[1] == handles[3]
    assert len(payloads(backend)) == 4


async def test_what_a_producer_says_wins() -> None:
    _, work, _ = made(key=fails)
    first = await work.options(key="mine").enqueue(1)
    second = await work.options(key="mine", mode="replace").enqueue(2)
    assert (second.id, second.admission) == (first.id, Admission.REPLACED)


async def test_a_text_is_one_key_for_all_jobs_of_a_handler() -> None:
    _, work, _ = made(key="nightly", mode=throttle("1h"))
    assert (await work.enqueue(1)).created
    assert not (await work.enqueue(2)).created


async def test_a_debounced_job_says_that_it_was_postponed() -> None:
    _, work, backend = made(key="all", mode=debounce("5s", max="1m"))
    admissions = [(await work.enqueue(n)).admission for n in range(3)]
    assert admissions == [Admission.SCHEDULED, Admission.POSTPONED, Admission.POSTPONED]
    assert payloads(backend) == ['{"order":2}']


def test_the_handle_of_the_blocking_client_says_it_too() -> None:
    app, work, _ = made(key=by_order)
    first, second = app.sync.enqueue(work, 1), app.sync.enqueue(work, 1)
    app.sync.close()
    assert (first.created, first.admission) == (True, "enqueued")
    assert (second.created, second.admission) == (False, "held")


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        (fails, "work: its function for the key raised ZeroDivisionError"),
        (lambda: "x", "its function for the key raised TypeError"),
        *((always(answer), "expected a text of 1 to 1000") for answer in ("", 1.5, b"x")),
    ],
)
async def test_a_function_that_gives_no_key_is_an_error_at_enqueue(
    key: Callable[..., Any], hint: str
) -> None:
    _, work, backend = made(key=key)
    with pytest.raises(InvalidArgumentError, match=re.escape(hint)):
        await work.enqueue(1)
    assert payloads(backend) == []


@pytest.mark.parametrize(
    "declared",
    [
        {"key": ""},
        {"key": 1.5},
        {"key": "x", "mode": "debounce"},
        {"key": "x", "release": "later"},
        {"mode": "reject"},
        {"release": "start"},
    ],
)
async def test_what_cannot_be_used_is_an_error_where_it_is_said(declared: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError):
        made(**declared)
    _, work, _ = made()
    with pytest.raises(InvalidArgumentError):
        work.options(**declared)


def test_a_raw_handler_declares_no_key() -> None:
    app, _, _ = made()
    with pytest.raises(HandlerError, match="given to enqueue_raw"):
        app.raw_handler(queue="raw", key="x")


def test_a_key_of_the_wire_is_safe_to_ask_for_again() -> None:
    assert wire_key(wire_key("order:1")) == wire_key("order:1")


async def test_a_key_is_set_free_by_hand() -> None:
    app, work, _ = made(key=by_order)
    await work.enqueue(1)
    assert await app.queues.release("order:1")
    assert not await app.queues.release("order:1", queue="q")
    assert (await work.enqueue(1)).created


def test_code_that_blocks_sets_a_key_free_too() -> None:
    app, work, _ = made(key=by_order)
    first = app.sync.enqueue(work, 1)
    assert app.sync.queues.holder("order:1") == first.id
    assert app.sync.queues.release("order:1")
    assert app.sync.queues.holder("order:1") is None
    app.sync.close()
