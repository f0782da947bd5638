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
from echomq_worker.errors import ArgumentsError, HandlerError
from echomq_worker.handlers import (
    Handler,
    JobContext,
    handler_options,
    named_handler,
)

CONTEXT = JobContext(
    id=JobId("JOB0NsUH6L9tuD"), queue="mail", name="email.send", attempt=1, max_attempts=3
)
UserId = NewType("UserId", int)


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


class Pool:
    """Not for JSON."""


@dataclass
class Tree:
    branches: list["Tree"]


def made(function: Callable[..., Any], name: str = "email.send") -> Handler:
    return named_handler(function, name=name, queue="mail", options=handler_options())


def received(handler: Handler, payload: bytes) -> Any:
    return handler.bind(payload, CONTEXT, None)()


def echo(annotation: Any) -> Handler:
    def echo(value: Any) -> Any:
        return value

    echo.__annotations__["value"] = annotation
    return made(echo, "echo")


@pytest.mark.case("PAY-03")
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


@pytest.mark.case("PAY-03")
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


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (float | None, math.nan),
        (Any, -math.inf),
        (Any, {"a": [1, (None, math.nan)]}),
        (list[float | None], [None, math.inf]),
    ],
)
def test_a_number_that_would_become_null_is_refused_when_enqueued(
    annotation: object, value: object
) -> None:
    with pytest.raises(ArgumentsError, match=r'^echo: argument "value": JSON cannot carry'):
        echo(annotation).encode_arguments((value,), {})


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (Any, {1: 2}),
        (list[Any], [{"a": {-1: 2}}]),
        (dict[int, Any], {1: {2: 3}}),
        (dict[str, dict[Any, int]], {"a": {1.5: 2}}),
    ],
)
def test_a_key_that_would_become_a_text_is_refused_when_enqueued(
    annotation: object, value: object
) -> None:
    with pytest.raises(ArgumentsError, match=r'^echo: argument "value"'):
        echo(annotation).encode_arguments((value,), {})


def test_a_number_is_a_key_where_the_annotation_says_so() -> None:
    payload = echo(dict[int, dict[str, Any]]).encode_arguments(({1: {"2": 3}},), {})
    assert payload == b'{"value":{"1":{"2":3}}}'


def test_a_null_next_to_finite_numbers_is_no_mistake() -> None:
    handler = echo(list[float | None])
    assert received(handler, handler.encode_arguments(([1.5, None],), {})) == [1.5, None]


def test_a_value_too_deep_for_json_is_refused_when_enqueued() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ArgumentsError, match='argument "value"'):
        echo(Any).encode_arguments((deep,), {})


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
