"""Instants, as callers say them: datetimes with a time zone, in Unix milliseconds."""

from datetime import UTC, datetime, timedelta

from echomq_worker.errors import InvalidArgumentError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def unix_ms_of(when: datetime, what: str = "time") -> int:
    """Return an instant in Unix milliseconds, rounded up, so that nothing is ever early.

    A time that a clock change has left out means what it would have been without the change, which
    is as much later as the gap is long; of one that comes twice, `fold` says which is meant.

    Args:
        when: a datetime with a time zone. What lies before 1970 counts as 1970.
        what: the thing it is for, for the message, such as `time to run a job`.

    Raises:
        InvalidArgumentError: if it is no datetime or does not say its time zone.
    """
    if not isinstance(when, datetime):  # pyright: ignore[reportUnnecessaryIsInstance]
        msg = f"{when!r:.80} is no {what}: expected a datetime with a time zone"
        raise InvalidArgumentError(msg)
    if when.utcoffset() is None:
        msg = (
            f"{when.isoformat()} does not say its time zone: expected a datetime such as "
            f'datetime.now(UTC) or datetime(..., tzinfo=ZoneInfo("Europe/Berlin"))'
        )
        raise InvalidArgumentError(msg)
    return max(0, -((_EPOCH - when) // _MILLISECOND))
