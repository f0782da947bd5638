"""A scheduler as it is declared: its rule, its bounds, its policies and its template."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from echomq_worker.domain.backoff import Duration
from echomq_worker.domain.cron import CronRule, cron_rule
from echomq_worker.domain.duration import format_duration, parse_duration_ms
from echomq_worker.domain.limits import BATCH_BYTES, SCHEDULER_NAME
from echomq_worker.domain.scheduling.misfire import LATEST_MISSED, Misfire, misfire_from
from echomq_worker.domain.scheduling.overlap import Overlap, overlap_from
from echomq_worker.domain.scheduling.rule import LAST_INSTANT_MS, Every, every_rule
from echomq_worker.domain.scheduling.template import Template
from echomq_worker.errors import InvalidArgumentError
from echomq_worker.zones import zone_name

LONGEST_JITTER_MS = 86_400_000
MOST_OCCURRENCES = 10**12
HIGHEST_REVISION = 10**12
GAPS = 100
"""So many occurrences of a cron rule are looked at to see how close they are."""
GAPS_FROM_MS = 1_767_225_600_000
"""From here on: the beginning of 2026."""

_NAME = re.compile(rf"[!-~]{{1,{SCHEDULER_NAME}}}", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerSpec:
    """A scheduler as it is declared. All times are Unix ms.

    Raises:
        InvalidArgumentError: if a part cannot be used, or two do not fit together.
    """

    name: str
    rule: CronRule | Every
    template: Template
    start_ms: int | None = None
    """Nothing fires before it."""
    end_ms: int | None = None
    """Nothing fires after it."""
    limit: int | None = None
    """After so many jobs it has ended."""
    jitter_ms: int = 0
    """Each occurrence fires up to so much later, drawn by its instant."""
    misfire: Misfire = LATEST_MISSED
    overlap: Overlap = Overlap.ALLOW
    immediately: bool = False
    """The first occurrence is the moment of declaration. Nothing of it is stored."""
    revision: int = 0
    """Of two versions of the code that run at once, the one of the higher revision decides."""

    def __post_init__(self) -> None:
        check_scheduler_name(self.name)
        for what, moment in (("start", self.start_ms), ("end", self.end_ms)):
            self._check(what, moment, 0, LAST_INSTANT_MS)
        self._check("limit", self.limit, 1, MOST_OCCURRENCES)
        self._check("revision", self.revision, 0, HIGHEST_REVISION)
        if self.start_ms is not None and self.end_ms is not None and self.end_ms < self.start_ms:
            self._refuse(
                f"ends at {_moment(self.end_ms)}, before it starts at {_moment(self.start_ms)}: "
                f"expected an end after the start"
            )
        if self.immediately and self.start_ms is not None:
            self._refuse("has both immediately and a start: expected at most one of them")
        self._check_jitter()

    def _check_jitter(self) -> None:
        longest_ms = LONGEST_JITTER_MS
        if isinstance(self.rule, Every):
            longest_ms = min(longest_ms, self.rule.period_ms - 1)
        if not 0 <= self.jitter_ms <= longest_ms:
            self._refuse(
                f"has a jitter of {format_duration(max(0, self.jitter_ms))}: expected less than "
                f"the interval, and at most {format_duration(longest_ms)}"
            )

    def _check(self, what: str, value: int | None, least: int, most: int) -> None:
        if value is not None and (type(value) is not int or not least <= value <= most):
            self._refuse(f"has {what} {value!r}: expected a whole number, {least} to {most}")

    def _refuse(self, problem: str) -> None:
        msg = f"scheduler {self.name} {problem}"
        raise InvalidArgumentError(msg)


def check_scheduler_name(name: str) -> str:
    """Return `name` if it may name a scheduler; raise `InvalidArgumentError` otherwise."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):  # pyright: ignore[reportUnnecessaryIsInstance]
        shown = name[:SCHEDULER_NAME] if isinstance(name, str) else name  # pyright: ignore[reportUnnecessaryIsInstance]
        msg = (
            f"{shown!r} cannot name a scheduler: expected 1 to {SCHEDULER_NAME} visible ASCII "
            f"characters without spaces"
        )
        raise InvalidArgumentError(msg)
    return name


