"""What a worker writes to beside the line of a queue: progress, logs, limits."""

from dataclasses import dataclass, field

from echomq_worker.domain.gates import Rate
from echomq_worker.domain.job import JobId


class FakeNotes:
    """Takes what jobs tell, and forgets it."""

    async def update_progress(self, job_id: JobId, progress: str) -> bool:
        del job_id, progress
        return True

    async def add_log(self, job_id: JobId, line: str) -> int | None:
        del job_id, line
        return 1


@dataclass(slots=True)
class FakeGates:
    """Remembers the limits that a worker puts in place."""

    limits: dict[str, Rate | int | None] = field(default_factory=dict[str, Rate | int | None])
    recounts: int = 0
    wrong: list[int] = field(default_factory=list[int])
    """How many counts the next calls will find wrong."""
    away: list[Exception] = field(default_factory=list[Exception])
    """What the next calls will raise."""

    async def limit_rate(self, scope: str, rate: Rate | None) -> bool:
        self.limits[f"rate:{scope}"] = rate
        return True

    async def limit_concurrency(self, scope: str, most: int | None) -> bool:
        self.limits[f"cap:{scope}"] = most
        return True

    async def recount(self) -> int:
        self.recounts += 1
        if self.away:
            raise self.away.pop(0)
        return self.wrong.pop(0) if self.wrong else 0
