"""What the client needs of a queue's lanes, on a server or in memory."""

from collections.abc import Sequence
from typing import Protocol

from echomq_worker.domain.gates import Rate
from echomq_worker.domain.job import JobId
from echomq_worker.domain.lanes import LaneView, OnFull, Reassigned
from echomq_worker.domain.replies import Reaped


class LaneStore(Protocol):
    """The lanes of one queue."""

    async def pause(self, lane: str, *, reason: str = "", by: str = "") -> bool:
        """Stop serving a lane; return whether it was served before."""
        ...

    async def resume(self, lane: str) -> bool:
        """Serve a lane again; return whether it was paused."""
        ...

    async def limit(self, lane: str, most: int | None) -> None:
        """Let at most so many jobs of a lane be active at once; None lifts the limit."""
        ...

    async def weight(self, lane: str, weight: int | None) -> None:
        """Let so many jobs of a lane be served when it is its turn; None means one."""
        ...

    async def rate(self, lane: str, rate: Rate | None) -> bool:
        """Set how often jobs of a lane may start; return whether that was changed."""
        ...

    async def first(self, lane: str, *, on: bool = True) -> bool:
        """Serve a lane before those that do not go first; return whether that was changed."""
        ...

    async def maximum(
        self, lane: str, most: int | None, on_full: OnFull | str = OnFull.REFUSE
    ) -> None:
        """Let at most so many jobs wait in a lane; None lifts the maximum."""
        ...

    async def reassign(self, job_id: JobId, lane: str, *, flat: bool = False) -> Reassigned:
        """Let a waiting job wait in another lane; `flat`: also if it is in none now."""
        ...

    async def drain(self, lane: str) -> int:
        """Remove for good what waits in a lane; return how many jobs that were."""
        ...

    async def reap(self, lane: str) -> Reaped:
        """Take back jobs of a lane whose lease has run out."""
        ...

    async def depths(self, lanes: Sequence[str]) -> dict[str, int]:
        """Return how many jobs wait in each of some lanes."""
        ...

    async def inspect(self, lane: str) -> LaneView:
        """Return how a lane stands."""
        ...

    async def list(self, limit: int = 100, *, offset: int = 0) -> Sequence[LaneView]:
        """Return lanes that are known."""
        ...
