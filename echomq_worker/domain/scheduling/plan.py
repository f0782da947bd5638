"""Which occurrences of a scheduler are fired now, and when the next one is due."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from echomq_worker.domain.scheduling.overlap import Overlap
from echomq_worker.domain.scheduling.rule import LAST_INSTANT_MS, Every, Rule
from echomq_worker.domain.scheduling.spec import SchedulerSpec

COUNTED = 1_000
"""Missed occurrences of a cron rule are counted up to this many: the rest would only cost time."""
ENDED_BY_END = "end"
ENDED_BY_LIMIT = "limit"


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do with a scheduler whose time has come."""

    occurrences: tuple[int, ...]
    """The instants to fire, a held one first, the others from the oldest."""
    missed: int
    """How many due occurrences the misfire policy drops."""
    next_ms: int | None
    """The next instant; None if the scheduler has ended."""
    wake_ms: int | None
    """When to look at it again."""
    ended: str = ""
    """Why it has ended: `end` or `limit`."""


def wake_ms(spec: SchedulerSpec, instant_ms: int) -> int:
    """Return when an occurrence is to fire: its instant and its share of the jitter.

    The share is drawn from a hash of the scheduler's name and the instant: every worker finds the
    same one, and schedulers of one rule spread out.
    """
    if not spec.jitter_ms:
        return instant_ms
    drawn = hashlib.sha256(f"{spec.name} {instant_ms}".encode()).digest()
    return instant_ms + int.from_bytes(drawn[:8], "big") % (spec.jitter_ms + 1)


def upcoming(spec: SchedulerSpec | Rule, n: int, *, after_ms: int, count: int = 0) -> list[int]:
    """Return the next `n` instants that are later than `after_ms`, fewer if it ends before.

    Args:
        spec: a scheduler, or a rule alone.
        n: how many.
        after_ms: in Unix ms.
        count: how many jobs the scheduler has made, which its limit counts.
    """
    found: list[int] = []
    if isinstance(spec, SchedulerSpec) and spec.limit is not None:
        n = min(n, spec.limit - count)
    while len(found) < n:
        instant = (
            _next(spec, after_ms) if isinstance(spec, SchedulerSpec) else spec.next_ms(after_ms)
        )
        if instant is None or instant > LAST_INSTANT_MS:
            break
        found.append(instant)
        after_ms = instant
    return found


def first_next(spec: SchedulerSpec, *, now_ms: int, last_ms: int | None) -> int | None:
    """Return the first instant of a scheduler that is new, or whose rule has changed.

    Args:
        spec: the scheduler.
        now_ms: the server's time.
        last_ms: the newest instant that was fired, None if there was none; nothing fires twice.

    Returns:
        The instant in Unix ms; None if there is none before its end.
    """
    if spec.immediately and last_ms is None:
        return now_ms if spec.end_ms is None or now_ms <= spec.end_ms else None
    return _next(spec, now_ms if last_ms is None else max(now_ms, last_ms))


def plan_firing(
    spec: SchedulerSpec,
    *,
    next_ms: int | None,
    now_ms: int,
    count: int,
    held_ms: int | None = None,
) -> Plan:
    """Decide what a scheduler fires now. The cost has a bound, however long nobody looked.

    Args:
        spec: the scheduler.
        next_ms: the oldest instant that was not fired; None if the rule has ended.
        now_ms: the server's time.
        count: how many jobs the rule has made, which the limit counts.
        held_ms: an instant that the overlap policy has kept back.
    """
    left = None if spec.limit is None else max(0, spec.limit - count)
    if left == 0:
        return Plan((), 0, None, None, ENDED_BY_LIMIT)
    if next_ms is not None and _is_over(spec, next_ms):
        next_ms = None
    held = () if held_ms is None else (held_ms,)
    newest = None if next_ms is None else _newest_due(spec, next_ms, now_ms)
    if next_ms is None or newest is None:
        return _going_on(spec, held, 0, next_ms, left)
    taken = _taken(spec, next_ms, newest, now_ms)
    until = taken[0] if taken else newest + 1
    missed = _count(spec.rule, next_ms, until)
    return _going_on(spec, (*held, *taken), missed, _next(spec, newest), left)


