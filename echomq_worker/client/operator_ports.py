"""What the client needs of operators' verbs, on a server or in memory."""

from typing import Protocol

from echomq_worker.domain.job import JobId
from echomq_worker.domain.views import JobNotes


class OperatorStore(Protocol):
    """What is done to one queue as a whole, and to its jobs by hand."""

    async def drain(self, *, scheduled: bool = False) -> int:
        """Remove the jobs that wait, but for lanes; return how many."""
        ...

    async def obliterate(self, *, force: bool = False) -> bool:
        """Remove part of a paused queue for good; True once it is gone."""
        ...

    async def update_data(self, job_id: JobId, payload: bytes) -> bool:
        """Replace the payload of a job; False if there is none."""
        ...

    async def notes(self, job_id: JobId) -> JobNotes | None:
        """Return what a job has told; None if there is no such job."""
        ...

    async def holder(self, key: str) -> JobId | None:
        """Return the job that holds a key of uniqueness; None if none does."""
        ...

    async def release(self, key: str) -> bool:
        """Set a key of uniqueness free, whoever holds it; False if it was."""
        ...
