"""Reads a cron expression. Whatever is wrong with it is found here, and the field is named."""

import re
from collections.abc import Callable
from functools import partial
from typing import NoReturn, TypeVar

from echomq_worker.domain.cron.fields import (
    DAY,
    HOUR,
    MINUTE,
    MONTH,
    SECOND,
    WEEKDAY,
    Field,
    Fields,
    Item,
    LastDay,
    LastOfWeekday,
    LastWorkday,
    NearestWorkday,
    NthWeekday,
    Span,
)
from echomq_worker.domain.limits import CRON_EXPRESSION
from echomq_worker.errors import CronError

ALIASES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_FIVE = (MINUTE, HOUR, DAY, MONTH, WEEKDAY)
_ORDER = "minute, hour, day of month, month, weekday"
_SPAN = re.compile(r"(\*|[0-9a-z]+)(?:-([0-9a-z]+))?(?:/([0-9]+))?")
_LONG_NUMBER = re.compile(r"[0-9]{3}")
_MOST_NTH = 5

ItemT = TypeVar("ItemT", bound=Item)


def normal_expression(expression: object) -> str:
    """Return an expression with one space between its fields, as it is kept and shown.

    Raises:
        CronError: if it is no text of 1 to 200 ASCII characters without control characters.
    """
    if not isinstance(expression, str):
        msg = f"{type(expression).__name__} is no cron expression: expected text"
        raise CronError(msg)
    shown = f"{expression[:CRON_EXPRESSION]!a}"
    if len(expression) > CRON_EXPRESSION:
        msg = (
            f"a cron expression of {len(expression)} characters: expected at most {CRON_EXPRESSION}"
        )
        raise CronError(msg)
    words = expression.split()
    if not words:
        msg = f"the cron expression {shown} is empty: expected 5 fields ({_ORDER})"
        raise CronError(msg)
    if not expression.replace("\t", " ").isprintable() or not expression.isascii():
        msg = f"the cron expression {shown} is not plain ASCII in {_strange_field(words)}"
        raise CronError(msg)
    return " ".join(words)


def read_fields(expression: str) -> Fields:
    """Read an expression as `normal_expression` returns it.

    Raises:
        CronError: names the field, and says what it may hold.
    """
    if expression.startswith("@"):
        return read_fields(_alias(expression))
    texts = expression.split(" ")
    if len(texts) not in {5, 6}:
        msg = (
            f"{expression!r} has {len(texts)} field{'s' * (len(texts) > 1)}: expected 5 ({_ORDER})"
            f", or 6 with the second first"
        )
        raise CronError(msg)
    *second, minute, hour, day, month, weekday = texts
    read = partial(_read, expression)
    return Fields(
        second=read(SECOND, _span, second[0] if second else "0"),
        minute=read(MINUTE, _span, minute),
        hour=read(HOUR, _span, hour),
        day=read(DAY, _day, day),
        month=read(MONTH, _span, month),
        weekday=read(WEEKDAY, _weekday, weekday),
    )


def _alias(expression: str) -> str:
    word = expression.lower().split(" ")[0]
    if word == "@every":
        msg = f"{expression!r} is an interval, not a time: give it as every=, such as every='5s'"
    elif word == "@reboot":
        msg = (
            "'@reboot' names no time, and a fleet has no moment at which it boots: enqueue a job "
            "when your program starts, or give an interval as every="
        )
    elif word == expression.lower() and word in ALIASES:
        return ALIASES[word]
    else:
        msg = f"{expression!r} is no alias: expected 5 fields ({_ORDER}), or {', '.join(ALIASES)}"
    raise CronError(msg)


def _strange_field(words: list[str]) -> str:
    fields = _FIVE if len(words) == len(_FIVE) else (SECOND, *_FIVE)
    for field, word in zip(fields, words, strict=False):
        if not (word.isascii() and word.isprintable()):
            return f"the field {field.title}"
    return "its white space"


class _WrongItemError(Exception):
    """Says what was expected in place of an item."""


def _read(
    expression: str, field: Field, item: Callable[[Field, str], ItemT], text: str
) -> tuple[ItemT, ...]:
    items: list[ItemT] = []
    for one in text.split(","):
        try:
            items.append(item(field, one.lower()))
        except _WrongItemError as error:
            what = f"cannot read the {field.title} {one!r}" if one else f"empty {field.title}"
            msg = f"{expression!r}: {what}: expected {error.args[0]}"
            raise CronError(msg) from None
    return tuple(items)


def _day(field: Field, text: str) -> Item:
    if text == "lw":
        return LastWorkday()
    if text == "l":
        return LastDay()
    if match := re.fullmatch(r"l-([0-9]{1,2})", text):
        before = int(match[1])
        if not 1 <= before < field.high:
            _wrong("L-1 to L-30, so many days before the last one")
        return LastDay(before)
    if match := re.fullmatch(r"([0-9]{1,2})w", text):
        return NearestWorkday(_number(field, match[1]))
    return _span(field, "*" if text == "?" else text)


def _weekday(field: Field, text: str) -> Item:
    if match := re.fullmatch(r"([0-9a-z]+)#([0-9]{1,2})", text):
        number, nth = _number(field, match[1]), int(match[2])
        if not 1 <= nth <= _MOST_NTH:
            _wrong("the 1st to the 5th of a weekday, such as FRI#2")
        return NthWeekday(number % field.high, nth)
    if match := re.fullmatch(r"([0-7]|[a-z]{3})l|l([0-7]|[a-z]{3})", text):
        return LastOfWeekday(_number(field, match[1] or match[2]) % field.high)
    if text == "l":
        _wrong("L with a weekday: 5L is the last Friday")
    return _span(field, "*" if text == "?" else text)


def _span(field: Field, text: str) -> Span:
    if _LONG_NUMBER.search(text):
        _wrong("numbers of at most 2 digits")
    match = _SPAN.fullmatch(text)
    if match is None:
        _wrong(field.expected)
    first, last, every = match.groups()
    step = int(every or 1)
    if step == 0:
        _wrong("a step of 1 or more")
    if first == "*" and last is None:
        return Span(field.low, field.high, step, star=True)
    start = _number(field, first)
    if last is None:
        return Span(start, field.high if every else start, step)
    stop = _number(field, last)
    if start > stop and not field.wraps:
        _wrong("a range from the smaller to the larger")
    return Span(start, stop, step)


def _wrong(expected: str) -> NoReturn:
    raise _WrongItemError(expected)


def _number(field: Field, text: str) -> int:
    number = field.number(text)
    if number is None:
        _wrong(field.expected)
    return number
