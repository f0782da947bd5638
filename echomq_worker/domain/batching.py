"""Batches: when there are enough jobs to begin, and what has become of each."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from echomq_worker.domain.job import JobId
from echomq_worker.domain.outcome import Buried, Completed, Outcome, Snoozed, Verdict
from echomq_worker.errors import InvalidArgumentError

MISSING = "missing verdict"
"""The error of a member of which the handler has said nothing."""


def enough_for_batch(waiting: int, elapsed_ms: int, *, size: int, wait_ms: int) -> int:
    """Return how many jobs a batch begins with now; 0 to wait for more.

    It begins with all that wait once there are `size` of them, or once `wait_ms` have passed and
    there are any (the base wire's shaper).

    Args:
        waiting: how many there are.
        elapsed_ms: how long the first of them has waited, in ms.
        size: how many make a batch at once, from 1.
        wait_ms: how long to wait for that many, from 1 ms.

    Raises:
        InvalidArgumentError: if `size` or `wait_ms` is no whole number from 1.
    """
    for what, value in (("size", size), ("wait_ms", wait_ms)):
        if type(value) is not int or value < 1:
            msg = f"{what} of a batch is {value!r}: expected a whole number, from 1"
            raise InvalidArgumentError(msg)
    return waiting if waiting >= size or (elapsed_ms >= wait_ms and waiting > 0) else 0


@dataclass(frozen=True, slots=True)
class Partition:
    """What has become of the members of a batch, each in their order."""

    completed: list[JobId] = field(default_factory=list[JobId])
    retried: list[JobId] = field(default_factory=list[JobId])
    dead: list[JobId] = field(default_factory=list[JobId])
    delayed: list[JobId] = field(default_factory=list[JobId])


def partition(settled: Sequence[tuple[JobId, Outcome, Verdict]]) -> Partition:
    """Sort the members of a batch by what has become of each.

    A member whose settlement was refused is somebody else's now: it counts as retried, since it
    runs again.
    """
    found = Partition()
    for job_id, outcome, verdict in settled:
        match outcome:
            case _ if verdict is not Verdict.OK:
                found.retried.append(job_id)
            case Completed():
                found.completed.append(job_id)
            case Buried():
                found.dead.append(job_id)
            case Snoozed():
                found.delayed.append(job_id)
            case _:
                found.retried.append(job_id)
    return found
