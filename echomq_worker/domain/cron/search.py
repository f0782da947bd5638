"""Finds the next wall time that an expression means, without counting through what lies between.

A wall time is a number of seconds, as if the wall showed UTC.
"""

from dataclasses import dataclass, field
from datetime import MAXYEAR, date

from echomq_worker.domain.cron.days import Days
from echomq_worker.domain.cron.fields import HOUR, MINUTE, MONTH, SECOND, Fields, mask, values

DAY_S = 86_400
_HOUR_S = 3_600
_EPOCH = date(1970, 1, 1).toordinal()


@dataclass(frozen=True, slots=True)
class WallTimes:
    """The wall times of one expression."""

    fields: Fields
    _days: Days = field(init=False)
    _months: tuple[int, ...] = field(init=False)
    _hours: int = field(init=False)
    _minutes: int = field(init=False)
    _seconds: int = field(init=False)
    _first: int = field(init=False)

    def __post_init__(self) -> None:
        fields = self.fields
        seconds, minutes = mask(SECOND, fields.second), mask(MINUTE, fields.minute)
        hours = mask(HOUR, fields.hour)
        first = _from(hours, 0) * _HOUR_S + _from(minutes, 0) * 60 + _from(seconds, 0)
        for name, value in (
            ("_days", Days(fields)),
            ("_months", tuple(values(MONTH, fields.month))),
            ("_hours", hours),
            ("_minutes", minutes),
            ("_seconds", seconds),
            ("_first", first),
        ):
            object.__setattr__(self, name, value)

    def exist(self) -> bool:
        """Return whether there is such a day in any year at all."""
        years = range(2000, 2028)  # 28 years in a row, so every kind of year that there is
        return any(self._days.in_month(year, month) for year in years for month in self._months)

    def first_from(self, wall: int) -> int | None:
        """Return the first wall time that is not before `wall`; None if there is no more."""
        day, second = divmod(wall, DAY_S)
        on = date.fromordinal(day + _EPOCH)
        if on.month in self._months and self._days.in_month(on.year, on.month) >> on.day & 1:
            found = self._time_from(second)
            if found is not None:
                return day * DAY_S + found
        later = self._day_after(on)
        return None if later is None else (later.toordinal() - _EPOCH) * DAY_S + self._first

    def _day_after(self, day: date) -> date | None:
        above = day.day + 1
        for year in range(day.year, MAXYEAR):
            for month in self._months:
                if year == day.year and month < day.month:
                    continue
                days = self._days.in_month(year, month)
                same = year == day.year and month == day.month
                found = _from(days, above if same else 1)
                if found >= 0:
                    return date(year, month, found)
        return None

    def _time_from(self, second: int) -> int | None:
        hour, rest = divmod(second, _HOUR_S)
        minute, second = divmod(rest, 60)
        if self._hours >> hour & 1:
            if self._minutes >> minute & 1:
                found = _from(self._seconds, second)
                if found >= 0:
                    return hour * _HOUR_S + minute * 60 + found
            found = _from(self._minutes, minute + 1)
            if found >= 0:
                return hour * _HOUR_S + found * 60 + _from(self._seconds, 0)
        found = _from(self._hours, hour + 1)
        return None if found < 0 else found * _HOUR_S + self._first % _HOUR_S


def _from(bits: int, least: int) -> int:
    """Return the lowest bit that is set, of those from `least` on; -1 if there is none."""
    rest = bits >> least
    return least + (rest & -rest).bit_length() - 1 if rest else -1
