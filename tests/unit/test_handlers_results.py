import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from echomq_worker.errors import HandlerError, ResultError
from echomq_worker.handlers import (
    Handler,
    handler_options,
    named_handler,
)


@dataclass
class Address:
    street: str
    since: dt.date = dt.date(2020, 1, 1)


class Pool:
    """Not for JSON."""


def made(function: Callable[..., Any], name: str = "email.send") -> Handler:
    return named_handler(function, name=name, queue="mail", options=handler_options())


def send(to: str, n: int = 3, *, urgent: bool = False) -> tuple[str, int, bool]:
    return to, n, urgent


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
