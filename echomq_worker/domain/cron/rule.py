"""A cron expression in a time zone: when it fires next."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from functools import lru_cache

from echomq_worker.domain.cron.describe import describe
from echomq_worker.domain.cron.offsets import Offsets, Stretch, offsets_of
from echomq_worker.domain.cron.parse import normal_expression, read_fields
from echomq_worker.domain.cron.search import DAY_S, WallTimes
from echomq_worker.errors import CronError
from echomq_worker.zones import find_zone, zone_name

_FIRST_S = int(datetime(1900, 1, 1, tzinfo=UTC).timestamp())
_LAST_S = int(datetime(9000, 1, 1, tzinfo=UTC).timestamp())
_SETTLED_S = 2 * DAY_S
"""Longer than any clock is set back or forward by."""


class Dst(StrEnum):
    """What a rule does when the clocks change."""

    CRON = "cron"
    """As Debian's cron: a fixed time that the clock leaves out runs when it goes on, one that it
    shows twice runs the first time; a wildcard schedule (a second, minute or hour that begins with
    `*`) follows real time."""
    SKIP = "skip"
    """A time that the clock leaves out does not run, one that it shows twice runs the first time.
    This holds for every schedule: while time is shown again, nothing runs."""


@dataclass(frozen=True, slots=True)
class CronRule:
    """When something recurs. Made by `cron_rule`."""

    expression: str
    zone: str
    """The name of the time zone whose wall clock it goes by."""
    dst: Dst
    times: WallTimes = field(repr=False, compare=False)
    offsets: Offsets = field(repr=False, compare=False)
    follows_real_time: bool = field(init=False, repr=False, compare=False)
    """Whether a clock change is nothing to it but another reading of the clock."""
    catches_up: bool = field(init=False, repr=False, compare=False)
    """Whether what falls into a gap runs at its end."""

    def __post_init__(self) -> None:
        wildcard = self.times.fields.follows_real_time
        object.__setattr__(self, "follows_real_time", wildcard and self.dst is Dst.CRON)
        object.__setattr__(self, "catches_up", not wildcard and self.dst is Dst.CRON)

    def next_ms(self, after_ms: int) -> int | None:
        """Return the first instant later than `after_ms`, both in Unix milliseconds.

        None if there is no more before the year 9000. It takes microseconds, also where the
        instant is decades away.
        """
        instant = max(after_ms // 1000 + 1, _FIRST_S)
        settled = instant + _SETTLED_S
        while instant < _LAST_S:
            stretch = self.offsets.at(instant)
            wall = self.times.first_from(self._wall(stretch, instant))
            if wall is None:
                return None
            found = wall - stretch.offset
            if self.catches_up:
                found = max(found, stretch.start)
            if found < stretch.end:
                return found * 1000
            # Time that is shown again can show only what is near; past that, go where it is.
            instant = stretch.end
            if instant >= settled:
                instant = max(instant, found - _SETTLED_S)
        return None

    def _wall(self, stretch: Stretch, instant: int) -> int:
        """Return the wall time from which on a time may be due at `instant` or later."""
        wall = instant + stretch.offset
        if self.follows_real_time:
            return wall
        if self.catches_up and instant == stretch.start:
            return stretch.shown
        return max(wall, stretch.shown)

    def describe(self) -> str:
        """Return in English when it fires: `at 09:00 on Monday to Friday, Europe/Berlin`."""
        return f"{describe(self.times.fields)}, {self.zone}"


def cron_rule(
    expression: str, *, tz: str | tzinfo = "UTC", dst: str = "cron", zone: tzinfo | None = None
) -> CronRule:
    """Read a cron expression; whatever is wrong with it is found here.

    Args:
        expression: 5 fields (minute, hour, day of month, month, weekday) or 6 with the second
            first, or an alias such as `@daily`.
        tz: the time zone that it goes by, or its IANA name; never that of the machine.
        dst: `cron` or `skip`, what it does when the clocks change: see `Dst`.
        zone: the zone itself, if it is not to be looked up.

    Raises:
        CronError: if the expression or the policy cannot be used, or means no day of any year.
        UnknownZoneError: if there is no such time zone.
    """
    text = normal_expression(expression)
    times = _times_of(text)
    if dst not in tuple(Dst):
        msg = f"{dst!r} is no policy for clock changes: expected cron or skip"
        raise CronError(msg)
    name = zone_name(tz)
    offsets = offsets_of(find_zone(name) if zone is None else zone)
    return CronRule(text, name, Dst(dst), times, offsets)


@lru_cache(maxsize=4_096)
def _times_of(text: str) -> WallTimes:
    """Read an expression once: a firer reads its schedulers again at each of their instants."""
    times = WallTimes(read_fields(text))
    if not times.exist():
        msg = f"day of month and month of {text!r} never come together: no year has such a day"
        raise CronError(msg)
    return times
