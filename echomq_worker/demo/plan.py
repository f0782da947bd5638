"""What the demonstration is going to enqueue."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

SHORTEST_DELAY_MS = 50


class Dice(Protocol):
    """What decides by chance: `random.Random`, or a test's."""

    def random(self) -> float:
        """Return a number from 0 to 1, without 1."""
        ...

    def randint(self, a: int, b: int) -> int:
        """Return a whole number from `a` to `b`, both included."""
        ...


@dataclass(frozen=True, slots=True)
class Errand:
    """One file to index."""

    path: Path
    delay_ms: int = 0
    """How long it is to wait first; 0 for at once."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that is going to be enqueued, besides the job that fails and the one that dies."""

    delayed: Sequence[Errand]
    immediate: Sequence[Errand]

    @property
    def errands(self) -> Sequence[Errand]:
        """All files, those that wait first: minted first, they are served first when due."""
        return [*self.delayed, *self.immediate]


def make_plan(paths: Iterable[Path], dice: Dice, *, share: float, longest_ms: int) -> Plan:
    """Decide by chance which files wait, and for how long.

    Args:
        paths: the files.
        dice: what decides.
        share: which part of the files waits, from 0 to 1.
        longest_ms: the longest wait; the shortest is 50 ms (or that long, if it is shorter).
    """
    delayed: list[Errand] = []
    immediate: list[Errand] = []
    for path in paths:
        if dice.random() < share:
            delay_ms = dice.randint(min(SHORTEST_DELAY_MS, longest_ms), longest_ms)
            delayed.append(Errand(path, delay_ms))
        else:
            immediate.append(Errand(path))
    return Plan(delayed, immediate)
