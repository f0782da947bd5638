"""What the command line tells about one job, for people and for programs."""

import base64
import json
from dataclasses import replace
from typing import Any

from echomq_worker.cli.words import moment, rfc3339
from echomq_worker.domain.failures import Failure, read_failures
from echomq_worker.domain.ids import parse_id
from echomq_worker.domain.job import JobId
from echomq_worker.domain.redaction import Redactor
from echomq_worker.domain.views import JobView, KeptResult

COMPLETED = "completed"


def job_record(view: JobView, *, redactor: Redactor | None) -> dict[str, Any]:
    """Return all that is known of a job, as plain data.

    Args:
        view: the job.
        redactor: hides secrets in its payload and errors; None shows them as they are.
    """
    return {
        "id": view.id,
        "queue": view.queue,
        "state": view.state.value,
        "name": view.name,
        "attempts": view.attempts,
        "max_attempts": view.max_attempts,
        "priority": view.priority,
        "lane": view.lane,
        "group": view.group,
        "held_by": view.gate,
        "enqueued_at": rfc3339(parse_id(view.id).unix_ms),
        "due_at": rfc3339(view.due_ms),
        "lease_ends_at": rfc3339(view.lease_ms),
        "died_at": rfc3339(view.died_ms),
        "expires_at": rfc3339(view.expires_ms),
        "scheduler": view.scheduler,
        "scheduled_for": rfc3339(view.instant_ms),
        "last_error": _hidden(view.last_error, redactor),
        "payload": readable(view.payload, redactor),
        "failures": [_failure_record(failure) for failure in _failures(view, redactor)],
    }


def result_record(
    job_id: JobId, queue: str, kept: KeptResult, *, redactor: Redactor | None
) -> dict[str, Any]:
    """Return what is known of a job that has completed and whose result is kept."""
    return {
        "id": job_id,
        "queue": queue,
        "state": COMPLETED,
        "enqueued_at": rfc3339(parse_id(job_id).unix_ms),
        "finished_at": rfc3339(kept.finished_ms),
        "result": readable(kept.result, redactor) if kept.result else None,
    }


def job_lines(
    view: JobView, record: dict[str, Any], now_ms: int, *, redactor: Redactor | None
) -> dict[str, object]:
    """Return the same for people: only what there is, with times as seen from `now_ms`."""
    attempts = (
        str(view.attempts)
        if view.max_attempts is None
        else (f"{view.attempts} of {view.max_attempts}")
    )
    lines: dict[str, object | None] = {
        "id": view.id,
        "queue": view.queue,
        "state": view.state.value,
        "name": view.name or "(raw)",
        "attempts": attempts,
        "priority": view.priority or None,
        "lane": view.lane,
        "group": view.group,
        "kept back by": view.gate,
        "enqueued": moment(parse_id(view.id).unix_ms, now_ms),
        "due": _moment(view.due_ms, now_ms),
        "lease ends": _moment(view.lease_ms, now_ms),
        "died": _moment(view.died_ms, now_ms),
        "expires": _moment(view.expires_ms, now_ms),
        "made by": _maker(view),
        "payload": one_text(record["payload"]),
        "last error": record["last_error"],
        "failures": _timeline(_failures(view, redactor), now_ms),
    }
    return {name: value for name, value in lines.items() if value is not None}


def result_lines(record: dict[str, Any], kept: KeptResult, now_ms: int) -> dict[str, object]:
    """Return what is known of a completed job, for people."""
    return {
        "id": record["id"],
        "queue": record["queue"],
        "state": COMPLETED,
        "enqueued": moment(parse_id(record["id"]).unix_ms, now_ms),
        "finished": moment(kept.finished_ms, now_ms),
        "result": "(none)" if not kept.result else one_text(record["result"]),
    }


def _maker(view: JobView) -> str | None:
    if view.scheduler is None or view.instant_ms is None:
        return view.scheduler
    return f"scheduler {view.scheduler}, for {rfc3339(view.instant_ms)}"


def _failures(view: JobView, redactor: Redactor | None) -> list[Failure]:
    failures = read_failures(view.failures)
    if redactor is None:
        return failures
    return [
        replace(
            failure,
            message=redactor.text(failure.message),
            traceback=redactor.text(failure.traceback),
        )
        for failure in failures
    ]


def _hidden(text: str | None, redactor: Redactor | None) -> str | None:
    return text if text is None or redactor is None else redactor.text(text)


def _failure_record(failure: Failure) -> dict[str, Any]:
    return {
        "attempt": failure.attempt,
        "type": failure.type,
        "message": failure.message,
        "worker": failure.worker,
        "at": rfc3339(failure.at_ms),
        "traceback": failure.traceback,
    }


def _timeline(failures: list[Failure], now_ms: int) -> str | None:
    if not failures:
        return None
    parts = [
        f"attempt {failure.attempt}, {moment(failure.at_ms, now_ms)}, on {failure.worker or '?'}: "
        f"{failure.type}: {failure.message}"
        for failure in failures
    ]
    last = failures[-1].traceback.rstrip()
    return "\n".join([*parts, last] if last else parts)


def readable(content: bytes, redactor: Redactor | None) -> Any:  # noqa: ANN401
    """Return a payload or result as plain data: JSON, else text, else base64."""
    try:
        value: object = json.loads(content)
    except (ValueError, RecursionError):
        try:
            value = content.decode()
        except UnicodeDecodeError:
            return {"base64": base64.b64encode(content).decode()}
    return value if redactor is None else redactor.value(value)


def one_text(value: object) -> str:
    """Write plain data in one line of JSON."""
    return json.dumps(value, ensure_ascii=False)


def _moment(at_ms: int | None, now_ms: int) -> str | None:
    return None if at_ms is None else moment(at_ms, now_ms)
