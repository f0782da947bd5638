"""When a cron rule fires, found by counting through all minutes: slow, and nothing else.

It shares no code with the product: it reads expressions of `*`, numbers, ranges, steps and lists by
itself, and takes what the wall clock shows from the zone, minute by minute.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from echomq_worker.domain.cron import CronRule

MINUTE = timedelta(minutes=1)
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - wall times are naive
BOUNDS = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 7)]


def instants(rule: CronRule, after: str, count: int) -> list[str]:
    """Return the next `count` instants of a rule, as `2026-11-01T04:30Z`."""
    found: list[str] = []
    at = int(datetime.fromisoformat(after).timestamp() * 1000)
    for _ in range(count):
        following = rule.next_ms(at)
        assert following is not None
        at = following
        text = datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        found.append(text.replace(":00Z", "Z"))
    return found


def fires(rule: CronRule, after_ms: int, until_ms: int) -> list[int]:
    """Return all instants of a rule in a time, in milliseconds."""
    found: list[int] = []
    at = rule.next_ms(after_ms)
    while at is not None and at <= until_ms:
        found.append(at)
        at = rule.next_ms(at)
    return found


@dataclass(frozen=True)
class Shown:
    """One minute of real time."""

    at_ms: int
    wall: int
    """What the wall clock shows, in minutes since 1970."""
    passed_over: tuple[int, ...]
    """What it would have shown before, had it not been set forward."""
    again: bool
    """Whether it shows what it has shown before."""


def shown(zone: tzinfo, start: datetime, minutes: int) -> list[Shown]:
    """Return what the wall clock of a zone shows, beginning a day before its changes matter."""
    found: list[Shown] = []
    highest = None
    for number in range(minutes):
        at = start + number * MINUTE
        wall = (at.astimezone(zone).replace(tzinfo=None) - EPOCH) // MINUTE
        last = wall - 1 if highest is None else highest
        over = tuple(range(last + 1, wall))
        found.append(Shown(int(at.timestamp() * 1000), wall, over, wall <= last))
        highest = max(last, wall)
    return found


class Oracle:
    """The wall times of one expression."""

    def __init__(self, expression: str) -> None:
        self.texts = expression.split()
        numbers = [
            {number for item in text.split(",") for number in _numbers(item, *bounds)}
            for text, bounds in zip(self.texts, BOUNDS, strict=True)
        ]
        self._minutes, self._hours, self._days, self._months, weekdays = numbers
        self._weekdays = {number % 7 for number in weekdays}
        self._star = self.texts[0].startswith("*") or self.texts[1].startswith("*")
        self._both = self.texts[2].startswith("*") or self.texts[4].startswith("*")
        self._times = {hour * 60 + minute for hour in self._hours for minute in self._minutes}
        self._known: dict[int, bool] = {}

    def fires(self, minutes: Sequence[Shown], policy: str) -> list[int]:
        """Return when it fires in these minutes."""
        star = self._star and policy == "cron"
        return [one.at_ms for one in minutes if self._fires(one, policy, star=star)]

    def _fires(self, one: Shown, policy: str, *, star: bool) -> bool:
        if one.again and not star:
            return False
        if self.matches(one.wall):
            return True
        catches_up = policy == "cron" and not star
        return catches_up and any(self.matches(wall) for wall in one.passed_over)

    def matches(self, wall: int) -> bool:
        """Return whether the wall time is one of them."""
        day, minute = divmod(wall, 1440)
        if minute not in self._times:
            return False
        if day not in self._known:
            self._known[day] = self._day_matches(EPOCH + timedelta(days=day))
        return self._known[day]

    def _day_matches(self, day: datetime) -> bool:
        by_date = day.day in self._days
        by_week = day.isoweekday() % 7 in self._weekdays
        return day.month in self._months and (
            by_date and by_week if self._both else by_date or by_week
        )


def _numbers(item: str, low: int, high: int) -> Iterator[int]:
    text, _, step = item.partition("/")
    first, _, last = text.partition("-")
    start, stop = (low, high) if first == "*" else (int(first), int(last or first))
    if step and text.isdigit():
        stop = high
    yield from range(start, stop + 1, int(step or 1))


def changes(zone: tzinfo, year: int) -> list[datetime]:
    """Return the hours (UTC) of a year after which the offset of a zone is another."""
    start = datetime(year, 1, 1, tzinfo=UTC)
    hours = [start + timedelta(hours=number) for number in range(366 * 24)]
    offsets = [hour.astimezone(zone).utcoffset() for hour in hours]
    return [hours[n] for n in range(len(hours) - 1) if offsets[n] != offsets[n + 1]]
