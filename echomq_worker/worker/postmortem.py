"""What is written down about a failed attempt."""

import traceback
from types import TracebackType

import structlog

from echomq_worker.domain.failures import Failure
from echomq_worker.domain.limits import TRACEBACK

FRAMES = 12
_OWN = "echomq_worker."


def examine(error: BaseException, *, attempt: int, worker: str, at_ms: int) -> Failure:
    """Describe what a handler raised. Never raises, and never shows values of variables.

    Args:
        error: what it raised.
        attempt: the number of the attempt, from 1.
        worker: the name of this worker.
        at_ms: now, in Unix milliseconds.
    """
    return Failure(
        attempt=attempt,
        type=type(error).__qualname__,
        message=message_of(error),
        traceback=traceback_of(error),
        worker=worker,
        at_ms=at_ms,
    )


def for_log(error: BaseException | None) -> dict[str, object]:
    """Return what a log line says about an error, so that no values of variables get into the log.

    An application that embeds a worker may have left structlog as it is; then its tracebacks show
    local variables, and with them arguments of jobs.
    """
    if error is None:
        return {}
    if structlog.is_configured():
        return {"exc_info": error}
    return {"error": f"{type(error).__qualname__}: {message_of(error)}", "at": traceback_of(error)}


def message_of(error: BaseException) -> str:
    """Return what an error says, even if it fails to say it."""
    try:
        return str(error)
    except Exception as failed:  # noqa: BLE001 - it is the application's code
        return f"(its text cannot be shown: {type(failed).__name__})"


def traceback_of(error: BaseException) -> str:
    """Return the last frames, from the handler on, of an error and of what caused it."""
    try:
        report = traceback.TracebackException(
            type(error),
            error,
            _from_handler(error.__traceback__),
            limit=-FRAMES,
            capture_locals=False,
            compact=True,
        )
        text = "".join(report.format())
    except Exception:  # noqa: BLE001 - a strange error is no reason to lose its job
        return ""
    if len(text) <= TRACEBACK:
        return text
    mark = "…\n"
    return mark + text[len(text) - TRACEBACK + len(mark) :]


def _from_handler(frames: TracebackType | None) -> TracebackType | None:
    """Skip our own frames, which say nothing about the failure."""
    own = frames
    while own is not None and own.tb_frame.f_globals.get("__name__", "").startswith(_OWN):
        own = own.tb_next
    return own or frames
