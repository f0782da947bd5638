"""Jobs with a priority or a lane, for tests, and a look at where they wait."""

from collections.abc import Sequence
from dataclasses import replace

from echomq_worker.domain.job import Held, JobId, NewJob
from tests.support.jobs import new_job
from tests.support.look import Look

GROUP = "LAN00000000001"


def ranked(id_: JobId, priority: int, *, at_ms: int | None = None) -> NewJob:
    """Make a job with a priority; with 0 it has none."""
    return replace(new_job(id_, at_ms=at_ms), priority=priority or None)


def in_lane(id_: JobId, group: str = GROUP) -> NewJob:
    """Make a job of a lane."""
    return replace(new_job(id_), group=group)


def ids(jobs: Sequence[Held]) -> list[JobId]:
    """Return the ids of jobs that were claimed."""
    return [job.id for job in jobs]


async def prioritized(look: Look) -> dict[str, int]:
    """Return what waits with a priority, and each score."""
    return await look.scores(f"{look.keys.root}prioritized")
