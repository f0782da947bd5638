import datetime as dt
import enum
import math
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple, NewType, TypedDict

import msgspec
import pytest

from echomq_worker.domain.job import JobId
from echomq_worker.errors import ArgumentsError, HandlerError, ResultError
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


class Colour(enum.Enum):
    RED = "red"


class Size(enum.IntEnum):
    BIG = 3


@dataclass
class Address:
    street: str
    since: dt.date = dt.date(2020, 1, 1)


@dataclass
class Person:
    name: str
    homes: list[Address] = field(default_factory=list[Address])


class Point(msgspec.Struct):
    x: int
    y: int = 0


class Pair(NamedTuple):
    left: int
    right: str


class Movie(TypedDict):
    title: str
    year: int


UserId = NewType("UserId", int)


class Pool:
    """Not for JSON."""


def made(function: Callable[..., Any], name: str = "email.send") -> Handler:
    return named_handler(function, name=name, queue="mail", options=handler_options())


def received(handler: Handler, payload: bytes) -> Any:
    return handler.bind(payload, CONTEXT, None)()


def echo(annotation: Any) -> Handler:
    def echo(value: Any) -> Any:
        return value

    echo.__annotations__["value"] = annotation
    return made(echo, "echo")


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
    ("annotation", "value"),
    [
        (str, "é\u2028\x00"),
        (int, -(2**63)),
        (int, 2**80),
        (float, 0.1),
        (float, 2),
        (bool, True),
        (None, None),
        (str | None, None),
        (int | str, "x"),
        (bytes, b"\x00\xff"),
        (dt.datetime, dt.datetime(2026, 3, 29, 2, 30, 0, 123456, dt.UTC)),
        (dt.datetime, dt.datetime(2026, 3, 29, 2, 30)),  # noqa: DTZ001 - naive stays naive
        (dt.date, dt.date(2024, 2, 29)),
        (dt.time, dt.time(23, 59, 59)),
        (dt.timedelta, dt.timedelta(days=1, microseconds=1)),
        (uuid.UUID, uuid.UUID(int=7)),
        (Decimal, Decimal("1.10")),
        (Colour, Colour.RED),
        (Size, Size.BIG),
        (Literal["a", "b"], "b"),
        (Person, Person("ann", [Address("x", dt.date(2021, 1, 1))])),
        (Point, Point(1, 2)),
        (Pair, Pair(1, "x")),
        (Movie, {"title": "M", "year": 1931}),
        (UserId, UserId(7)),
        (list[Point], [Point(1)]),
        (Sequence[int], [1, 2]),
        (set[int], {1, 2}),
        (frozenset[str], frozenset({"a"})),
        (tuple[int, str], (1, "x")),
        (tuple[int, ...], (1, 2, 3)),
        (dict[str, Decimal], {"a": Decimal(1)}),
        (dict[int, list[str]], {1: ["x"]}),
        (dict[uuid.UUID, int], {uuid.UUID(int=1): 1}),
        (Any, {"free": [1, None, "x"]}),
        (Annotated[int, msgspec.Meta(ge=1)], 1),
    ],
)
def test_a_value_comes_back_as_what_its_annotation_says(annotation: object, value: object) -> None:
    handler = echo(annotation)
    back = received(handler, handler.encode_arguments((value,), {}))
    assert (type(back), back) == (float if annotation is float else type(value), value)


def test_a_parameter_without_annotation_takes_any_json() -> None:
    def echo(value: Any) -> Any:
        return value

    del echo.__annotations__["value"]
    handler = made(echo)
    assert received(handler, handler.encode_arguments(([1, {"a": None}],), {})) == [1, {"a": None}]


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
    ("annotation", "value"),
    [
        (float, math.nan),
        (float, math.inf),
        (str, "\ud800"),
        (Person, Person(name=7)),  # pyright: ignore[reportArgumentType]
        (Any, Pool()),
        (dt.datetime, "tomorrow"),
        (Annotated[int, msgspec.Meta(ge=1)], 0),
        (dict[str, int], {1: 1}),
    ],
)
def test_what_a_worker_could_not_read_back_is_refused_when_enqueued(
    annotation: object, value: object
) -> None:
    with pytest.raises(ArgumentsError, match=r'^echo: argument "value": '):
        echo(annotation).encode_arguments((value,), {})


def test_a_value_too_deep_for_json_is_refused_when_enqueued() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ArgumentsError, match='argument "value"'):
        echo(Any).encode_arguments((deep,), {})


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


def test_a_class_that_refuses_its_values_counts_as_a_payload_that_does_not_fit() -> None:
    @dataclass
    class Picky:
        n: int

        def __post_init__(self) -> None:
            raise ZeroDivisionError(self.n)

    with pytest.raises(ArgumentsError, match='argument "value"'):
        echo(Picky).bind(b'{"value":{"n":1}}', CONTEXT, None)


@pytest.mark.parametrize(
    ("annotation", "hint"),
    [
        (Pool, "Pool: use a dataclass, a msgspec.Struct, or plain types"),
        (list[dict[str, Pool]], "use a dataclass"),
        (Pool | None, "use a dataclass"),
        (object, "object: annotate with Any"),
        (Iterable[int], "use list, tuple, set"),
        (Callable[[], int], "use list, tuple, set"),
        (complex, "use a dataclass"),
        (dt.datetime | str, "may not contain more than one str-like type"),
        (Address | Person, "this annotation cannot be read from JSON"),
        (Exception, "use a dataclass"),
    ],
)
def test_an_annotation_that_json_cannot_carry_is_refused_at_registration(
    annotation: object, hint: str
) -> None:
    with pytest.raises(HandlerError) as refused:
        echo(annotation)
    assert str(refused.value).startswith('echo: argument "value": ')
    assert hint in str(refused.value)


def test_a_class_that_contains_itself_is_checked_once() -> None:
    handler = echo(Tree)
    value = Tree([Tree([])])
    assert received(handler, handler.encode_arguments((value,), {})) == value


@dataclass
class Tree:
    branches: list["Tree"]


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


def test_a_generator_is_no_handler() -> None:
    def run() -> Iterable[int]:
        yield 1

    with pytest.raises(HandlerError, match="is a generator function"):
        made(run)


def test_a_handler_knows_whether_it_is_async() -> None:
    async def run() -> None: ...

    assert made(run).is_async
    assert not made(send).is_async


def test_a_result_comes_back_as_what_the_handler_is_declared_to_return() -> None:
    def run() -> list[Address]: ...

    handler = made(run)
    result = [Address("x")]
    assert handler.decode_result(handler.encode_result(result)) == result


def test_a_result_that_json_cannot_carry_is_told_apart_from_bad_arguments() -> None:

    with pytest.raises(ResultError, match=r"email.send returned a Pool that JSON cannot carry"):
        made(send).encode_result(Pool())
    with pytest.raises(ResultError, match="is not what it is declared to return"):
        made(send).decode_result(b'"x"')


def test_a_handler_that_keeps_results_must_return_what_json_can_carry() -> None:
    def run() -> Pool: ...

    named_handler(run, name="run", queue="q", options=handler_options())
    with pytest.raises(HandlerError, match="run: the kept result: JSON cannot carry"):
        named_handler(run, name="run", queue="q", options=handler_options(keep_result="1h"))
