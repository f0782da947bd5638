"""What is to be fired of a scheduler whose time has come."""

from collections.abc import Callable

from echomq_worker.domain.cron import CronRule
from echomq_worker.domain.job import JobId
from echomq_worker.domain.limits import MADE_UP
from echomq_worker.domain.scheduling.plan import first_next, plan_firing
from echomq_worker.domain.scheduling.records import DueScheduler, Firing
from echomq_worker.domain.scheduling.spec import SchedulerSpec
from echomq_worker.zones import newer_data

LEFT_MS = 5_000
"""So long a scheduler is left to workers with time zone data as new as those of its last firer."""
MOVED_MS = 26 * 3_600_000
"""No change of a zone's rules moves an instant further than this."""


def zone_data_of(spec: SchedulerSpec, version: str) -> str:
    """Return the version of the time zone data that a scheduler's instants rest on; "" for none.

    Args:
        spec: the scheduler.
        version: of the data that is used here.
    """
    return version if isinstance(spec.rule, CronRule) and spec.rule.zone != "UTC" else ""


def is_left(due: DueScheduler, now_ms: int, version: str) -> bool:
    """Return whether a due scheduler is left to workers with newer time zone data, for now.

    Its next instant was computed with newer data than ours. We might compute another one after it.

    Args:
        due: the scheduler.
        now_ms: the server's time.
        version: of the data that is used here.
    """
    return newer_data(due.tz, version) and now_ms - due.wake_ms < LEFT_MS


def next_by_newer_data(
    spec: SchedulerSpec, *, now_ms: int, last_ms: int | None, since_ms: int | None
) -> int | None:
    """Return the next instant of a scheduler whose zone has other rules by newer data.

    It is not later than now if the new rules have moved it into the past: it is still to be fired.

    Args:
        spec: the scheduler.
        now_ms: the server's time.
        last_ms: the newest instant that is over and done with.
        since_ms: since when its rule counts.
    """
    done_ms = max((ms for ms in (last_ms, since_ms) if ms is not None), default=now_ms)
    after_ms = min(now_ms, max(done_ms, now_ms - MOVED_MS))
    return first_next(spec, now_ms=after_ms, last_ms=last_ms)


def firing_of(
    due: DueScheduler, spec: SchedulerSpec, *, now_ms: int, version: str, mint: Callable[[], JobId]
) -> Firing:
    """Return what is to be fired of a due scheduler.

    Args:
        due: the scheduler, as it was read.
        spec: its declaration.
        now_ms: the server's time when it was read.
        version: of the time zone data that is used here.
        mint: gives an id for each job.
    """
    next_ms = due.next_ms
    if _is_moved(due, spec, version):
        next_ms = next_by_newer_data(
            spec, now_ms=now_ms, last_ms=due.last_ms, since_ms=due.since_ms
        )
    plan = plan_firing(spec, next_ms=next_ms, now_ms=now_ms, count=due.count, held_ms=due.held_ms)
    # One that was kept back may come on top of as many as the policy allows.
    beyond = max(0, len(plan.occurrences) - MADE_UP)
    return Firing(
        name=due.name,
        expected_ms=due.next_ms,
        digest=due.digest,
        next_ms=plan.next_ms,
        wake_ms=plan.wake_ms,
        tz=zone_data_of(spec, version),
        ended=plan.ended,
        missed=plan.missed + beyond,
        occurrences=tuple((mint(), instant) for instant in plan.occurrences[beyond:]),
    )


def _is_moved(due: DueScheduler, spec: SchedulerSpec, version: str) -> bool:
    """Whether by the data used here, which are newer, its next instant is none of its rule."""
    if due.next_ms is None or not due.tz or not newer_data(zone_data_of(spec, version), due.tz):
        return False
    # What fires immediately never was one.
    declared = due.since_ms is not None and due.next_ms <= due.since_ms
    return not declared and spec.rule.next_ms(due.next_ms - 1) != due.next_ms
