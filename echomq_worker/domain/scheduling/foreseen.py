"""What a scheduler will do, as far as can be foreseen."""

from datetime import UTC, tzinfo

from echomq_worker.domain.cron import CronRule
from echomq_worker.domain.scheduling.plan import first_next, upcoming
from echomq_worker.domain.scheduling.records import SchedulerState, SchedulerView
from echomq_worker.domain.scheduling.rule import Every
from echomq_worker.zones import find_zone


def foreseen(view: SchedulerView, n: int, *, now_ms: int) -> list[int]:
    """Return the next `n` instants of a scheduler (Unix ms), without their jitter.

    Of a paused one, what would come if it were resumed now. One that has ended, or cannot be read,
    has none. The first may be past: it is due, and nobody has fired it yet.

    Args:
        view: the scheduler.
        n: how many, from 1; fewer if it ends before.
        now_ms: the server's time.
    """
    spec = view.spec
    if spec is None or view.ended:
        return []
    first = view.next_ms
    if view.state is SchedulerState.PAUSED:
        first = first_next(spec, now_ms=now_ms, last_ms=view.last_ms)
    if first is None:
        return []
    return [first, *upcoming(spec, n - 1, after_ms=first, count=view.count + 1)]


def zone_of(rule: CronRule | Every) -> tzinfo:
    """Return the time zone in which a rule is read; an interval has none, and is read in UTC."""
    return find_zone(rule.zone) if isinstance(rule, CronRule) else UTC
