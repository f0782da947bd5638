"""What the client needs of a server, or of whatever stands in for one."""

from collections.abc import Sequence
from typing import Protocol

from echomq_worker.client.gate_ports import GateStore
from echomq_worker.client.lane_ports import LaneStore
from echomq_worker.client.operator_ports import OperatorStore
from echomq_worker.client.scheduler_ports import RepeatStore, SchedulerStore
from echomq_worker.domain.job import Admission, Due, JobId, NewJob
from echomq_worker.domain.unique import Unique
from echomq_worker.domain.views import (
    JobView,
    KeptResult,
    Moved,
    Order,
    Places,
    Removed,
    Reprioritized,
)


class Queue(Protocol):
    """One queue, as producers use it."""

    @property
    def schedulers(self) -> SchedulerStore:
        """Its schedulers."""
        ...

    @property
    def repeats(self) -> RepeatStore:
        """Its repeating registrations of the base wire."""
        ...

    @property
    def operator(self) -> OperatorStore:
        """What operators do to it."""
        ...

    @property
    def gates(self) -> GateStore:
        """Its limits, and what has been stopped."""
        ...

    @property
    def lanes(self) -> LaneStore:
        """Its lanes."""
        ...

    async def enqueue(self, jobs: Sequence[NewJob]) -> Sequence[Admission]:
        """Admit jobs, in one round trip per thousand; return what became of each, in order."""
        ...

    async def enqueue_unique(self, job: NewJob, unique: Unique) -> tuple[Admission, JobId]:
        """Admit a job unless its key is held; return what became of it, and whose job that is."""
        ...

    async def inspect(self, job_id: JobId) -> JobView | None:
        """Return a job; None if there is none (any more)."""
        ...

    async def result(self, job_id: JobId) -> KeptResult | None:
        """Return the result of a completed job; None if none is kept."""
        ...

    async def remove(self, job_id: JobId, places: Places) -> Removed:
        """Remove a job for good from one of `places`."""
        ...

    async def reschedule(self, ids: Sequence[JobId], due: Due) -> Sequence[Moved]:
        """Let jobs that wait for their time be due at another; return what became of each."""
        ...

    async def promote_now(self, ids: Sequence[JobId]) -> Sequence[Moved]:
        """Let jobs that wait for their time be claimed now; return what became of each."""
        ...

    async def reprioritize(self, ids: Sequence[JobId], priority: int) -> Sequence[Reprioritized]:
        """Let jobs have another priority; return what became of each."""
        ...

    async def order(self) -> Order:
        """Return what decides among jobs of one priority."""
        ...

    async def put_order(self, order: Order) -> None:
        """Say what decides among jobs of one priority."""
        ...


class Backend(Protocol):
    """A server with queues."""

    async def open(self) -> None:
        """Connect, and find out that queues can be used."""
        ...

    async def aclose(self) -> None:
        """Disconnect."""
        ...

    def queue(self, name: str) -> Queue:
        """Return the queue of a name."""
        ...


class Backends(Protocol):
    """Gives the backend that serves the running event loop, connected."""

    async def backend(self) -> Backend:
        """Return it; connect first if need be."""
        ...
