"""What the command line tells about schedulers, for people and for programs."""

from datetime import UTC, tzinfo
from typing import Any

from echomq_worker.cli.describe import one_text, readable
from echomq_worker.cli.words import coming, count_of, moment, rfc3339
from echomq_worker.cli.zoned import iso
from echomq_worker.domain.cron import CronRule
from echomq_worker.domain.duration import format_duration
from echomq_worker.domain.redaction import Redactor
from echomq_worker.domain.repeats import RepeatView
from echomq_worker.domain.scheduling.foreseen import foreseen, zone_of
from echomq_worker.domain.scheduling.records import RunNote, SchedulerState, SchedulerView
from echomq_worker.domain.scheduling.spec import SchedulerSpec

SCHEDULER, REPEAT = "scheduler", "repeat"
UPCOMING = 5
_NEVER_MS = 10**15


def scheduler_row(queue: str, view: SchedulerView, now_ms: int) -> dict[str, Any]:
    """Return a scheduler as a row of the list."""
    last = view.runs[-1] if view.runs else None
    return {
        "kind": SCHEDULER,
        "name": view.name,
        "queue": queue,
        "rule": _rule(view),
        "next": _next(view, now_ms),
        "next_at": rfc3339(_coming_ms(view)),
        "last": None if last is None else f"{last.outcome} {moment(last.at_ms, now_ms)}",
        "last_outcome": None if last is None else last.outcome,
        "last_at": None if last is None else rfc3339(last.at_ms),
        "state": view.state.value,
        "reason": _reason(view),
        "told": _told(view),
    }


def repeat_row(queue: str, repeat: RepeatView, now_ms: int) -> dict[str, Any]:
    """Return a registration of the base wire as a row of the list."""
    next_ms = _repeat_next_ms(repeat)
    return {
        "kind": REPEAT,
        "name": repeat.name,
        "queue": queue,
        "rule": f"{_repeat_rule(repeat)} (base wire)",
        "next": None if next_ms is None else _seen(next_ms, UTC, now_ms),
        "next_at": rfc3339(next_ms),
        "last": None,
        "last_outcome": None,
        "last_at": None,
        "state": _repeat_state(repeat),
        "reason": repeat.problem,
        "told": f"{_repeat_state(repeat)}{f': {repeat.problem}' if repeat.problem else ''}",
    }


def scheduler_record(
    queue: str, view: SchedulerView, now_ms: int, redactor: Redactor | None
) -> dict[str, Any]:
    """Return all that is known of a scheduler, as plain data.

    Args:
        queue: where it is.
        view: the scheduler.
        now_ms: the server's time.
        redactor: hides secrets in its arguments; None shows them as they are.
    """
    paused = view.paused
    return {
        "kind": SCHEDULER,
        "name": view.name,
        "queue": queue,
        "state": view.state.value,
        "reason": _reason(view),
        "paused_at": None if paused is None else rfc3339(paused.since_ms),
        "paused_by": None if paused is None else paused.by,
        **({} if view.spec is None else _spec_record(view.spec, redactor)),
        "next_at": rfc3339(_coming_ms(view)),
        "wakes_at": rfc3339(view.wake_ms),
        "upcoming": [rfc3339(each) for each in foreseen(view, UPCOMING, now_ms=now_ms)],
        "held_back": rfc3339(view.held_ms),
        "made": view.count,
        "missed": view.missed,
        "skipped": view.skipped,
        "revision": view.revision,
        "source": view.source,
        "tz_data": view.tz or None,
        "created_at": rfc3339(view.created_ms),
        "changed_at": rfc3339(view.changed_ms),
        "runs": [_run_record(run) for run in view.runs],
    }


def scheduler_lines(record: dict[str, Any], view: SchedulerView, now_ms: int) -> dict[str, object]:
    """Return the same for people: only what there is, in the scheduler's own zone."""
    zone = _zone(view)
    paused = view.paused
    lines: dict[str, object | None] = {
        "name": view.name,
        "queue": record["queue"],
        "state": _told(view),
        "paused": None
        if paused is None
        else f"{moment(paused.since_ms, now_ms)} by {paused.by or 'unknown'}",
        "rule": _rule(view),
        **({} if view.spec is None else _spec_lines(view.spec, record, zone)),
        "next": _next(view, now_ms),
        **_later(view, zone, now_ms),
        "held back": None if view.held_ms is None else iso(view.held_ms, zone),
        "made": f"{count_of(view.count, 'job')}, {view.missed} missed, {view.skipped} skipped",
        "declared by": f"{view.source or 'unknown'}, revision {view.revision}",
        "tz data": view.tz,
        "changed": None if view.changed_ms is None else moment(view.changed_ms, now_ms),
        "last": "\n".join(_run_line(run, zone, now_ms) for run in reversed(view.runs)),
    }
    return {name: value for name, value in lines.items() if value not in {None, ""}}


def repeat_record(queue: str, repeat: RepeatView, redactor: Redactor | None) -> dict[str, Any]:
    """Return all that is known of a registration of the base wire, as plain data."""
    template = repeat.template
    return {
        "kind": REPEAT,
        "name": repeat.name,
        "queue": queue,
        "state": _repeat_state(repeat),
        "reason": repeat.problem,
        "every_ms": repeat.every_ms,
        "next_at": rfc3339(_repeat_next_ms(repeat)),
        "payload": None if template is None else readable(template, redactor),
    }


