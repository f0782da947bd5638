"""What should become of a job whose attempt did not end well. Decides; writes nothing."""

import logging
import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from echomq_worker.domain.backoff import DEFAULT_BACKOFF, Backoff, Dice
from echomq_worker.domain.duration import LONGEST_MS, format_duration
from echomq_worker.domain.failures import Failure, read_failures, remember, shorten
from echomq_worker.domain.job import Held
from echomq_worker.domain.limits import UNCOUNTED
from echomq_worker.domain.outcome import Buried, Retried, Snoozed

log = logging.getLogger(__name__)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

UNKNOWN_FIRST_MS = 1_000
UNKNOWN_LONGEST_MS = 60_000
UNKNOWN_GIVE_UP_MS = 3_600_000
"""A job that no worker has known for so long is buried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How the failures of a handler's jobs are treated."""

    max_attempts: int
    """How often a job may be tried, unless the job says otherwise."""
    backoff: Backoff = DEFAULT_BACKOFF
    bury_on: tuple[type[BaseException], ...] = ()
    """Exceptions after which no further attempt is made."""
    uncounted_on: tuple[type[BaseException], ...] = ()
    """Exceptions that do not use up an attempt."""


def attempts_of(held: Held, policy: RetryPolicy) -> int:
    """Return how often a job may be tried: its own number, or else the policy's."""
    return policy.max_attempts if held.max_attempts is None else held.max_attempts


def after_failure(  # noqa: PLR0913 - a pure decision: all that it rests on is passed in
    held: Held,
    error: BaseException,
    failure: Failure,
    policy: RetryPolicy,
    dice: Dice,
    *,
    after_ms: int | None = None,
) -> Retried | Buried:
    """Decide between another attempt and the dead set.

    Args:
        held: the job.
        error: what the handler raised.
        failure: the same, as it will be remembered.
        policy: how its failures are treated.
        dice: draws the random part of the backoff.
        after_ms: the wait that the handler asked for; None leaves it to the backoff.
    """
    text = error_text(failure)
    history = remember(held.failures, failure)
    if isinstance(error, policy.bury_on):
        return Buried(text, history)
    if isinstance(error, policy.uncounted_on) and held.returned < UNCOUNTED:
        # The attempt number stands still, so what is remembered stands in for it: the wait grows.
        tries = max(held.attempt, len(read_failures(history)))
        delay_ms = _backoff_ms(policy.backoff, tries, dice) if after_ms is None else after_ms
        return Retried(delay_ms, text, history, counted=False)
    if held.attempt >= attempts_of(held, policy):
        return Buried(text, history)
    if after_ms is None:
        after_ms = _backoff_ms(policy.backoff, held.attempt, dice)
    return Retried(after_ms, text, history)


def after_discard(held: Held, failure: Failure) -> Buried:
    """Bury a job whose handler has said that no further attempt can help."""
    return Buried(error_text(failure), remember(held.failures, failure))


def without_handler(held: Held, now_ms: int, failure: Failure) -> Snoozed | Buried:
    """Decide about a job that names a handler which is not known here.

    It may be known to another worker, or soon to this one (a deploy is under way), so it is put
    back, uncounted, for 1 s at first and twice as long each time, up to a minute; after an hour it
    is buried, and the scheduler that has made it, if one has, is paused.

    Args:
        held: the job.
        now_ms: the server's clock.
        failure: what to remember if it is buried.
    """
    if held.unknown_since_ms is None:
        return Snoozed(UNKNOWN_FIRST_MS, unknown=True)
    elapsed_ms = now_ms - held.unknown_since_ms
    if elapsed_ms >= UNKNOWN_GIVE_UP_MS:
        return replace(after_discard(held, failure), pauses=held.scheduler is not None)
    # To wait as long again as it has waited so far doubles the wait each time.
    return Snoozed(min(max(elapsed_ms, UNKNOWN_FIRST_MS), UNKNOWN_LONGEST_MS), unknown=True)


def has_expired(held: Held, now_ms: int) -> bool:
    """Return whether a job is too late to be started for the first time.

    One that has been tried before is not too late for another attempt.

    Args:
        held: the job.
        now_ms: the server's clock when it was claimed.
    """
    if held.expires_ms is None or now_ms <= held.expires_ms:
        return False
    return held.attempt == 1 and not held.failures


def after_expiry(held: Held, now_ms: int, worker: str) -> Buried:
    """Bury a job that was not started in time.

    Args:
        held: the job, which `has_expired`.
        now_ms: the server's clock when it was claimed.
        worker: the name of the worker that claimed it.
    """
    expires_ms = now_ms if held.expires_ms is None else held.expires_ms
    late = format_duration(now_ms - expires_ms)
    text = f"it was to be started by {_moment(expires_ms)}, and was claimed {late} later"
    failure = Failure(
        attempt=held.attempt, type="Expired", message=text, at_ms=now_ms, worker=worker
    )
    return Buried(error_text(failure), remember(held.failures, failure), expired=True)


def error_text(failure: Failure) -> str:
    """Return a bounded text such as `ValueError: no such user`; line ends of the message stay."""
    message = shorten(failure.message)
    return f"{failure.type}: {message}" if message else failure.type


def _moment(unix_ms: int) -> str:
    return (_EPOCH + timedelta(milliseconds=unix_ms)).isoformat(timespec="milliseconds")


def _backoff_ms(backoff: Backoff, attempt: int, dice: Dice) -> int:
    """Ask the backoff; where it fails or answers nonsense, the default decides."""
    try:
        delay_ms = backoff.delay_ms(attempt, dice)
        if 0 <= delay_ms <= LONGEST_MS:  # NaN is not
            return math.ceil(delay_ms)
        problem = f"it answered {delay_ms!r}"
    except Exception as error:  # noqa: BLE001 - a job must not be lost to its backoff
        problem = f"{type(error).__name__}: {error}"
    log.warning(
        "the backoff %r failed for attempt %d (%s): expected whole milliseconds, at most 100 "
        "years; the default backoff is used",
        type(backoff).__name__,
        attempt,
        problem,
    )
    return DEFAULT_BACKOFF.delay_ms(attempt, dice)
