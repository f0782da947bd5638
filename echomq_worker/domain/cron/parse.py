"""Reads a cron expression. Whatever is wrong with it is found here, and the field is named."""

import re
from typing import NoReturn

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
from echomq_worker.errors import CronError

LONGEST = 200
"""Characters in an expression."""

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


def normal_expression(expression: object) -> str:
    """Return an expression with one space between its fields, as it is kept and shown.

    Raises:
        CronError: if it is no text of 1 to 200 ASCII characters without control characters.
    """
    if not isinstance(expression, str):
        msg = f"{type(expression).__name__} is no cron expression: expected text"
        raise CronError(msg)
    shown = f"{expression[:LONGEST]!a}"
    if len(expression) > LONGEST:
        msg = f"a cron expression of {len(expression)} characters: expected at most {LONGEST}"
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
    texts = expression.lower().split(" ")
    if len(texts) not in {5, 6}:
        msg = (
            f"{expression!r} has {len(texts)} field{'s' * (len(texts) > 1)}: expected 5 ({_ORDER})"
            f", or 6 with the second first"
        )
        raise CronError(msg)
    *second, minute, hour, day, month, weekday = texts
    return Fields(
        second=_spans(SECOND, second[0] if second else "0", expression),
        minute=_spans(MINUTE, minute, expression),
        hour=_spans(HOUR, hour, expression),
        day=tuple(_day(item, expression) for item in _listed(day)),
        month=_spans(MONTH, month, expression),
        weekday=tuple(_weekday(item, expression) for item in _listed(weekday)),
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


def _listed(text: str) -> list[str]:
    return text.split(",")


def _spans(field: Field, text: str, expression: str) -> tuple[Span, ...]:
    return tuple(_span(field, item, expression) for item in _listed(text))


def _day(text: str, expression: str) -> Item:
    if text == "?":
        text = "*"
    if text == "lw":
        return LastWorkday()
    if text == "l":
        return LastDay()
    if match := re.fullmatch(r"l-([0-9]{1,2})", text):
        if 1 <= (before := int(match[1])) < DAY.high:
            return LastDay(before)
        _refuse(DAY, text, expression, "at most 30 days before the last one")
    if match := re.fullmatch(r"([0-9]{1,2})w", text):
        if (number := DAY.number(match[1])) is not None:
            return NearestWorkday(number)
        _refuse(DAY, text, expression)
    return _span(DAY, text, expression)


def _weekday(text: str, expression: str) -> Item:
    if text == "?":
        text = "*"
    if match := re.fullmatch(r"([0-9a-z]+)#([0-9]{1,2})", text):
        number = WEEKDAY.number(match[1])
        if number is None or not 1 <= int(match[2]) <= _MOST_NTH:
            _refuse(WEEKDAY, text, expression, "the 1st to the 5th of a weekday, such as FRI#2")
        return NthWeekday(number % 7, int(match[2]))
    if text == "l":
        _refuse(WEEKDAY, text, expression, "L with its weekday: 5L is the last Friday")
    if match := re.fullmatch(r"([0-7]|[a-z]{3})l|l([0-7]|[a-z]{3})", text):
        number = WEEKDAY.number(match[1] or match[2])
        if number is None:
            _refuse(WEEKDAY, text, expression)
        return LastOfWeekday(number % 7)
    return _span(WEEKDAY, text, expression)


def _span(field: Field, text: str, expression: str) -> Span:
    if _LONG_NUMBER.search(text):
        _refuse(field, text, expression, "numbers of at most 2 digits")
    match = _SPAN.fullmatch(text)
    if match is None:
        _refuse(field, text, expression)
    first, last, every = match.groups()
    step = int(every or 1)
    if step == 0:
        _refuse(field, text, expression, "a step of 1 or more")
    if first == "*" and last is None:
        return Span(field.low, field.high, step, star=True)
    start = field.number(first)
    stop = start if last is None else field.number(last)
    if start is None or stop is None:
        _refuse(field, text, expression)
    if last is None:
        return Span(start, field.high if every else start, step)
    if start > stop and not field.wraps:
        _refuse(field, text, expression, "a range from the smaller to the larger")
    if start > stop and field is WEEKDAY:
        start %= WEEKDAY.high  # 7 is Sunday, as 0 is
    return Span(start, stop, step)


def _refuse(field: Field, text: str, expression: str, expected: str = "") -> NoReturn:
    what = (
        f"{field.title} {text!r} of {expression!r}" if text else f"{field.title} of {expression!r}"
    )
    why = "cannot be read" if text else "has an empty item"
    msg = f"the {what} {why}: expected {expected or field.expected}"
    raise CronError(msg)
