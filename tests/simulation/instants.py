"""When a rule should fire, found by going through the wall clock of a zone, step by step.

Only the zones' data are shared with the product, whose answers are compared with these.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from echomq_worker.zones import find_zone

STEP_MS = 900_000
"""Zones change their clocks at quarters of an hour only, and all rules here are of these."""


@dataclass(frozen=True)
class Wall:
    """What the clocks of a zone show at an instant."""

    at_ms: int
    shown: datetime


def walls(zone: str, first_ms: int, last_ms: int) -> list[Wall]:
    """What they show at each quarter of an hour, from a day before to the end."""
    info = find_zone(zone)
    start = (first_ms - 86_400_000) // STEP_MS * STEP_MS
    return [
        Wall(
            at_ms, datetime.fromtimestamp(at_ms / 1_000, UTC).astimezone(info).replace(tzinfo=None)
        )
        for at_ms in range(start, last_ms + 1, STEP_MS)
    ]


def daily(seen: list[Wall], hour: int, minute: int, *, skip: bool = False) -> Iterator[int]:
    """Once a day: the first moment at which the clocks show that time.

    Where they leave it out, the moment at which they go on, or nothing at all with `skip`.
    """
    wanted = _days(seen[0].shown.date(), time(hour, minute))
    target = next(wanted)
    while target < seen[0].shown:
        target = next(wanted)
    for wall in seen:
        if wall.shown >= target:
            if wall.shown == target or not skip:
                yield wall.at_ms
            target = next(wanted)


def in_hours(seen: list[Wall], minute: int, every: int, months: tuple[int, ...]) -> Iterator[int]:
    """At that minute of every so manieth hour, on Sundays of these months: by real time."""
    for wall in seen:
        shown = wall.shown
        if shown.minute == minute and shown.hour % every == 0:
            if months and (shown.month not in months or shown.isoweekday() != 7):
                continue
            yield wall.at_ms


def _days(first: date, at: time) -> Iterator[datetime]:
    day = datetime.combine(first, at)
    while True:
        yield day
        day += timedelta(days=1)
