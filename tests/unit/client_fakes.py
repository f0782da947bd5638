"""What stands in for the server and the clock in tests of the producers' side."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from echomq_worker.client.gate_ports import GateStore
from echomq_worker.client.lane_ports import LaneStore
from echomq_worker.client.operator_ports import OperatorStore
from echomq_worker.client.scheduler_ports import RepeatStore, SchedulerStore
from echomq_worker.domain.job import Admission, Due, JobId, NewJob, State
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
from echomq_worker.errors import OutOfMemoryError, UnavailableError

NOW_MS = 1_750_000_000_000


class StepClock:
    """Time that passes only while somebody sleeps, and then at once."""

    def __init__(self) -> None:
        self.ms = 0
        self.slept_ms: list[int] = []

    def now_ms(self) -> int:
        return NOW_MS + self.ms

    def monotonic_ms(self) -> int:
        return self.ms

    async def sleep_ms(self, ms: int) -> None:
        self.slept_ms.append(ms)
        self.ms += ms


@dataclass
class FakeQueue:
    """Remembers what was enqueued, call by call."""

    calls: list[list[NewJob]] = field(default_factory=list[list[NewJob]])
    taken: set[JobId] = field(default_factory=set[JobId])
    views: dict[JobId, list[JobView | None]] = field(
        default_factory=dict[JobId, list[JobView | None]]
    )
    results: dict[JobId, KeptResult] = field(default_factory=dict[JobId, KeptResult])
    looks: int = 0
    silent: bool = False
    """Whether it lets nobody know what became of an enqueue."""
    full: bool = False
    """Whether it has no memory left for an enqueue."""
    moves: list[tuple[list[JobId], Due | None]] = field(
        default_factory=list[tuple[list[JobId], Due | None]]
    )
    """What was to be due when; None for now."""
    moved: Moved = Moved.OK
    """What it answers to that."""
    priorities: list[tuple[list[JobId], int]] = field(default_factory=list[tuple[list[JobId], int]])
    """What was to have which priority."""
    ordered: Order = Order.ARRIVAL
    reprioritized: Reprioritized = Reprioritized.OK
    """What it answers to that."""

    @property
    def schedulers(self) -> SchedulerStore:
        raise NotImplementedError

    @property
    def repeats(self) -> RepeatStore:
        raise NotImplementedError

    async def enqueue_unique(self, job: NewJob, unique: Unique) -> tuple[Admission, JobId]:
        raise NotImplementedError

    @property
    def gates(self) -> GateStore:
        raise NotImplementedError

    @property
    def operator(self) -> OperatorStore:
        raise NotImplementedError

    @property
    def lanes(self) -> LaneStore:
        raise NotImplementedError

    @property
    def jobs(self) -> list[NewJob]:
        return [job for call in self.calls for job in call]

    async def enqueue(self, jobs: Sequence[NewJob]) -> list[Admission]:
        self.calls.append(list(jobs))
        if self.silent:
            msg = "no answer"
            raise UnavailableError(msg, ids=[job.id for job in jobs])
        if self.full:
            msg = "the server is out of memory"
            raise OutOfMemoryError(msg, ids=[job.id for job in jobs])
        return [self._admit(job) for job in jobs]

    async def inspect(self, job_id: JobId) -> JobView | None:
        self.looks += 1
        seen = self.views.get(job_id, [None])
        return seen.pop(0) if len(seen) > 1 else seen[0]

    async def result(self, job_id: JobId) -> KeptResult | None:
        return self.results.get(job_id)

    async def remove(self, job_id: JobId, places: Places) -> Removed:
        assert places is Places.WAITING
        view = await self.inspect(job_id)
        if view is None:
            return Removed.GONE
        waits = view.state in {State.PENDING, State.SCHEDULED}
        return Removed.OK if waits else Removed.ELSEWHERE

    async def reschedule(self, ids: Sequence[JobId], due: Due) -> list[Moved]:
        self.moves.append((list(ids), due))
        return [self.moved] * len(ids)

    async def promote_now(self, ids: Sequence[JobId]) -> list[Moved]:
        self.moves.append((list(ids), None))
        return [self.moved] * len(ids)

    async def reprioritize(self, ids: Sequence[JobId], priority: int) -> list[Reprioritized]:
        self.priorities.append((list(ids), priority))
        return [self.reprioritized] * len(ids)

    async def order(self) -> Order:
        return self.ordered

    async def put_order(self, order: Order) -> None:
        self.ordered = order

    def _admit(self, job: NewJob) -> Admission:
        if job.id in self.taken:
            return Admission.DUPLICATE
        self.taken.add(job.id)
        return Admission.ENQUEUED if job.due is None else Admission.SCHEDULED


@dataclass
class FakeBackend:
    """A server in memory that counts how often it was opened and closed."""

    queues: dict[str, FakeQueue] = field(default_factory=dict[str, FakeQueue])
    opened: int = 0
    closed: int = 0
    down: bool = False

    async def open(self) -> None:
        if self.down:
            msg = "nobody answers"
            raise UnavailableError(msg)
        self.opened += 1

    async def aclose(self) -> None:
        self.closed += 1

    def queue(self, name: str) -> FakeQueue:
        return self.queues.setdefault(name, FakeQueue())