def _going_on(
    spec: SchedulerSpec,
    occurrences: tuple[int, ...],
    missed: int,
    next_ms: int | None,
    left: int | None,
) -> Plan:
    # With another overlap policy, the script decides which of them count: it stops at the limit,
    # which is seen here at the next look.
    if spec.overlap is Overlap.ALLOW and left is not None and len(occurrences) >= left:
        return Plan(occurrences[:left], missed, None, None, ENDED_BY_LIMIT)
    if next_ms is None:
        return Plan(occurrences, missed, None, None, ENDED_BY_END)
    return Plan(occurrences, missed, next_ms, wake_ms(spec, next_ms))


def _next(spec: SchedulerSpec, after_ms: int) -> int | None:
    if spec.start_ms is not None:
        after_ms = max(after_ms, spec.start_ms - 1)
    instant = spec.rule.next_ms(after_ms)
    return None if instant is None or _is_over(spec, instant) else instant


def _is_over(spec: SchedulerSpec, instant_ms: int) -> bool:
    return instant_ms > (LAST_INSTANT_MS if spec.end_ms is None else spec.end_ms)


def _newest_due(spec: SchedulerSpec, next_ms: int, now_ms: int) -> int | None:
    """The newest instant from `next_ms` on whose time to fire has come."""
    if wake_ms(spec, next_ms) > now_ms:
        return None
    # So much later, whatever the jitter has drawn, an occurrence is due.
    surely_ms = now_ms - spec.jitter_ms
    if spec.end_ms is not None:
        surely_ms = min(surely_ms, spec.end_ms)
    newest = _newest(spec.rule, next_ms, surely_ms)
    for _ in range(COUNTED):
        later = _next(spec, newest)
        if later is None or wake_ms(spec, later) > now_ms:
            break
        newest = later
    return newest


def _newest(rule: Rule, first_ms: int, until_ms: int) -> int:
    """The newest instant up to `until_ms`, found by halving; `first_ms` if there is no later."""
    second = rule.next_ms(first_ms)
    if second is None or second > until_ms:
        return first_ms  # as it is nearly always, at the cost of one question
    found, beyond = second, until_ms
    reach = 1_000
    while found < beyond:
        # First near the end, where the newest of a busy rule is, then by halves.
        probe = max(beyond - reach, (found + beyond) // 2)
        later = rule.next_ms(probe)
        if later is None or later > until_ms:
            if probe == found:
                break
            beyond, reach = probe, reach * 8
            continue
        found = later
        following = rule.next_ms(found)
        if following is None or following > until_ms:
            break
    return found


def _taken(spec: SchedulerSpec, next_ms: int, newest: int, now_ms: int) -> tuple[int, ...]:
    """The due instants that the misfire policy fires, from the oldest."""
    latest_by_ms = spec.misfire.latest_by_ms
    taken: list[int] = []
    for instant in _backwards(spec.rule, next_ms, newest):
        if latest_by_ms is not None and now_ms - wake_ms(spec, instant) > latest_by_ms:
            break
        taken.append(instant)
        if len(taken) == spec.misfire.taken:
            break
    return tuple(reversed(taken))


def _backwards(rule: Rule, first_ms: int, newest: int) -> Iterator[int]:
    yield newest
    while newest > first_ms:
        newest = _newest(rule, first_ms, newest - 1)
        yield newest


def _count(rule: Rule, first_ms: int, until_ms: int) -> int:
    """How many instants there are from `first_ms` on and before `until_ms`."""
    if first_ms >= until_ms:
        return 0
    if isinstance(rule, Every):
        # The first may lie beside the grid.
        second = rule.next_ms(first_ms)
        if second is None or second >= until_ms:
            return 1
        return 2 + (until_ms - 1 - second) // rule.period_ms
    counted, instant = 0, first_ms
    while counted < COUNTED and instant < until_ms:
        counted += 1
        later = rule.next_ms(instant)
        if later is None:
            break
        instant = later
    return counted
