"""What a handler raises to say what should become of its job."""

from datetime import datetime

from echomq_worker.domain.backoff import Duration
from echomq_worker.domain.duration import parse_duration_ms
from echomq_worker.domain.instants import unix_ms_of
from echomq_worker.errors import InvalidArgumentError


class Retry(Exception):  # noqa: N818 - it asks for something, it reports no error
    """Try again later. This attempt counts; after the last one the job is buried.

    Args:
        after: how long to wait, such as `"30s"`; None leaves it to the job's backoff.
        reason: why, for the job's history.

    Raises:
        InvalidArgumentError: if `after` is no duration.
    """

    def __init__(self, after: Duration | None = None, reason: str = "") -> None:
        super().__init__(reason or "the handler asked for another attempt")
        self.after_ms = None if after is None else parse_duration_ms(after)
        self.reason = reason


class Discard(Exception):  # noqa: N818
    """Bury the job at once: no further attempt can help.

    Args:
        reason: why, for whoever looks at the dead jobs.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Snooze(Exception):  # noqa: N818
    """Run the job later, as if this attempt had not been made: it is not counted.

    Args:
        delay: how long to wait, such as `"5m"`, by the server's clock, from when it is told.
        until: when to run, in place of a delay: a datetime with a time zone. What is past means at
            once.

    Raises:
        InvalidArgumentError: if `delay` is no duration, `until` does not say its time zone, or both
            or none are given.
    """

    def __init__(self, delay: Duration | None = None, *, until: datetime | None = None) -> None:
        super().__init__("the handler asked to run later")
        if (delay is None) == (until is None):
            msg = "Snooze() takes a delay such as '5m', or until= a datetime: expected one of them"
            raise InvalidArgumentError(msg)
        self.delay_ms = 0 if delay is None else parse_duration_ms(delay)
        self.until_ms = None if until is None else unix_ms_of(until, "time to run a job")
