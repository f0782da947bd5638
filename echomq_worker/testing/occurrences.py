"""Which jobs the schedulers of an application would make, without waiting for them."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from echomq_worker.app import EchoMQ
from echomq_worker.domain.cron import CronRule
from echomq_worker.domain.scheduling.declared import DeclaredScheduler
from echomq_worker.domain.scheduling.plan import upcoming
from echomq_worker.errors import InvalidArgumentError
from echomq_worker.zones import find_zone

MOST = 100_000
AT_ONCE = 1_000

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """One planned time of a scheduler."""

    at: datetime
    """When, in the scheduler's time zone; without its jitter."""
    scheduler: str
    queue: str
    job: str | None
    """The handler that is called; None for a raw job."""

    def __str__(self) -> str:
        return f"{self.at.isoformat()} {self.scheduler}"


def occurrences(
    app: EchoMQ, since: datetime, until: datetime, *, scheduler: str | None = None
) -> list[Occurrence]:
    """Return what `@app.cron` and `@app.every` would make between two instants, in order.

    It is worked out from the rules alone: no clock, no server, and no worker that may be late. A
    limit is counted from `since` on.

    Args:
        app: the application.
        since: the first instant that counts, with a time zone.
        until: the first instant that no longer counts, with a time zone.
        scheduler: only the occurrences of this one.

    Raises:
        InvalidArgumentError: if an instant has no time zone, no scheduler of that name is declared,
            or there would be over 100,000 occurrences.
    """
    since_ms, until_ms = _unix_ms("since", since), _unix_ms("until", until)
    declared = [each for each in app.scheduled if scheduler in {None, each.spec.name}]
    if scheduler is not None and not declared:
        names = ", ".join(each.spec.name for each in app.scheduled) or "none"
        msg = f"no scheduler {scheduler!r} is declared: expected one of these: {names}"
        raise InvalidArgumentError(msg)
    found: list[tuple[int, DeclaredScheduler]] = []
    for each in declared:
        for instant_ms in _instants(each, since_ms, until_ms):
            found.append((instant_ms, each))
            if len(found) > MOST:
                msg = (
                    f"there are over {MOST} occurrences from {since} to {until}: ask for less "
                    f"time, or for one scheduler"
                )
                raise InvalidArgumentError(msg)
    found.sort(key=lambda pair: (pair[0], pair[1].spec.name))
    return [_occurrence(*pair) for pair in found]


def _instants(declared: DeclaredScheduler, since_ms: int, until_ms: int) -> Iterator[int]:
    after_ms, count = since_ms - 1, 0
    while batch := upcoming(declared.spec, AT_ONCE, after_ms=after_ms, count=count):
        for instant_ms in batch:
            if instant_ms >= until_ms:
                return
            yield instant_ms
        after_ms, count = batch[-1], count + len(batch)


def _occurrence(instant_ms: int, declared: DeclaredScheduler) -> Occurrence:
    spec = declared.spec
    zone = find_zone(spec.rule.zone) if isinstance(spec.rule, CronRule) else UTC
    return Occurrence(
        at=(_EPOCH + instant_ms * _MILLISECOND).astimezone(zone),
        scheduler=spec.name,
        queue=declared.queue,
        job=spec.template.name,
    )


def _unix_ms(what: str, when: datetime) -> int:
    if not isinstance(when, datetime) or when.utcoffset() is None:  # pyright: ignore[reportUnnecessaryIsInstance]
        msg = (
            f"{what} is {when!r}: expected a datetime with a time zone, such as "
            f"datetime(2027, 1, 1, tzinfo=UTC)"
        )
        raise InvalidArgumentError(msg)
    return -((_EPOCH - when) // _MILLISECOND)
