"""Which queue the next free slot goes to."""

from collections.abc import Collection, Sequence
from typing import Protocol

from echomq_worker.domain.queue_name import QueueWeight


class Picker(Protocol):
    """Chooses between queues that have work."""

    def next(self, waiting: Collection[str]) -> str:
        """Return the one of the `waiting` queues (at least one) whose turn it is."""
        ...


class Weighted:
    """Shares the slots by weight, as evenly spread as the weights allow.

    The smooth weighted round robin of nginx: with weights 5, 1, 1 the turns go a a b a c a a.

    Args:
        queues: all queues and their weights.
    """

    def __init__(self, queues: Sequence[QueueWeight]) -> None:
        self._weights = {queue.name: queue.weight for queue in queues}
        self._credit = dict.fromkeys(self._weights, 0)

    def next(self, waiting: Collection[str]) -> str:
        """Return the waiting queue with the most credit. Those that do not wait earn none."""
        credit = self._credit
        chosen = ""
        total = 0
        for name, weight in self._weights.items():
            if name not in waiting:
                continue
            total += weight
            credit[name] += weight
            if not chosen or credit[name] > credit[chosen]:
                chosen = name
        credit[chosen] -= total
        return chosen


class Strict:
    """Gives a queue nothing as long as one listed before it waits.

    Args:
        queues: all queues, the most urgent first.
    """

    def __init__(self, queues: Sequence[QueueWeight]) -> None:
        self._names = [queue.name for queue in queues]

    def next(self, waiting: Collection[str]) -> str:
        """Return the first waiting queue."""
        return next(name for name in self._names if name in waiting)
