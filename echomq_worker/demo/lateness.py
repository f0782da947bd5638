"""How late things were, in a few numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil


@dataclass(frozen=True, slots=True)
class Lateness:
    """The spread of some waiting times, in ms. Below 0 would be too early."""

    count: int
    lowest: float
    p50: float
    p99: float
    highest: float


def lateness_of(values: Sequence[float]) -> Lateness | None:
    """Return the spread of some values (in ms); None if there are none."""
    if not values:
        return None
    ordered = sorted(values)
    return Lateness(
        count=len(ordered),
        lowest=ordered[0],
        p50=percentile(ordered, 50),
        p99=percentile(ordered, 99),
        highest=ordered[-1],
    )


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest of the values that `share` percent of them do not exceed."""
    return sorted(values)[max(0, ceil(len(values) * share / 100) - 1)]
