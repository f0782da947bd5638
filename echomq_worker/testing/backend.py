"""A stand-in for a server: queues in memory, behind the methods of those on a server."""

import secrets
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from echomq_worker.domain.ids import parse_id
from echomq_worker.domain.job import Admission, Due, Held, JobId, NewJob
from echomq_worker.domain.outcome import Verdict
from echomq_worker.domain.queue_name import check_queue_name
from echomq_worker.domain.replies import Reaped
from echomq_worker.domain.unique import Unique
from echomq_worker.domain.views import (
    Counts,
    JobView,
    KeptResult,
    Moved,
    Order,
    Places,
    Promoted,
    Removed,
    Reprioritized,
    Requeued,
)
from echomq_worker.testing.clock import ManualClock
from echomq_worker.testing.gates import InlineGates
from echomq_worker.testing.lanes import InlineLanes
from echomq_worker.testing.line import InlineLine
from echomq_worker.testing.operator import InlineOperator
from echomq_worker.testing.places import MemoryQueue
from echomq_worker.testing.repeats import InlineRepeats
from echomq_worker.testing.schedulers import InlineSchedulers
from echomq_worker.testing.timetable import Timetable
from echomq_worker.testing.unique import InlineKeys

_TAKEN_IN = frozenset({Admission.ENQUEUED, Admission.SCHEDULED, Admission.KEPT})


@dataclass(frozen=True, slots=True)
class Admitted:
    """A job that a queue has taken in."""

    queue: str
    job: NewJob
    at_ms: int
    """When, in Unix milliseconds."""


class InlineBackend:
    """Keeps queues in memory. Give it to an application: `EchoMQ(backend=InlineBackend())`.

    Event loops and threads may share it. It is gone with the process.

    Args:
        clock: says what is due; one that stands still until it is moved, if not given.
    """

    def __init__(self, clock: ManualClock | None = None) -> None:
        self.clock = ManualClock() if clock is None else clock
        self.admitted: list[Admitted] = []
        """All that was ever enqueued, in order."""
        self._queues: dict[str, InlineQueue] = {}
        self._lock = threading.RLock()

    async def open(self) -> None:
        """Do nothing: memory needs no connection."""

    async def aclose(self) -> None:
        """Do nothing: what was enqueued stays."""

    def queue(self, name: str) -> "InlineQueue":
        """Return the queue of a name. Raises `InvalidQueueError`."""
        with self._lock:
            if name not in self._queues:
                memory = MemoryQueue(check_queue_name(name), self.clock.now_ms)
                self._queues[name] = InlineQueue.of(memory, self.admitted, self._lock)
            return self._queues[name]

    def next_ms(self) -> int | None:
        """Return when something is due that is not due yet, in Unix ms; None if nothing is."""
        times = [queue.next_ms() for queue in self.queues()]
        return min((each for each in times if each is not None), default=None)

    def queues(self) -> list["InlineQueue"]:
        """Return all queues that were asked for, by name."""
        with self._lock:
            return [self._queues[name] for name in sorted(self._queues)]


