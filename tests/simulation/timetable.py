"""The schedulers of the simulated year, each with the instants at which it should fire."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from echomq_worker.domain.scheduling.spec import SchedulerSpec, scheduler_spec
from echomq_worker.domain.scheduling.template import Template
from tests.simulation.instants import Wall, daily, in_hours, walls

ZONES = ("America/New_York", "Europe/London", "Australia/Lord_Howe", "Africa/Casablanca")
CHANGE_MONTHS = (2, 3, 4, 9, 10, 11)
HOUR = 3_600_000
DAY = 24 * HOUR


@dataclass(frozen=True)
class Entry:
    """One scheduler."""

    spec: SchedulerSpec
    expected: list[int] = field(repr=False)
    """All its instants of the year."""

    def of_version(self, version: int) -> SchedulerSpec:
        """As a version of the code declares it: the times are the same, the payload is not."""
        template = Template(name="work", payload=b"%d" % version)
        return replace(self.spec, template=template, revision=version)


def timetable(first_ms: int, last_ms: int) -> list[Entry]:
    """Return them all; they are declared at `first_ms`."""
    entries = [_every("11h", 11 * HOUR, first_ms, last_ms, misfire="none")]
    entries.append(_every("1d", DAY, first_ms, last_ms, jitter="1h"))
    for zone in ZONES:
        seen = walls(zone, first_ms, last_ms)
        for cron, options, instants in _rules():
            found = [at_ms for at_ms in instants(seen) if first_ms < at_ms <= last_ms]
            words = " ".join(f"{key}={value}" for key, value in options.items())
            name = f"{zone}:{cron}:{words}".replace(" ", "_")
            spec = scheduler_spec(
                name, cron=cron, tz=zone, template=Template(name="work"), **options
            )
            entries.append(Entry(spec, found))
    return entries


def _rules() -> list[tuple[str, dict[str, Any], Callable[[list[Wall]], Iterator[int]]]]:
    months = ",".join(map(str, CHANGE_MONTHS))
    return [
        ("15 2 * * *", {}, lambda seen: daily(seen, 2, 15)),
        ("15 2 * * *", {"dst": "skip"}, lambda seen: daily(seen, 2, 15, skip=True)),
        ("45 1 * * *", {"misfire": "latest(within=6h)"}, lambda seen: daily(seen, 1, 45)),
        (f"30 * * {months} SUN", {}, lambda seen: in_hours(seen, 30, 1, CHANGE_MONTHS)),
        ("0 */12 * * *", {"misfire": "all(max=3)"}, lambda seen: in_hours(seen, 0, 12, ())),
    ]


def _every(every: str, period_ms: int, first_ms: int, last_ms: int, **options: Any) -> Entry:
    spec = scheduler_spec(f"every:{every}", every=every, template=Template(name="work"), **options)
    first = first_ms // period_ms * period_ms + period_ms
    return Entry(spec, list(range(first, last_ms + 1, period_ms)))