def scheduler_spec(  # noqa: PLR0913 - one for each thing that can be said about a scheduler
    name: str,
    *,
    template: Template,
    cron: str | None = None,
    every: Duration | None = None,
    tz: str | tzinfo = "UTC",
    dst: str = "cron",
    offset: Duration | None = None,
    start: datetime | None = None,
    end: datetime | None = None,
    limit: int | None = None,
    jitter: Duration | None = None,
    misfire: str | Misfire = "latest",
    overlap: str = "allow",
    immediately: bool = False,
    revision: int = 0,
) -> SchedulerSpec:
    """Return a scheduler as it was declared; `SchedulerSpec` says what each part means.

    Either `cron` (see `cron_rule`) or `every` is given, whose grid begins with the start.

    Raises:
        InvalidArgumentError: with the reason, if something cannot be used or does not fit.
    """
    start_ms = None if start is None else _unix_ms(name, "start", start)
    spec = SchedulerSpec(
        name=check_scheduler_name(name),
        rule=_rule(name, cron, every, tz, dst, offset, start_ms),
        template=template,
        start_ms=start_ms,
        end_ms=None if end is None else _unix_ms(name, "end", end),
        limit=limit,
        jitter_ms=0 if jitter is None else parse_duration_ms(jitter),
        misfire=misfire_from(misfire),
        overlap=overlap_from(overlap),
        immediately=immediately,
        revision=revision,
    )
    return _sensible(spec)


def _sensible(spec: SchedulerSpec) -> SchedulerSpec:
    problem = _nonsense(spec)
    if problem is not None:
        msg = f"scheduler {spec.name} {problem}"
        raise InvalidArgumentError(msg)
    return spec


def _nonsense(spec: SchedulerSpec) -> str | None:
    """Why a scheduler makes no sense. It is not to be declared; a stored one can still be read."""
    if spec.start_ms is not None:
        first_ms = spec.rule.next_ms(spec.start_ms - 1)
        if first_ms is None or first_ms > (spec.end_ms or LAST_INSTANT_MS):
            until = "2093" if spec.end_ms is None else _moment(spec.end_ms)
            return (
                f"never fires: {spec.rule.describe()} has no occurrence between its start at "
                f"{_moment(spec.start_ms)} and {until}. Expected at least one"
            )
    if spec.jitter_ms and isinstance(spec.rule, CronRule):
        gap_ms = _shortest_gap_ms(spec.rule)
        if spec.jitter_ms >= gap_ms:
            return (
                f"has a jitter of {format_duration(spec.jitter_ms)}, but occurrences only "
                f"{format_duration(gap_ms)} apart, which would drop some: expected less than that"
            )
    most = spec.misfire.taken
    if most * len(spec.template.payload) > BATCH_BYTES:
        return (
            f"may make up for {most} occurrences at once, of {len(spec.template.payload)} bytes of "
            f"arguments each: expected at most {BATCH_BYTES >> 20} MiB together. Lower max in "
            f"{str(spec.misfire)!r}, or let the arguments name where the data are"
        )
    return None


def _shortest_gap_ms(rule: CronRule) -> int:
    shortest_ms, instant = LONGEST_JITTER_MS + 1, rule.next_ms(GAPS_FROM_MS)
    for _ in range(GAPS):
        later = None if instant is None else rule.next_ms(instant)
        if instant is None or later is None:
            break
        shortest_ms, instant = min(shortest_ms, later - instant), later
    return shortest_ms


def _rule(  # noqa: PLR0913, PLR0917 - what the two kinds of rule are made of
    name: str,
    cron: str | None,
    every: Duration | None,
    tz: str | tzinfo,
    dst: str,
    offset: Duration | None,
    start_ms: int | None,
) -> CronRule | Every:
    if cron is not None and every is not None:
        problem = "has both cron and every: expected one of them"
    elif cron is not None and offset is not None:
        problem = "has an offset, which only every takes: shift the cron expression instead"
    elif cron is not None:
        return cron_rule(cron, tz=tz, dst=dst)
    elif every is None:
        problem = "has neither cron nor every: expected one of them, such as every='15m'"
    elif zone_name(tz) != "UTC" or dst != "cron":
        problem = "has every with a tz or dst, which only cron takes: an interval is elapsed time"
    else:
        return every_rule(every, offset=offset, anchor_ms=start_ms or 0)
    msg = f"scheduler {name} {problem}"
    raise InvalidArgumentError(msg)


def _unix_ms(name: str, what: str, when: datetime) -> int:
    if not isinstance(when, datetime) or when.utcoffset() is None:  # pyright: ignore[reportUnnecessaryIsInstance]
        msg = (
            f"scheduler {name} has {what} {when!r}: expected a datetime with a time zone, such as "
            f'datetime(2027, 1, 1, 9, tzinfo=ZoneInfo("Europe/Berlin"))'
        )
        raise InvalidArgumentError(msg)
    return (when - _EPOCH) // _MILLISECOND


def _moment(unix_ms: int) -> str:
    return (_EPOCH + unix_ms * _MILLISECOND).isoformat(timespec="seconds")
