"""What a rule does when the clocks change, for those who are to be warned of it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from echomq_worker.domain.cron.offsets import Stretch
from echomq_worker.domain.cron.rule import CronRule


@dataclass(frozen=True, slots=True)
class ClockChange:
    """A clock change into which times of a rule fall."""

    at_ms: int
    """When the clocks change, in Unix milliseconds."""
    kind: Literal["gap", "overlap"]
    """Whether they go forward or back."""
    text: str
    """`30 2 * * * in Europe/Berlin falls into a clock change on 2027-03-28: it runs at 03:00`."""


def clock_changes(rule: CronRule, *, after_ms: int, until_ms: int) -> list[ClockChange]:
    """Return the clock changes at which a rule does something that needs to be said.

    A rule that follows real time does nothing special; nor does one whose times no change touches.

    Args:
        rule: the rule.
        after_ms: look at what is later than this, in Unix milliseconds.
        until_ms: and not later than this.
    """
    if rule.follows_real_time:
        return []
    changes = rule.offsets.changes(after_ms // 1000, until_ms // 1000)
    found = (_at(rule, *stretches) for stretches in changes)
    return [change for change in found if change is not None]


def _at(rule: CronRule, before: Stretch, after: Stretch) -> ClockChange | None:
    at = after.start
    low, high = sorted((at + before.offset, at + after.offset))
    wall = rule.times.first_from(low)
    if wall is None or wall >= high:
        return None
    later = rule.times.first_from(wall + 1)
    several = later is not None and later < high
    if before.offset > after.offset:
        kind, what = "overlap", f"it runs once, at the first {_time(wall)}"
        if several:
            what = f"it runs only the first time that {_time(low)} to {_time(high)} is shown"
    elif rule.catches_up:
        kind, what = "gap", f"it runs {'once, ' if several else ''}at {_moved(wall, high)}"
    elif rule.times.fields.follows_real_time:
        return None  # it goes by the clock as it is
    else:
        kind, what = "gap", f"it does not run at {_time(wall)}"
        if several:
            what = f"it does not run from {_time(low)} to {_time(high)}"
    where = f"{rule.expression} in {rule.zone} falls into a clock change on {_date(wall)}"
    return ClockChange(at * 1000, kind, f"{where}: {what}")


def _moved(wall: int, end: int) -> str:
    return _time(end) + ("" if _date(wall) == _date(end) else f" on {_date(end)}")


def _time(wall: int) -> str:
    return f"{datetime.fromtimestamp(wall, UTC):{'%H:%M:%S' if wall % 60 else '%H:%M'}}"


def _date(wall: int) -> str:
    return f"{datetime.fromtimestamp(wall, UTC):%Y-%m-%d}"
