"""What may name a queue, and the list of queues that a worker serves."""

import re
from dataclasses import dataclass

from echomq_worker.domain.limits import QUEUE_NAME as LONGEST
from echomq_worker.errors import InvalidArgumentError, InvalidQueueError

QUEUE_NAME = re.compile(rf"[A-Za-z0-9._-]{{1,{LONGEST}}}", re.ASCII)
RESERVED_QUEUE = "emq"
HEAVIEST = 1000
"""The largest weight of a queue."""


def check_queue_name(name: str) -> str:
    """Return `name` if it may name a queue; raise `InvalidQueueError` otherwise."""
    if name == RESERVED_QUEUE or not QUEUE_NAME.fullmatch(name):
        msg = (
            f"{name!r} cannot name a queue: use 1 to {LONGEST} of the characters A-Z a-z 0-9 . _ - "
            f"(and not {RESERVED_QUEUE!r}, which is reserved)"
        )
        raise InvalidQueueError(msg)
    return name


@dataclass(frozen=True, slots=True)
class QueueWeight:
    """A queue that a worker serves, and its share of the claims."""

    name: str
    weight: int = 1
    """1 to 1000: a queue of weight 6 is asked six times as often as one of weight 1."""

    def __post_init__(self) -> None:
        check_queue_name(self.name)
        if not 1 <= self.weight <= HEAVIEST:
            msg = f"queue {self.name} has the weight {self.weight}: expected 1 to {HEAVIEST}"
            raise InvalidArgumentError(msg)

    def __str__(self) -> str:
        return self.name if self.weight == 1 else f"{self.name}:{self.weight}"


def parse_queues(text: str) -> tuple[QueueWeight, ...]:
    """Read a list of queues such as `critical:6,default:3,low`, the most urgent first.

    Raises:
        InvalidArgumentError: if it is empty, names a queue twice, or has a bad name or weight.
    """
    queues = tuple(_queue(part.strip()) for part in text.split(","))
    seen: set[str] = set()
    for queue in queues:
        if queue.name in seen:
            msg = f"queue {queue.name} is named twice"
            raise InvalidArgumentError(msg)
        seen.add(queue.name)
    return queues


def _queue(part: str) -> QueueWeight:
    name, colon, weight = part.partition(":")
    if not part:
        msg = "a queue name is missing: expected a list such as critical:6,default:3,low"
        raise InvalidArgumentError(msg)
    if not colon:
        return QueueWeight(name)
    if not re.fullmatch(r"[0-9]{1,6}", weight.strip()):
        msg = (
            f"queue {name} has the weight {weight!r}: expected a whole number from 1 to {HEAVIEST}"
        )
        raise InvalidArgumentError(msg)
    return QueueWeight(name.strip(), int(weight))
