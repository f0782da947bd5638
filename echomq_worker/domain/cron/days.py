"""Which days of a month an expression means."""

from dataclasses import dataclass, field
from datetime import date

from echomq_worker.domain.cron.fields import (
    DAY,
    WEEKDAY,
    Fields,
    Item,
    LastDay,
    LastOfWeekday,
    LastWorkday,
    NearestWorkday,
    NthWeekday,
    mask,
)

_WEEK = 7
_SATURDAY = 6
_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_FEBRUARY = 2


@dataclass(frozen=True, slots=True)
class Days:
    """The days of one expression, by the rule of cron for its two fields of days.

    If neither field begins with `*`, a day matches when either one does; else both must match
    (Debian's cron, where `*/2` begins with a star as well).
    """

    fields: Fields
    _known: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])
    """By the weekday of the first day and by length: there are no other months than these 28."""

    def in_month(self, year: int, month: int) -> int:
        """Return the days of a month that match, as bits: bit n for the n-th."""
        return self.of_shape(date(year, month, 1).isoweekday() % _WEEK, length_of(year, month))

    def of_shape(self, first: int, length: int) -> int:
        """Return the same of a month that begins with the weekday `first` (Sunday is 0)."""
        found = self._known.get((first, length))
        if found is None:
            found = self._known[first, length] = self._matching(first, length)
        return found

    def _matching(self, first: int, length: int) -> int:
        days = mask(DAY, self.fields.day)
        for item in self.fields.day:
            days |= _special_day(item, first, length)
        on = mask(WEEKDAY, self.fields.weekday)
        weekdays = sum(
            1 << day for day in range(1, length + 1) if on >> ((first + day - 1) % _WEEK) & 1
        )
        for item in self.fields.weekday:
            weekdays |= _special_weekday(item, first, length)
        days &= (2 << length) - 2
        return days & weekdays if self.fields.needs_both_days else days | weekdays


def length_of(year: int, month: int) -> int:
    """Return how many days a month has."""
    leap = month == _FEBRUARY and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return _LENGTHS[month - 1] + leap


def _special_day(item: Item, first: int, length: int) -> int:
    day = 0
    match item:
        case LastDay(before):
            day = max(length - before, 0)
        case LastWorkday():
            day = _nearest_workday(length, first, length)
        case NearestWorkday(wanted) if wanted <= length:
            day = _nearest_workday(wanted, first, length)
        case _:
            pass
    return 1 << day if day else 0


def _special_weekday(item: Item, first: int, length: int) -> int:
    day = 0
    match item:
        case NthWeekday(weekday, nth):
            day = (weekday - first) % _WEEK + 1 + (nth - 1) * _WEEK
        case LastOfWeekday(weekday):
            day = length - (first + length - 1 - weekday) % _WEEK
        case _:
            pass
    return 1 << day if 0 < day <= length else 0


def _nearest_workday(day: int, first: int, length: int) -> int:
    weekday = (first + day - 1) % _WEEK
    if weekday == _SATURDAY:
        return day - 1 if day > 1 else day + 2
    if weekday == 0:
        return day + 1 if day < length else day - 2
    return day
