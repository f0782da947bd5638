"""What can be asked of a queue without changing anything."""

from collections.abc import Sequence

from echomq_worker.domain.job import JobId
from echomq_worker.domain.views import Counts, JobView, KeptResult, LogEntry, Order, PauseNote
from echomq_worker.store.inspect import Inspector


class QueueReads:
    """The questions of a `QueueStore`.

    Args:
        inspector: answers them.
    """

    def __init__(self, inspector: Inspector) -> None:
        self._inspector = inspector

    async def counts(self) -> Counts:
        """Count the jobs in each place."""
        return await self._inspector.counts()

    async def inspect(self, job_id: JobId) -> JobView | None:
        """Return everything about one job; None if there is none."""
        return await self._inspector.job(job_id)

    async def result(self, job_id: JobId) -> KeptResult | None:
        """Return the kept result of a completed job; None if none is kept (any more)."""
        return await self._inspector.result(job_id)

    async def dead(self, limit: int, *, offset: int = 0) -> list[JobView]:
        """Return dead jobs, the newest minted first."""
        return await self._inspector.dead(limit, offset)

    async def dead_ids(self, limit: int, *, offset: int = 0) -> list[JobId]:
        """Return the ids of dead jobs, the newest minted first."""
        return await self._inspector.dead_ids(limit, offset)

    async def dead_among(self, ids: Sequence[JobId]) -> list[JobId]:
        """Return those of `ids` (at most 1,000) that are dead."""
        return await self._inspector.dead_among(ids)

    async def pause_note(self) -> PauseNote | None:
        """Return since when the queue is paused, and why; None if it is not."""
        return await self._inspector.pause_note()

    async def order(self) -> Order:
        """Return what decides among jobs of one priority."""
        return await self._inspector.order()

    async def pending_ids(self, limit: int, *, newest_first: bool = False) -> list[JobId]:
        """Return ids that wait in `pending`, in mint order or reversed."""
        return await self._inspector.pending_ids(limit, newest_first=newest_first)

    async def log(self, *, after: str = "0", limit: int = 1_000) -> list[LogEntry]:
        """Return at most `limit` lifecycle events that came after the entry `after`, in order.

        Only a queue whose writers have a `log_size` has any.
        """
        return await self._inspector.log(after, limit)
