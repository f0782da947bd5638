"""The offsets of a time zone: stretches of time in which the wall clock just runs on.

A `tzinfo` tells the offset of an instant, but not when it changes. This finds the changes of a
year once, and remembers them.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import NamedTuple

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_STEP_S = 3 * 86_400
"""No zone has changed its offset twice in a week since 1970."""
_BEFORE_S = 2 * 86_400
"""Longer than any clock is set back by."""


class Stretch(NamedTuple):
    """From `start` to before `end`, in Unix seconds; wall times are such seconds plus an offset."""

    start: int
    end: int
    offset: int
    """In seconds."""
    shown: int
    """All wall times before this one were shown, or passed over, before `start`.

    It is below `start + offset` after a gap, and above it where time is shown again.
    """


class Offsets:
    """The stretches of one zone."""

    def __init__(self, zone: tzinfo) -> None:
        self._zone = zone
        self._years: dict[int, list[Stretch]] = {}
        fixed = zone.utcoffset(None)
        self._recent = Stretch(0, 0, 0, 0)
        if fixed is not None:
            self._recent = Stretch(-(1 << 62), 1 << 62, _seconds(fixed), -(1 << 62))

    def at(self, instant: int) -> Stretch:
        """Return a stretch with this instant: the whole one, or as much as is in its year (UTC)."""
        recent = self._recent
        if recent.start <= instant < recent.end:
            return recent
        year = (_EPOCH + timedelta(seconds=instant)).year
        stretches = self._years.get(year)
        if stretches is None:
            stretches = self._years[year] = list(self._of_year(year))
        for recent in stretches:
            if instant < recent.end:
                break
        self._recent = recent
        return recent

    def changes(self, start: int, end: int) -> Iterator[tuple[Stretch, Stretch]]:
        """Yield the stretches that end and begin with each change after `start`, up to `end`."""
        before = self.at(start)
        while before.end <= end:
            after = self.at(before.end)
            if after.offset != before.offset:
                yield before, after
            before = after

    def _of_year(self, year: int) -> Iterator[Stretch]:
        first, last = _start_of(year), _start_of(year + 1)
        start = first - _BEFORE_S
        offset = self._offset(start)
        shown = start + offset
        for change in (*self._changes(start, last), last):
            if start < first:
                start = first
                shown = max(shown, first + offset)
            if change > first:
                yield Stretch(start, change, offset, shown)
            start, shown = change, change + offset
            offset = self._offset(change)

    def _changes(self, start: int, end: int) -> Iterator[int]:
        low, offset = start, self._offset(start)
        for step in range(start + _STEP_S, end + _STEP_S, _STEP_S):
            high = min(step, end) - 1
            while self._offset(high) != offset:
                low = self._first_other(low, high, offset)
                offset = self._offset(low)
                yield low
            low = high

    def _first_other(self, low: int, high: int, offset: int) -> int:
        """Return where the offset is another, between `low` that has it and `high` that has not."""
        while high - low > 1:
            middle = (low + high) // 2
            if self._offset(middle) == offset:
                low = middle
            else:
                high = middle
        return high

    def _offset(self, instant: int) -> int:
        return _seconds((_EPOCH + timedelta(seconds=instant)).astimezone(self._zone).utcoffset())


@lru_cache(maxsize=1024)
def offsets_of(zone: tzinfo) -> Offsets:
    """Return the offsets of a zone, the same ones each time."""
    return Offsets(zone)


def _start_of(year: int) -> int:
    return (datetime(year, 1, 1, tzinfo=UTC) - _EPOCH) // timedelta(seconds=1)


def _seconds(offset: timedelta | None) -> int:
    return (offset or timedelta(0)) // timedelta(seconds=1)
