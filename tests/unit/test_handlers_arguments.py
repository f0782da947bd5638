from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, cast

import pytest

from echomq_worker.domain.job import JobId
from echomq_worker.errors import ArgumentsError, HandlerError
from echomq_worker.handlers import (
    INJECTED,
    Handler,
    JobContext,
    State,
    handler_options,
    named_handler,
)

CONTEXT = JobContext(
    id=JobId("JOB0NsUH6L9tuD"), queue="mail", name="email.send", attempt=1, max_attempts=3
)


class Pool:
    """Not for JSON."""


def made(function: Callable[..., Any], name: str = "email.send") -> Handler:
    return named_handler(function, name=name, queue="mail", options=handler_options())


def received(handler: Handler, payload: bytes) -> Any:
    return handler.bind(payload, CONTEXT, None)()


def send(to: str, n: int = 3, *, urgent: bool = False) -> tuple[str, int, bool]:
    return to, n, urgent


def test_arguments_are_stored_by_name_as_one_flat_object() -> None:
    assert made(send).encode_arguments(("a@b.c",), {"urgent": True}) == (
        b'{"to":"a@b.c","urgent":true}'
    )


def test_what_was_left_out_is_the_default_of_the_function_that_runs() -> None:
    handler = made(send)
    assert received(handler, handler.encode_arguments(("a@b.c",), {})) == ("a@b.c", 3, False)


def test_a_mutable_default_is_shared_as_in_any_python_call() -> None:
    shared: list[int] = [1]

    def append(values: list[int] = shared) -> list[int]:
        return values

    assert received(made(append), b"{}") is shared


def test_a_payload_written_by_hand_is_read() -> None:
    assert received(made(send), b' {"n": 7, "to": "x"} ') == ("x", 7, False)


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((), {}, 'email.send: missing argument "to"'),
        ((1,), {}, 'email.send: argument "to": expected `str`, got `int`'),
        (("x", None), {}, 'email.send: argument "n": expected `int`, got `null`'),
        (("x", True), {}, 'email.send: argument "n": expected `int`, got `bool`'),
        (("x",), {"cc": 1}, 'email.send: unknown argument "cc"; it takes: to, n, urgent'),
        (("x",), {"to": "y"}, 'email.send: argument "to" given twice, by position and by name'),
        (
            ("x", 1, True),
            {},
            "email.send: 3 positional arguments given, expected at most 2",
        ),
        ((b"x",), {}, 'email.send: argument "to": expected `str`, got `bytes`'),
    ],
)
def test_wrong_arguments_are_refused_when_enqueued(
    args: tuple[Any, ...], kwargs: dict[str, Any], message: str
) -> None:
    with pytest.raises(ArgumentsError) as refused:
        made(send).encode_arguments(args, kwargs)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (b"{}", 'email.send: missing argument "to"'),
        (b'{"to":1}', 'email.send: argument "to": expected `str`, got `int`'),
        (b'{"to":"x","old":1}', 'email.send: unknown argument "old"; it takes: to, n, urgent'),
        (b'["x"]', "email.send: the payload is no JSON object of arguments"),
        (b"", "email.send: the payload is no JSON object of arguments"),
        (b"\x80\x04N.", "email.send: the payload is no JSON object of arguments (JSON is malf"),
        (b'{"to":"\xff"}', 'email.send: argument "to": '),
    ],
)
def test_a_payload_that_does_not_fit_is_refused_when_run(payload: bytes, message: str) -> None:
    with pytest.raises(ArgumentsError) as refused:
        made(send).bind(payload, CONTEXT, None)
    assert str(refused.value).startswith(message)


def test_the_worker_fills_in_the_context_and_the_state() -> None:
    def run(
        to: str, *, context: JobContext = INJECTED, pool: State[Pool] = INJECTED
    ) -> tuple[str, JobContext, Pool]:
        return to, context, pool

    pool = Pool()
    assert made(run).bind(b'{"to":"x"}', CONTEXT, pool)() == ("x", CONTEXT, pool)


def test_a_context_may_stand_anywhere_and_be_optional() -> None:
    def first(context: JobContext, to: str) -> tuple[JobContext, str]:
        return context, to

    def optional(to: str, context: JobContext | None = None) -> tuple[str, JobContext | None]:
        return to, context

    assert made(first).encode_arguments(("x",), {}) == b'{"to":"x"}'
    assert made(first).bind(b'{"to":"x"}', CONTEXT, None)() == (CONTEXT, "x")
    assert made(optional).bind(b'{"to":"x"}', CONTEXT, None)() == ("x", CONTEXT)
    assert optional("x") == ("x", None)


@pytest.mark.parametrize("name", ["context", "pool"])
def test_a_producer_cannot_fill_in_what_is_the_workers(name: str) -> None:
    def run(*, context: JobContext = INJECTED, pool: State[Pool] = INJECTED) -> None: ...

    message = f'email.send: argument "{name}" is filled in by the worker: leave it out'
    with pytest.raises(ArgumentsError) as refused:
        made(run).encode_arguments((), {name: 1})
    assert str(refused.value) == message


def test_the_placeholder_says_that_it_is_one() -> None:
    def run(context: JobContext = INJECTED) -> int:
        return context.attempt

    with pytest.raises(AttributeError, match="filled in by the worker"):
        run()
    assert repr(INJECTED) == "INJECTED"


def test_parameters_that_have_no_name_to_store_are_refused() -> None:
    def star(*to: str) -> None: ...

    def stars(**to: str) -> None: ...

    def positional(to: str, /) -> None: ...

    for function in (star, stars, positional):
        with pytest.raises(HandlerError, match=r'parameter "to" .* declare each argument'):
            made(function)


def test_an_annotation_that_does_not_resolve_is_refused_with_a_hint() -> None:
    def run(to: str) -> None: ...

    run.__annotations__["to"] = "Nowhere"
    with pytest.raises(HandlerError, match=r"name 'Nowhere' is not defined.*TYPE_CHECKING"):
        made(run)


@pytest.mark.parametrize("name", ["", "two words", "né", "x" * 201, "a\n", 7])
def test_a_name_that_cannot_be_a_handlers_is_refused(name: Any) -> None:
    with pytest.raises(HandlerError, match="cannot name a handler"):
        made(send, name)


def test_only_a_function_is_a_handler() -> None:
    for other in (partial(send, "x"), Pool, 7):
        with pytest.raises(
            HandlerError, match=r"email\.send: .* cannot be a handler: expected a f"
        ):
            made(cast("Any", other))


def test_a_generator_is_no_handler() -> None:
    def run() -> Iterable[int]:
        yield 1

    with pytest.raises(HandlerError, match="is a generator function"):
        made(run)


def test_a_handler_knows_whether_it_is_async() -> None:
    async def run() -> None: ...

    assert made(run).is_async
    assert not made(send).is_async
