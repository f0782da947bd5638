"""What a handler raises to say what should become of its job."""

from echomq_worker.domain.backoff import Duration
from echomq_worker.domain.duration import parse_duration_ms


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
        delay: how long to wait, such as `"5m"`.

    Raises:
        InvalidArgumentError: if `delay` is no duration.
    """

    def __init__(self, delay: Duration) -> None:
        super().__init__("the handler asked to run later")
        self.delay_ms = parse_duration_ms(delay)
