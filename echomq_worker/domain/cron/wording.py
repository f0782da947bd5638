"""The words for the values of a field: `hours 9 to 17`, `every 2nd day`, `Monday to Friday`."""

from collections.abc import Sequence

from echomq_worker.domain.cron.fields import (
    MONTH,
    WEEKDAY,
    Field,
    Item,
    LastDay,
    LastOfWeekday,
    LastWorkday,
    NearestWorkday,
    NthWeekday,
    Span,
    values,
)

_WEEKDAY_NAMES = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_MONTH_NAMES = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_RUN = 3


def has_all(field: Field, items: Sequence[Item]) -> bool:
    """Return whether a field restricts nothing."""
    return len(values(field, tuple(items))) >= field.high - field.low + (field is not WEEKDAY)


def step_of(field: Field, items: Sequence[Item]) -> int | None:
    """Return n if a field is `*/n` and n goes evenly into it, 1 if it has all; else None."""
    if has_all(field, items):
        return 1
    (first, *more) = items
    if more or not isinstance(first, Span) or not first.star:
        return None
    return first.step if (field.high - field.low + 1) % first.step == 0 else None


def joined(words: Sequence[str], last: str = "and") -> str:
    """Return `a, b and c`."""
    *some, final = words
    return f"{', '.join(some)} {last} {final}" if some else final


def ordinal(number: int) -> str:
    """Return `1st`, `2nd`, `3rd`, `11th`."""
    teen = number // 10 % 10 == 1
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def shown(field: Field, items: tuple[Item, ...]) -> list[str]:
    """Return the spans among `items` as words, one for each value or run of values."""
    if len(items) == 1 and isinstance(span := items[0], Span) and span.step == 1:
        if span.start == span.stop:
            return [_named(field, span.start)]
        if span.stop - span.start != 1:
            return [f"{_named(field, span.start)} to {_named(field, span.stop)}"]
    numbers = values(field, items)
    if field is WEEKDAY:  # a week is told from Monday on
        numbers = sorted(number or WEEKDAY.high for number in numbers)
    return [word for run in _runs(numbers) for word in _run(field, run)]


def counted(field: Field, items: tuple[Item, ...]) -> str:
    """Return `minute 5`, `minutes 0 and 30`, `hours 9 to 17`."""
    words = shown(field, items)
    unit = field.title.removesuffix(" of month")
    return f"{unit}{'s' if len(values(field, items)) > 1 else ''} {joined(words)}"


def special(item: Item) -> str:
    """Return the words for an item that is no span, such as `the last workday`."""
    match item:
        case LastDay(before):
            words = f"{ordinal(before + 1)} last day" if before else "last day"
        case LastWorkday():
            words = "last workday"
        case NearestWorkday(day):
            words = f"workday nearest to day {day}"
        case NthWeekday(weekday, nth):
            words = f"{ordinal(nth)} {_WEEKDAY_NAMES[weekday]}"
        case LastOfWeekday(weekday):
            words = f"last {_WEEKDAY_NAMES[weekday]}"
        case Span():
            return ""
    return f"the {words}"


def _named(field: Field, value: int) -> str:
    if field is MONTH:
        return _MONTH_NAMES[value - 1]
    return _WEEKDAY_NAMES[value % 7] if field is WEEKDAY else str(value)


def _runs(numbers: list[int]) -> list[list[int]]:
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs


def _run(field: Field, run: list[int]) -> list[str]:
    if len(run) < _RUN:
        return [_named(field, number) for number in run]
    return [f"{_named(field, run[0])} to {_named(field, run[-1])}"]
