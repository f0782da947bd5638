"""The six fields of a cron expression: what each may hold, and the items that it holds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Field:
    """One field."""

    title: str
    low: int
    high: int
    expected: str
    names: tuple[str, ...] = ()
    """The names of `low` and what follows it, in lower case."""
    wraps: bool = False
    """Whether a range may lead over the end: `FRI-MON`, `22-2`."""

    def number(self, text: str) -> int | None:
        """Return the value of a number or a name in lower case; None if it is out of range."""
        if text in self.names:
            return self.low + self.names.index(text)
        value = int(text) if text.isdigit() else -1
        return value if self.low <= value <= self.high else None


WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

SECOND = Field("second", 0, 59, "0-59")
MINUTE = Field("minute", 0, 59, "0-59")
HOUR = Field("hour", 0, 23, "0-23", wraps=True)
DAY = Field("day of month", 1, 31, "1-31, L, L-3, LW, 15W or ?")
MONTH = Field("month", 1, 12, "1-12 or JAN-DEC", MONTHS, wraps=True)
WEEKDAY = Field("weekday", 0, 7, "0-7 or SUN-SAT, FRI#2, 5L or ?", WEEKDAYS, wraps=True)


@dataclass(frozen=True, slots=True)
class Span:
    """`*`, `n`, `a-b` or `n/step`: each `step`-th value from `start` to `stop`.

    Where `stop` is the smaller one, the range leads over the end of its field.
    """

    start: int
    stop: int
    step: int = 1
    star: bool = False


@dataclass(frozen=True, slots=True)
class LastDay:
    """`L`, `L-3`: so many days before the last day of the month."""

    before: int = 0


@dataclass(frozen=True, slots=True)
class LastWorkday:
    """`LW`: the last day of the month that is no Saturday or Sunday."""


@dataclass(frozen=True, slots=True)
class NearestWorkday:
    """`15W`: the day from Monday to Friday that is nearest to that day, in the same month."""

    day: int


@dataclass(frozen=True, slots=True)
class NthWeekday:
    """`FRI#2`: the second Friday of the month. Sunday is 0."""

    weekday: int
    nth: int


@dataclass(frozen=True, slots=True)
class LastOfWeekday:
    """`5L`, `L5`: the last Friday of the month. Sunday is 0."""

    weekday: int


Item = Span | LastDay | LastWorkday | NearestWorkday | NthWeekday | LastOfWeekday


@dataclass(frozen=True, slots=True)
class Fields:
    """An expression, read."""

    second: tuple[Span, ...]
    minute: tuple[Span, ...]
    hour: tuple[Span, ...]
    day: tuple[Item, ...]
    month: tuple[Span, ...]
    weekday: tuple[Item, ...]

    @property
    def follows_real_time(self) -> bool:
        """Whether it is a wildcard schedule: its second, minute or hour begins with `*`."""
        return any(items[0].star for items in (self.second, self.minute, self.hour))

    @property
    def needs_both_days(self) -> bool:
        """Whether day of month and weekday must both match: one of them begins with `*`."""
        return begins_with_star(self.day) or begins_with_star(self.weekday)


def begins_with_star(items: tuple[Item, ...]) -> bool:
    """Return whether a field begins with `*`: then it counts as one that restricts nothing."""
    return isinstance(items[0], Span) and items[0].star


def values(field: Field, items: tuple[Item, ...]) -> list[int]:
    """Return the values of the spans among `items`, in order. Sunday is 0, never 7."""
    size = 7 if field is WEEKDAY else field.high - field.low + 1
    found: set[int] = set()
    for item in items:
        if isinstance(item, Span):
            stop = item.stop if item.start <= item.stop else item.stop + size
            numbers = range(item.start, stop + 1, item.step)
            found.update((number - field.low) % size + field.low for number in numbers)
    return sorted(found)


def mask(field: Field, items: tuple[Item, ...]) -> int:
    """Return the same as bits: bit n for the value n."""
    return sum(1 << value for value in values(field, items))
