"""The lines about jobs that a worker logs. Their wording is nobody else's business."""

import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import structlog

from echomq_worker.domain.clock import Clock
from echomq_worker.domain.failures import shorten
from echomq_worker.domain.job import JobId
from echomq_worker.domain.outcome import (
    Buried,
    Completed,
    HandedBack,
    Outcome,
    Retried,
    Snoozed,
    Verdict,
)
from echomq_worker.errors import InvalidIdError
from echomq_worker.worker.postmortem import for_log, message_of
from echomq_worker.worker.run import Run

QUIET_MS = 60_000
"""A handler that is not known is named once in so long, and malformed rows are counted."""
MOST_NAMES = 1_000


class Journal:
    """Writes one line for each attempt that has ended, and one for each trouble on the way.

    Args:
        clock: tells how long ago something was said.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        # Bound once: at thousands of jobs a second even looking up the logger is felt.
        self._log: Any = structlog.get_logger("echomq.worker").bind()
        self._says_debug = _is_enabled(self._log, logging.DEBUG)
        self._says_info = _is_enabled(self._log, logging.INFO)
        self._told: dict[tuple[str, str | None], int] = {}
        self._set_aside: dict[str, int] = {}

    def settled(self, run: Run, outcome: Outcome) -> None:
        """Write the line of an attempt whose outcome the server has accepted."""
        if type(outcome) is Completed:
            if self._says_info:
                self._log.info("job.completed", **_ids(run), **_times(run))
            return
        match outcome:
            case Retried(delay_ms, counted=counted):
                self._log.warning(
                    "job.failed",
                    **_ids(run),
                    **_times(run),
                    **_error(run),
                    next_run_in=delay_ms / 1_000,
                    counted=counted,
                    **for_log(run.error),
                )
            case Buried(reason, expired=True):
                self._log.warning("job.expired", **_ids(run), **_times(run), reason=reason)
            case Buried(reason):
                self._log.error(
                    "job.buried",
                    **_ids(run),
                    **_times(run),
                    **_error(run),
                    reason=reason,
                    **for_log(run.error),
                )
            case Snoozed(delay_ms, unknown=False):
                self._log.info("job.snoozed", **_ids(run), next_run_in=delay_ms / 1_000)
            case Snoozed():
                pass  # said when it was found
            case HandedBack():
                self._log.info("job.returned", **_ids(run), **_times(run), reason="shutdown")
            case _:
                pass

    def started(self, run: Run) -> None:
        """Say that a handler begins."""
        if self._says_debug:
            self._log.debug("job.started", **_ids(run))

    def refused(self, run: Run, verdict: Verdict) -> None:
        """Say that the server did not accept an outcome."""
        self._log.warning(
            "job.refused",
            **_ids(run),
            **_times(run),
            verdict=verdict.value,
            hint="its lease ran out or it was removed; this outcome was not counted",
        )

    def unwritable(self, run: Run, error: Exception) -> None:
        """Say that the server refuses an outcome for good."""
        self._log.error(
            "job.unwritable",
            **_ids(run),
            **_times(run),
            error_message=message_of(error),
            hint="its outcome is dropped; it runs again when its lease has run out",
        )

    def lease_lost(self, run: Run, verdict: Verdict) -> None:
        """Say that a running job is no longer ours."""
        self._log.warning(
            "job.lease_lost",
            **_ids(run),
            verdict=verdict.value,
            hint="the handler is cancelled; another worker runs the job",
        )

    def timed_out(self, run: Run) -> None:
        """Say that a run has reached its time limit."""
        hint = (
            "it runs in a thread, which cannot be stopped: it keeps its slot until it ends, and "
            "sees context.cancelled"
            if run.in_thread
            else "the handler is cancelled"
        )
        self._log.warning("job.timed_out", **_ids(run), hint=hint)

    def ignores_cancellation(self, run: Run) -> None:
        """Say that a handler was asked to stop and goes on."""
        hint = (
            "it runs in a thread: let it look at context.cancelled now and then"
            if run.in_thread
            else "let it pass CancelledError on"
        )
        self._log.warning(
            "job.ignores_cancellation", **_ids(run), reason=run.cancel_reason, hint=hint
        )

    def swallowed_cancellation(self, run: Run) -> None:
        """Say that a cancelled handler returned as if nothing had happened."""
        self._log.warning(
            "job.swallowed_cancellation",
            **_ids(run),
            reason=run.cancel_reason,
            hint="what it returned is not used: let it pass CancelledError on",
        )

    def no_handler(self, run: Run, known: Sequence[str]) -> None:
        """Say that a job names a handler which is not known here; not for each such job."""
        if not self._is_news(run.held.queue, run.held.name):
            return
        name = f"no handler {run.held.name!r}" if run.held.name else "no raw handler"
        self._log.warning(
            "job.handler_missing",
            **_ids(run),
            reason=f"{name} here; known: {shorten(', '.join(known)) or 'none'}",
            **({"scheduler": run.held.scheduler} if run.held.scheduler else {}),
            hint="it is put back, uncounted, and buried after an hour",
        )

    def backoff_unreadable(self, run: Run) -> None:
        """Say that a job asks for a backoff that means nothing here; not for each such job."""
        if self._is_news(run.held.queue, f"backoff {run.name}"):
            self._log.warning(
                "job.backoff_unreadable",
                **_ids(run),
                backoff=shorten(run.held.backoff or "", 100),
                hint="its handler's backoff is used; a newer version may have written it",
            )

    def result_dropped(self, run: Run, error: Exception) -> None:
        """Say that a result cannot be kept."""
        self._log.error("job.result_dropped", **_ids(run), error_message=message_of(error))

    def undecided(self, run: Run, error: BaseException) -> None:
        """Say that we failed ourselves; the lease of the job will run out."""
        self._log.error("job.undecided", **_ids(run), **for_log(error))

    def reaped(self, queue: str, recovered: Sequence[JobId], buried: Sequence[JobId]) -> None:
        """Say what became of jobs whose workers died."""
        if recovered:
            self._log.warning(
                "jobs.recovered", queue=queue, jobs=list(recovered[:20]), count=len(recovered)
            )
        if buried:
            self._log.error(
                "jobs.buried",
                queue=queue,
                jobs=list(buried[:20]),
                count=len(buried),
                reason="lost their lease too often",
            )

    def emptied(self, queue: str) -> None:
        """Say that the server has lost all that it knew of a queue."""
        self._log.error(
            "server.emptied",
            queue=queue,
            hint="waiting jobs and results of this queue are gone; work goes on with new ones. "
            "Who sent FLUSHALL, or did the server start without its data?",
        )

    def set_aside(self, queue: str, count: int) -> None:
        """Say that malformed rows were found; at times, with how many since the last line."""
        count += self._set_aside.pop(queue, 0)
        if not self._is_news(queue, "malformed rows"):
            self._set_aside[queue] = count
            return
        self._log.error(
            "jobs.set_aside",
            queue=queue,
            count=count,
            hint=f"malformed: look into the stream emq:{{{queue}}}:quarantine",
        )

    def _is_news(self, queue: str, name: str | None) -> bool:
        key = (queue, name)
        now_ms = self._clock.monotonic_ms()
        if now_ms - self._told.get(key, -QUIET_MS) < QUIET_MS:
            return False
        if len(self._told) >= MOST_NAMES:
            self._told.clear()
        self._told[key] = now_ms
        return True


def _is_enabled(log: Any, level: int) -> bool:  # noqa: ANN401 - whatever structlog is set up with
    ask = getattr(log, "is_enabled_for", None)
    return True if ask is None else bool(ask(level))


def _ids(run: Run) -> dict[str, Any]:
    held = run.held
    return {"queue": held.queue, "job_name": run.name, "job_id": held.id, "attempt": held.attempt}


def _times(run: Run) -> dict[str, float]:
    times = {"duration": round(run.seconds, 6)}
    if run.context is not None:
        with suppress(InvalidIdError):  # an id that nobody minted says nothing about its age
            # Not how long it waited: nothing tells when a delayed or repeated job was due.
            times["age"] = max(0, run.now_ms - run.context.enqueued_ms) / 1_000
    return times


def _error(run: Run) -> dict[str, Any]:
    if run.error is None:
        return {}
    return {
        "error_type": type(run.error).__qualname__,
        "error_message": shorten(message_of(run.error)),
        "max_attempts": run.context.max_attempts if run.context else run.held.max_attempts,
    }
