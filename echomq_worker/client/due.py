"""When a job is to run, and until when it is to be started, as callers say it."""

from datetime import datetime

from echomq_worker.domain.backoff import Duration
from echomq_worker.domain.duration import LONGEST_MS, parse_duration_ms
from echomq_worker.domain.instants import unix_ms_of
from echomq_worker.domain.job import After, At, Due, NewJob
from echomq_worker.errors import InvalidArgumentError


def due_in(delay: Duration) -> After | None:
    """Return when a job is due that is to wait for `delay` first; None for at once.

    Raises:
        InvalidArgumentError: if the delay is no duration, negative, NaN, or over 100 years.
    """
    delay_ms = _delay_ms(delay)
    return After(delay_ms) if delay_ms else None


def due_at(when: datetime) -> At:
    """Return when a job is due that is to run at `when`; a time in the past means at once.

    Raises:
        InvalidArgumentError: if `when` is no datetime or does not say its time zone.
    """
    return At(unix_ms_of(when, "time to run a job"))


def due_by(when: Duration | datetime) -> Due:
    """Return when a waiting job is to be due instead: after a delay from now, or at an instant.

    Raises:
        InvalidArgumentError: as `due_in` and `due_at`.
    """
    return due_at(when) if isinstance(when, datetime) else After(_delay_ms(when))


def expiry(expires: Duration | datetime) -> Due:
    """Return until when a job is to be started: so long after it is due, or until an instant.

    Raises:
        InvalidArgumentError: as `due_in` and `due_at`, and if the duration is 0.
    """
    if isinstance(expires, datetime):
        return At(unix_ms_of(expires, "time by which a job is to be started"))
    expires_ms = _delay_ms(expires)
    if expires_ms == 0:
        msg = f"expires is {expires!r}: no job starts so soon. Expected a duration such as '10m'"
        raise InvalidArgumentError(msg)
    return After(expires_ms)


def check_due(due: Due | None, now_ms: int) -> None:
    """Raise `InvalidArgumentError` if an instant is over 100 years away from `now_ms`."""
    if isinstance(due, At) and due.unix_ms > now_ms + LONGEST_MS:
        msg = (
            f"{due.unix_ms} (Unix ms) is over 100 years away: expected a time at which somebody "
            f"will be there to run the job"
        )
        raise InvalidArgumentError(msg)


def check_times(job: NewJob, now_ms: int) -> None:
    """Check when a job is due, and until when it is to be started.

    Raises:
        InvalidArgumentError: if an instant is over 100 years away, or the job expires before it is
            due.
    """
    check_due(job.due, now_ms)
    check_due(job.expires, now_ms)
    match job.due, job.expires:
        case At(due_ms), At(expires_ms) if expires_ms < due_ms:
            msg = (
                f"the job expires {due_ms - expires_ms} ms before it is due: expected an `expires` "
                f"after its time to run, or a duration, which counts from then"
            )
            raise InvalidArgumentError(msg)
        case _:
            pass


def _delay_ms(delay: Duration) -> int:
    """Read a duration of which a text says its unit: a bare `"5"` is a mistake of some caller."""
    if isinstance(delay, str) and delay.strip().replace(".", "", 1).isdecimal():
        msg = (
            f"{delay!r:.80} is no duration: it does not say its unit. Expected a text such as "
            f"'{delay.strip():.20}s', or a number of seconds"
        )
        raise InvalidArgumentError(msg)
    return parse_duration_ms(delay)
