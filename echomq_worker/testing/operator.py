"""What operators do to a queue, and jobs tell, in memory."""

import threading
from dataclasses import dataclass, field

from echomq_worker.domain.job import JobId
from echomq_worker.domain.views import JobNotes, Places
from echomq_worker.errors import ActiveJobsError, NotPausedError
from echomq_worker.testing.places import MemoryQueue
from echomq_worker.testing.unique import InlineKeys

LOG_LINES = 1_000


@dataclass(frozen=True, slots=True)
class InlineOperator:
    """The verbs of operators on one queue in memory."""

    _memory: MemoryQueue = field(repr=False)
    _keys: InlineKeys = field(repr=False)
    _lock: threading.RLock = field(repr=False)

    async def drain(self, *, scheduled: bool = False) -> int:
        """Remove the jobs that wait, but for lanes; return how many."""
        with self._lock:
            rows = self._memory.rows
            ids = [each for each in self._memory.pending if rows[each].group is None]
            ids += list(self._memory.schedule) if scheduled else []
            for job_id in ids:
                self._memory.remove(job_id, Places.WAITING)
            return len(ids)

    async def obliterate(self, *, force: bool = False) -> bool:
        """Remove all jobs of a paused queue."""
        with self._lock:
            if not self._memory.paused:
                msg = f"queue {self._memory.name} is not paused: pause it first"
                raise NotPausedError(msg)
            if self._memory.active and not force:
                msg = f"jobs of queue {self._memory.name} are active: wait for them, or force it"
                raise ActiveJobsError(msg)
            for place in (self._memory.pending, self._memory.dead):
                place.clear()
            for table in (self._memory.rows, self._memory.schedule, self._memory.active):
                table.clear()
            self._memory.results.clear()
            self._keys.clear()
            self._memory.paused = False
            return True

    async def update_data(self, job_id: JobId, payload: bytes) -> bool:
        """Replace the payload of a job; False if there is none."""
        with self._lock:
            if (row := self._memory.rows.get(job_id)) is None:
                return False
            row.payload = payload
            return True

    async def update_progress(self, job_id: JobId, progress: str) -> bool:
        """Remember how far a job has come; False if there is no such job."""
        with self._lock:
            if (row := self._memory.rows.get(job_id)) is None:
                return False
            row.progress = progress
            return True

    async def add_log(self, job_id: JobId, line: str) -> int | None:
        """Remember a line of a job's log; return how many there are."""
        with self._lock:
            if (row := self._memory.rows.get(job_id)) is None:
                return None
            row.lines = [*row.lines, line][-LOG_LINES:]
            return len(row.lines)

    async def notes(self, job_id: JobId) -> JobNotes | None:
        """Return what a job has told; None if there is no such job."""
        with self._lock:
            row = self._memory.rows.get(job_id)
            return None if row is None else JobNotes(row.progress, tuple(row.lines))

    async def holder(self, key: str) -> JobId | None:
        """Return the job that holds a key of uniqueness; None if none does."""
        with self._lock:
            return self._keys.holder(key)

    async def release(self, key: str) -> bool:
        """Set a key of uniqueness free, whoever holds it; False if it was."""
        with self._lock:
            return self._keys.release(key)
