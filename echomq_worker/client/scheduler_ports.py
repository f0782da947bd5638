"""What the client needs of a queue's schedulers, on a server or in memory."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from echomq_worker.domain.job import Admission, JobId
from echomq_worker.domain.repeats import RepeatView

if TYPE_CHECKING:
    from echomq_worker.domain.scheduling.records import PutVerdict, SchedulerView
    from echomq_worker.domain.scheduling.spec import SchedulerSpec


class SchedulerStore(Protocol):
    """The schedulers of one queue."""

    async def put(
        self, spec: "SchedulerSpec", *, force: bool, source: str, tz: str
    ) -> "PutVerdict":
        """Create or replace a scheduler; `force` lets it replace what has the same revision."""
        ...

    async def get(self, name: str) -> "SchedulerView | None":
        """Return a scheduler; None if there is none."""
        ...

    async def list(self, limit: int, offset: int = 0) -> "Sequence[SchedulerView]":
        """Return schedulers, the next to fire first."""
        ...

    async def pause(self, name: str, *, reason: str, by: str) -> bool:
        """Let it make no more jobs; return whether there is one."""
        ...

    async def resume(self, name: str) -> bool:
        """Let it make jobs again; return whether there is one."""
        ...

    async def remove(self, name: str) -> bool:
        """Remove it; return whether there was one."""
        ...

    async def trigger(self, name: str, job_id: JobId) -> Admission | None:
        """Make a job of it now; None if there is no such scheduler."""
        ...

    async def now_ms(self) -> int:
        """Return the server's time."""
        ...


class RepeatStore(Protocol):
    """The repeating registrations of the base wire in one queue."""

    async def list(self) -> Sequence[RepeatView]:
        """Return them."""
        ...

    async def register(
        self, name: str, every_ms: int, template: bytes, first_in_ms: int = 0, /
    ) -> bool:
        """Create one; False if there is one of that name."""
        ...

    async def cancel(self, name: str) -> bool:
        """Remove one; return whether there was one."""
        ...
