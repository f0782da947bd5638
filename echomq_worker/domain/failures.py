"""The last failed attempts of a job, as kept with its row."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from echomq_worker.domain.limits import ERROR_TEXT, FAILURES, FAILURES_BYTES, TRACEBACK

_NAME_LIMIT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One failed attempt."""

    attempt: int
    """The number of the attempt, from 1."""
    type: str
    """The name of the exception's class."""
    message: str
    at_ms: int
    """When it failed, in Unix milliseconds, by the worker's clock."""
    traceback: str = ""
    """The frames of the handler, without values of variables."""
    worker: str = ""
    """The name of the worker that ran it."""


def remember(history: bytes | None, failure: Failure) -> bytes:
    """Add a failure to a history, and forget what no longer fits.

    Args:
        history: what was remembered so far; None or what cannot be read counts as nothing.
        failure: the newest one.

    Returns:
        A JSON list, newest last, of at most 5 failures and 16 KiB.
    """
    failures = [*read_failures(history), _bounded(failure)][-FAILURES:]
    written = _write(failures)
    for older in range(len(failures)):
        if len(written) <= FAILURES_BYTES:
            break
        # Old tracebacks go first: type and message of each attempt tell the story.
        failures[older] = replace(failures[older], traceback="")
        written = _write(failures)
    while len(written) > FAILURES_BYTES:
        del failures[0]  # never the last one: its bounds leave room for one in any encoding
        written = _write(failures)
    return written


def read_failures(history: bytes | None) -> list[Failure]:
    """Read a history, oldest first. What cannot be read (another program's, say) is skipped."""
    if not history:
        return []
    try:
        entries: object = json.loads(history)
    except (ValueError, RecursionError):
        return []
    if not isinstance(entries, list):
        return []
    return [
        _read(cast("dict[str, Any]", entry))
        for entry in cast("list[object]", entries)[-FAILURES:]
        if isinstance(entry, dict)
    ]


def shorten(text: str, limit: int = ERROR_TEXT) -> str:
    """Return a text of at most `limit` characters, with its middle left out if need be."""
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    if len(text) <= limit:
        return text
    mark = f" … {len(text) - limit} characters left out … "
    head = (limit - len(mark)) * 2 // 3
    return text[:head] + mark + text[len(text) - (limit - len(mark) - head) :]


def _bounded(failure: Failure) -> Failure:
    return replace(
        failure,
        type=shorten(failure.type, _NAME_LIMIT),
        message=shorten(failure.message),
        traceback=shorten(failure.traceback, TRACEBACK),
        worker=shorten(failure.worker, _NAME_LIMIT),
    )


def _write(failures: Sequence[Failure]) -> bytes:
    entries = [
        {
            "attempt": failure.attempt,
            "type": failure.type,
            "message": failure.message,
            "traceback": failure.traceback,
            "worker": failure.worker,
            "at": failure.at_ms,
        }
        for failure in failures
    ]
    return json.dumps(entries, ensure_ascii=False, separators=(",", ":")).encode()


def _read(entry: dict[str, Any]) -> Failure:
    return _bounded(
        Failure(
            attempt=_whole(entry.get("attempt")),
            type=_text(entry.get("type")),
            message=_text(entry.get("message")),
            traceback=_text(entry.get("traceback")),
            worker=_text(entry.get("worker")),
            at_ms=_whole(entry.get("at")),
        )
    )


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
