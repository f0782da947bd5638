"""What every job of a scheduler is made of."""

from dataclasses import dataclass

from echomq_worker.domain.backoff import read_backoff
from echomq_worker.domain.duration import LONGEST_MS
from echomq_worker.domain.lanes import check_lane_name
from echomq_worker.domain.limits import ATTEMPTS
from echomq_worker.domain.priority import HIGHEST
from echomq_worker.errors import InvalidArgumentError


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """The job that a scheduler makes at each occurrence; None leaves a thing to the worker.

    Raises:
        InvalidArgumentError: if a number is out of range.
    """

    name: str | None
    """The handler; None for a job that any handler of the queue may be given."""
    payload: bytes = b""
    max_attempts: int | None = None
    keep_result_ms: int | None = None
    timeout_ms: int | None = None
    """How long a run may take; 0 means for ever."""
    ttl_ms: int | None = None
    """A job that has not started so long after it was made expires."""
    backoff: str | None = None
    """The wait between attempts, as `backoff_text` writes it."""
    priority: int | None = None
    """The rank of each job; lower runs first."""
    lane: str | None = None
    """The lane in which each job waits."""
    limit_key: str | None = None
    """What limits by key count each job under."""

    def __post_init__(self) -> None:
        _check("max_attempts", self.max_attempts, 1, ATTEMPTS)
        _check("keep_result", self.keep_result_ms, 0, LONGEST_MS)
        _check("timeout", self.timeout_ms, 0, LONGEST_MS)
        _check("ttl", self.ttl_ms, 1, LONGEST_MS)
        _check("priority", self.priority, -HIGHEST, HIGHEST)
        if self.lane is not None:
            check_lane_name(self.lane)
            if self.priority:
                msg = "the template has both a lane and a priority: expected one of them"
                raise InvalidArgumentError(msg)
        if self.backoff is not None and read_backoff(self.backoff) is None:
            msg = (
                f"the template's backoff is {self.backoff[:64]!r}: expected what backoff_text "
                f"writes, such as 'exponential:1000:600000:2:full'"
            )
            raise InvalidArgumentError(msg)


def _check(what: str, value: int | None, least: int, most: int) -> None:
    if value is not None and (type(value) is not int or not least <= value <= most):
        msg = f"the template's {what} is {value!r}: expected a whole number, {least} to {most}"
        raise InvalidArgumentError(msg)