@dataclass(frozen=True, slots=True)
class InlineQueue:
    """One queue in memory, with the methods that a queue on a server has."""

    memory: MemoryQueue
    schedulers: InlineSchedulers
    repeats: InlineRepeats
    gates: InlineGates
    operator: InlineOperator
    lanes: InlineLanes
    keys: InlineKeys
    _admitted: list[Admitted] = field(repr=False)
    _lock: threading.RLock = field(repr=False)

    @classmethod
    def of(
        cls, memory: MemoryQueue, admitted: list[Admitted], lock: threading.RLock
    ) -> "InlineQueue":
        """Make the queue around its memory; what it takes in is added to `admitted`."""

        def made(job: NewJob) -> None:
            admitted.append(Admitted(memory.name, job, memory.now()))

        schedulers = InlineSchedulers(Timetable(memory, made), memory.now, lock)
        repeats, gates = InlineRepeats(memory, lock, made), InlineGates(memory, lock)
        lanes = InlineLanes(memory, lock)
        keys = InlineKeys(memory)
        operator = InlineOperator(memory, keys, lock)
        return cls(memory, schedulers, repeats, gates, operator, lanes, keys, admitted, lock)

    @property
    def name(self) -> str:
        """What it is called."""
        return self.memory.name

    async def enqueue(self, jobs: Sequence[NewJob]) -> list[Admission]:
        """Admit jobs, due at once or later; return what became of each, in order."""
        for job in jobs:
            parse_id(job.id)
        with self._lock:
            # As on a server: all that may run at once, then all that is due later.
            at_once_first = sorted(range(len(jobs)), key=lambda i: jobs[i].due is not None)
            admissions = {i: self.memory.admit(jobs[i]) for i in at_once_first}
            self._remember(job for i, job in enumerate(jobs) if admissions[i] in _TAKEN_IN)
            return [admissions[i] for i in range(len(jobs))]

    async def enqueue_unique(self, job: NewJob, unique: Unique) -> tuple[Admission, JobId]:
        """Admit a job unless its key is held; return what became of it, and whose job that is."""
        parse_id(job.id)
        with self._lock:
            admission, winner = self.keys.admit(job, unique)
            if admission in _TAKEN_IN:
                self._remember([job])
            return admission, winner

    def fire_due(self, mint: Callable[[], JobId]) -> None:
        """Fire the schedulers and registrations that are due, as the firer of a worker does.

        Args:
            mint: gives an id for each job.
        """
        self.schedulers.fire_due(mint)
        self.repeats.fire_due(mint)

    def next_ms(self) -> int | None:
        """Return when something is due that is not due yet, in Unix ms; None if nothing is."""
        with self._lock:
            times = [*self.memory.schedule.values(), self.repeats.next_ms()]
            times += [each.wakes_ms for each in self.schedulers.timetable.in_order()]
            now_ms = self.memory.now()
            later = [int(each) for each in times if each is not None and each > now_ms]
            return min(later, default=None)

    def line(self, *, worker_id: str = "") -> InlineLine:
        """Open a line: the claims, settlements and beats of one worker."""
        return InlineLine(self.memory, self._lock, worker_id, secrets.token_hex(6))

    async def promote(self, limit: int) -> Promoted:
        """Move at most `limit` due jobs to where they may be claimed."""
        with self._lock:
            due = self.memory.due(limit)
            self.memory.promote(due)
            next_due_ms = min(self.memory.schedule.values(), default=None)
            return Promoted(len(due), next_due_ms, self.memory.now())

    async def reap(self, limit: int, *, crash_limit: int = 0, max_attempts: int = 0) -> Reaped:
        """Take back at most `limit` jobs whose lease has run out; bury those over a limit."""
        with self._lock:
            return self.memory.reap(limit, crash_limit, max_attempts)

    async def extend(self, held: Sequence[Held], lease_ms: int) -> list[Verdict]:
        """Push the leases of held jobs back to `lease_ms` from now."""
        with self._lock:
            return [self.memory.extend(job, lease_ms) for job in held]

    async def pause(self, *, reason: str = "", by: str = "") -> None:
        """Stop handing out jobs; running ones go on. Nothing remembers why, or by whom."""
        del reason, by
        self.memory.paused = True

    async def resume(self) -> None:
        """Hand out jobs again."""
        self.memory.paused = False

    async def requeue(self, ids: Sequence[JobId]) -> list[Requeued]:
        """Bring dead jobs back with all their attempts before them again."""
        with self._lock:
            return [self.memory.requeue(job_id) for job_id in ids]

    async def remove(self, job_id: JobId, places: Places) -> Removed:
        """Remove a job for good from one of `places`; a job that is held is not removed."""
        with self._lock:
            return self.memory.remove(job_id, places)

    async def reschedule(self, ids: Sequence[JobId], due: Due) -> list[Moved]:
        """Let jobs that wait for their time be due at another."""
        with self._lock:
            return [self.memory.reschedule(job_id, due) for job_id in ids]

    async def promote_now(self, ids: Sequence[JobId]) -> list[Moved]:
        """Let jobs that wait for their time be claimed now."""
        with self._lock:
            return [self.memory.promote_now(job_id) for job_id in ids]

    async def reprioritize(self, ids: Sequence[JobId], priority: int) -> list[Reprioritized]:
        """Let jobs have another priority."""
        with self._lock:
            return [self.memory.reprioritize(job_id, priority) for job_id in ids]

    async def order(self) -> Order:
        """Return what decides among jobs of one priority."""
        return self.memory.order

    async def put_order(self, order: Order) -> None:
        """Say what decides among jobs of one priority."""
        with self._lock:
            self.memory.put_order(order)

    async def counts(self) -> Counts:
        """Count the jobs in each place."""
        with self._lock:
            return self.memory.counts()

    async def inspect(self, job_id: JobId) -> JobView | None:
        """Return everything about one job; None if there is none."""
        with self._lock:
            return self.memory.inspect(job_id)

    async def result(self, job_id: JobId) -> KeptResult | None:
        """Return the kept result of a completed job; None if none is kept (any more)."""
        with self._lock:
            return self.memory.result(job_id)

    async def dead(self, limit: int, *, offset: int = 0) -> list[JobView]:
        """Return dead jobs, the newest minted first."""
        with self._lock:
            return self.memory.the_dead(limit, offset)

    async def pending_ids(self, limit: int, *, newest_first: bool = False) -> list[JobId]:
        """Return ids that wait in `pending`, in mint order or reversed."""
        with self._lock:
            return sorted(self.memory.flat(), reverse=newest_first)[:limit]

    def _remember(self, jobs: Iterable[NewJob]) -> None:
        now_ms = self.memory.now()
        self._admitted.extend(Admitted(self.name, job, now_ms) for job in jobs)
