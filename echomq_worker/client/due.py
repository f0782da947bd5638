"""When a job is to run, as callers say it."""

from datetime import UTC, datetime, timedelta

from echomq_worker.domain.backoff import Duration
from echomq_worker.domain.duration import LONGEST_MS, parse_duration_ms
from echomq_worker.domain.job import After, At, Due
from echomq_worker.errors import InvalidArgumentError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def due_in(delay: Duration) -> After | None:
    """Return when a job is due that is to wait for `delay` first; None for at once.

    Raises:
        InvalidArgumentError: if the delay is no duration, negative, NaN, or over 100 years.
    """
    delay_ms = parse_duration_ms(delay)
    return After(delay_ms) if delay_ms else None


def due_at(when: datetime) -> At:
    """Return when a job is due that is to run at `when`; a time in the past means at once.

    Raises:
        InvalidArgumentError: if `when` is no datetime or does not say its time zone.
    """
    if not isinstance(when, datetime):  # pyright: ignore[reportUnnecessaryIsInstance]
        msg = f"{when!r} is no time to run a job: expected a datetime with a time zone"
        raise InvalidArgumentError(msg)
    if when.utcoffset() is None:
        msg = (
            f"{when.isoformat()} does not say its time zone: expected a datetime such as "
            f'datetime.now(UTC) or datetime(..., tzinfo=ZoneInfo("Europe/Berlin"))'
        )
        raise InvalidArgumentError(msg)
    # Rounded up: a job never starts before the instant that was asked for.
    return At(max(0, -((_EPOCH - when) // _MILLISECOND)))


def check_due(due: Due | None, now_ms: int) -> None:
    """Raise `InvalidArgumentError` if an instant is over 100 years away from `now_ms`."""
    if isinstance(due, At) and due.unix_ms > now_ms + LONGEST_MS:
        msg = (
            f"{due.unix_ms} (Unix ms) is over 100 years away: expected a time at which somebody "
            f"will be there to run the job"
        )
        raise InvalidArgumentError(msg)
