"""How often something took how long."""

from bisect import bisect_left
from dataclasses import dataclass, field

from echomq_worker.domain.duration import format_duration


@dataclass(slots=True)
class Histogram:
    """Counts durations by the bounds that they do not exceed. All times are in ms."""

    bounds_ms: tuple[int, ...]
    """In rising order; what exceeds the last is counted too."""
    longest_ms: int = 0
    total_ms: int = 0
    counts: list[int] = field(init=False)
    """One for each bound, and one for what exceeds them all."""

    def __post_init__(self) -> None:
        self.counts = [0] * (len(self.bounds_ms) + 1)

    def add(self, ms: int) -> None:
        """Count one duration; one below 0 counts as 0."""
        ms = max(0, ms)
        self.counts[bisect_left(self.bounds_ms, ms)] += 1
        self.total_ms += ms
        self.longest_ms = max(self.longest_ms, ms)

    def by_bound(self) -> dict[str, int]:
        """Return how many lie up to each bound and above the one before; none are left out."""
        names = [f"up to {format_duration(bound)}" for bound in self.bounds_ms]
        longer = f"over {format_duration(self.bounds_ms[-1])}"
        found = zip([*names, longer], self.counts, strict=True)
        return {name: count for name, count in found if count}