def repeat_lines(record: dict[str, Any], repeat: RepeatView, now_ms: int) -> dict[str, object]:
    """Return the same for people."""
    next_ms = _repeat_next_ms(repeat)
    return {
        "name": record["name"],
        "queue": record["queue"],
        "state": repeat_row(record["queue"], repeat, now_ms)["told"],
        "rule": f"{_repeat_rule(repeat)}, a repeating registration of the base wire",
        "next": "never" if next_ms is None else _seen(next_ms, UTC, now_ms),
        "payload": one_text(record["payload"]),
    }


def _spec_record(spec: SchedulerSpec, redactor: Redactor | None) -> dict[str, Any]:
    rule, template = spec.rule, spec.template
    timed = (
        {"cron": rule.expression, "tz": rule.zone, "dst": rule.dst.value}
        if isinstance(rule, CronRule)
        else {"every_ms": rule.period_ms, "offset_ms": rule.offset_ms}
    )
    return {
        **timed,
        "rule": rule.describe(),
        "start_at": rfc3339(spec.start_ms),
        "end_at": rfc3339(spec.end_ms),
        "limit": spec.limit,
        "jitter_ms": spec.jitter_ms,
        "misfire": str(spec.misfire),
        "overlap": spec.overlap.value,
        "job": template.name,
        "arguments": readable(template.payload, redactor),
        "max_attempts": template.max_attempts,
        "keep_result_ms": template.keep_result_ms,
        "timeout_ms": template.timeout_ms,
        "backoff": template.backoff,
        "expires_ms": template.ttl_ms,
        "priority": template.priority or 0,
        "lane": template.lane,
    }


def _spec_lines(
    spec: SchedulerSpec, record: dict[str, Any], zone: tzinfo
) -> dict[str, object | None]:
    rule, template = spec.rule, spec.template
    cron = isinstance(rule, CronRule)
    return {
        "cron": f"{rule.expression} in {rule.zone}, dst {rule.dst.value}" if cron else None,
        "start": None if spec.start_ms is None else iso(spec.start_ms, zone),
        "end": None if spec.end_ms is None else iso(spec.end_ms, zone),
        "limit": spec.limit,
        "jitter": _span(spec.jitter_ms or None),
        "misfire": record["misfire"],
        "overlap": record["overlap"],
        "job": template.name or "(raw)",
        "arguments": one_text(record["arguments"]),
        "attempts": template.max_attempts,
        "keep result": _span(template.keep_result_ms),
        "timeout": _span(template.timeout_ms),
        "backoff": template.backoff,
        "expires": _span(template.ttl_ms),
        "priority": template.priority or None,
        "lane": template.lane,
    }


def _rule(view: SchedulerView) -> str | None:
    return None if view.spec is None else view.spec.rule.describe()


def _zone(view: SchedulerView) -> tzinfo:
    return UTC if view.spec is None else zone_of(view.spec.rule)


def _coming_ms(view: SchedulerView) -> int | None:
    return view.next_ms if view.state is SchedulerState.WAITING else None


def _next(view: SchedulerView, now_ms: int) -> str | None:
    at_ms = _coming_ms(view)
    return None if at_ms is None else _seen(at_ms, _zone(view), now_ms)


def _later(view: SchedulerView, zone: tzinfo, now_ms: int) -> dict[str, object | None]:
    """What comes after the next one; of a paused scheduler, what a resumption would bring."""
    instants = [iso(each, zone) for each in foreseen(view, UPCOMING, now_ms=now_ms)]
    if view.state is SchedulerState.PAUSED:
        return {"if resumed": "\n".join(instants)}
    return {"then": "\n".join(instants[1:])}


def _seen(at_ms: int, zone: tzinfo, now_ms: int) -> str:
    return f"{iso(at_ms, zone)} ({coming(at_ms, now_ms)})"


def _reason(view: SchedulerView) -> str:
    match view.state:
        case SchedulerState.PAUSED:
            return (view.paused.reason if view.paused else None) or ""
        case SchedulerState.ENDED:
            return view.ended
        case SchedulerState.CORRUPT:
            return view.problem
        case SchedulerState.WAITING:
            return view.problem  # a zone that is not known here, say


def _told(view: SchedulerView) -> str:
    reason = _reason(view)
    return f"{view.state.value}{f': {reason}' if reason else ''}"


def _run_record(run: RunNote) -> dict[str, Any]:
    return {
        "instant": rfc3339(run.instant_ms),
        "job": run.job_id,
        "outcome": run.outcome,
        "at": rfc3339(run.at_ms),
    }


def _run_line(run: RunNote, zone: tzinfo, now_ms: int) -> str:
    return f"{iso(run.instant_ms, zone)} {run.outcome} {moment(run.at_ms, now_ms)}, {run.job_id}"


def _repeat_rule(repeat: RepeatView) -> str:
    return "every ?" if repeat.every_ms is None else f"every {format_duration(repeat.every_ms)}"


def _repeat_next_ms(repeat: RepeatView) -> int | None:
    return round(repeat.next_ms) if 0 <= repeat.next_ms < _NEVER_MS else None


def _repeat_state(repeat: RepeatView) -> str:
    return "broken" if repeat.problem else SchedulerState.WAITING.value


def _span(ms: int | None) -> str | None:
    return None if ms is None else format_duration(ms)
