"""What schedulers have made in a run: every occurrence one job, and none left out."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

EVERY_MS = 100
OFTEN = "often"
"""Makes up for all that was missed: no occurrence of it may be left out."""
ALONE = "alone"
"""Leaves out what falls due while a job of it is there."""


@dataclass(slots=True)
class Occurrences:
    """The jobs that were made for each occurrence."""

    jobs: dict[str, dict[int, set[str]]] = field(
        default_factory=lambda: defaultdict[str, dict[int, set[str]]](dict)
    )

    def ran(self, scheduler: str, instant: int, job_id: str) -> None:
        """Note that a job of an occurrence has started."""
        self.jobs[scheduler].setdefault(instant, set()).add(job_id)

    def count(self) -> int:
        """Return how many occurrences there were."""
        return sum(len(instants) for instants in self.jobs.values())

    def complaints(self, counted: Mapping[str, int]) -> Iterator[tuple[str, str]]:
        """Yield each law that was broken, and how.

        Args:
            counted: how many jobs the server says that each scheduler has made.
        """
        for scheduler, instants in self.jobs.items():
            for instant, ids in instants.items():
                if len(ids) > 1:
                    yield "double-fired", f"{scheduler} at {instant} made {sorted(ids)}"
            if counted and counted.get(scheduler) != len(instants):
                yield (
                    "not-fired",
                    f"{scheduler}: {counted.get(scheduler)} jobs were made, {len(instants)} ran",
                )
        for instant in self._left_out():
            yield "not-fired", f"{OFTEN} at {instant} made no job"

    def _left_out(self) -> Iterator[int]:
        if instants := self.jobs.get(OFTEN):
            first, last = min(instants), max(instants)
            yield from (at for at in range(first, last, EVERY_MS) if at not in instants)
