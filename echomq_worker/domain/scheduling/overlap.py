"""What becomes of an occurrence while a job of an earlier one still waits or runs."""

from enum import StrEnum

from echomq_worker.errors import InvalidArgumentError


class Overlap(StrEnum):
    """What to do with an occurrence whose predecessor has not ended."""

    ALLOW = "allow"
    """Its job is enqueued all the same."""
    SKIP = "skip"
    """It makes no job."""
    QUEUE_ONE = "queue-one"
    """It is kept back and fires when the predecessor ends; one at most is kept."""


def overlap_from(spec: str) -> Overlap:
    """Read an overlap policy; raise `InvalidArgumentError` if it is none."""
    try:
        return Overlap(spec)
    except ValueError:
        expected = ", ".join(repr(str(policy)) for policy in Overlap)
        msg = f"{spec!r} is no overlap policy: expected one of {expected}"
        raise InvalidArgumentError(msg) from None
