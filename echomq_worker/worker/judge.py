"""Turns the end of a run into the outcome of its job."""

from echomq_worker.domain.backoff import Backoff, Dice, read_backoff
from echomq_worker.domain.clock import Clock
from echomq_worker.domain.decision import (
    RetryPolicy,
    after_discard,
    after_expiry,
    after_failure,
    has_expired,
    without_handler,
)
from echomq_worker.domain.duration import format_duration
from echomq_worker.domain.failures import Failure
from echomq_worker.domain.outcome import Completed, HandedBack, Outcome, Snoozed
from echomq_worker.domain.struck import struck_by
from echomq_worker.errors import UnknownHandlerError
from echomq_worker.handlers.control import Discard, Retry, Snooze
from echomq_worker.handlers.options import HandlerOptions
from echomq_worker.worker.journal import Journal
from echomq_worker.worker.options import WorkerOptions
from echomq_worker.worker.postmortem import examine
from echomq_worker.worker.run import LEASE_LOST, SHUTDOWN, Run

_DONE = Completed()
_DEFAULTS = HandlerOptions()


class Judge:
    """Reads how a run ended. Writes nothing.

    Args:
        options: what holds where a handler says nothing.
        clock: dates the failures.
        dice: draws the random part of backoffs.
        journal: told of what a job asks for and cannot be read.
    """

    def __init__(self, options: WorkerOptions, clock: Clock, dice: Dice, journal: Journal) -> None:
        self._options = options
        self._clock = clock
        self._dice = dice
        self._journal = journal

    def too_late(self, run: Run) -> Outcome | None:
        """Judge a job by when it was to be started; None if it may run."""
        if not has_expired(run.held, run.now_ms):
            return None
        return after_expiry(run.held, run.now_ms, self._options.worker_name)

    def stopped(self, run: Run) -> Outcome | None:
        """Judge a job by its arguments, where some are stopped; None if it may run."""
        held = run.held
        scope = struck_by(held.struck, held.name, held.payload) if held.struck else None
        return None if scope is None else HandedBack(stopped_by=scope)

    def returned(self, run: Run, value: object) -> Completed:
        """Judge a handler that returned `value`. Raises if the value is to be kept and cannot."""
        handler = run.handler
        keep_ms = run.held.keep_result_ms
        if handler is None:
            return _DONE
        if keep_ms is None:
            keep_ms = handler.options.keep_result_ms
        return Completed(handler.encode_result(value), keep_ms) if keep_ms else _DONE

    def interrupted(self, run: Run, error: BaseException | None) -> Outcome | None:
        """Judge a handler that was told to stop, and did; None if the job is no longer ours."""
        if run.cancel_reason == LEASE_LOST:
            return None
        if isinstance(error, Snooze | Retry | Discard):
            return self.raised(run, error)
        if run.cancel_reason == SHUTDOWN:
            return HandedBack(started=True)
        late = TimeoutError(f"it did not end within {format_duration(run.timeout_ms)}")
        return self.raised(run, late.with_traceback(error.__traceback__ if error else None))

    def raised(self, run: Run, error: BaseException) -> Outcome:
        """Judge a handler that raised."""
        run.error = error
        match error:
            case Snooze():
                return self._snoozed(error)
            case Discard():
                return after_discard(run.held, self._failure(run, error))
            case _:
                pass
        return after_failure(
            run.held,
            error,
            self._failure(run, error),
            self._policy(run),
            self._dice,
            after_ms=error.after_ms if isinstance(error, Retry) else None,
        )

    def unknown(self, run: Run) -> Outcome:
        """Judge a job that has no handler here."""
        name = run.held.name
        wanted = f"no handler {name!r}" if name else f"no raw handler of queue {run.held.queue}"
        error = UnknownHandlerError(f"{wanted} was known to any worker for an hour")
        outcome = without_handler(run.held, run.now_ms, self._failure(run, error))
        if not isinstance(outcome, Snoozed):
            run.error = error
        return outcome

    def _snoozed(self, asked: Snooze) -> Snoozed:
        if asked.until_ms is None:
            return Snoozed(asked.delay_ms)
        return Snoozed(max(0, asked.until_ms - self._clock.now_ms()), until_ms=asked.until_ms)

    def _failure(self, run: Run, error: BaseException) -> Failure:
        return examine(
            error,
            attempt=run.held.attempt,
            worker=self._options.worker_name,
            at_ms=self._clock.now_ms(),
        )

    def _policy(self, run: Run) -> RetryPolicy:
        said = run.handler.options if run.handler else _DEFAULTS
        return RetryPolicy(
            max_attempts=said.max_attempts or self._options.max_attempts,
            backoff=self._asked(run) or said.backoff or self._options.backoff,
            bury_on=said.bury_on,
            uncounted_on=said.uncounted_on,
        )

    def _asked(self, run: Run) -> Backoff | None:
        """Return the backoff that the job itself asks for, if it does."""
        text = run.held.backoff
        if not text:
            return None
        found = read_backoff(text)
        if found is None:
            self._journal.backoff_unreadable(run)
        return found
