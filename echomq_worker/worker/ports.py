"""What the worker asks of the rest: the store, the registry of handlers."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

from echomq_worker.domain.gates import Rate
from echomq_worker.domain.job import Claimed, Held, JobId
from echomq_worker.domain.outcome import Outcome, Verdict
from echomq_worker.domain.repeats import RepeatsFired
from echomq_worker.domain.replies import Beat, Presence, Settled
from echomq_worker.domain.scheduling.records import (
    Due,
    Fired,
    Firing,
    PutVerdict,
    SchedulerView,
)
from echomq_worker.domain.scheduling.spec import SchedulerSpec
from echomq_worker.handlers.batches import BatchCall
from echomq_worker.handlers.context import JobContext
from echomq_worker.handlers.options import HandlerOptions

Trouble = Callable[[Exception, int], Awaitable[None]]
"""Told of an unanswered call and how many times in a row; returns when to ask again."""


class Line(Protocol):
    """A line to one queue, with one call in flight, asked again until it is answered."""

    watch_ms: int
    """How long a call of it holds the watch of the queue; 0: it leaves it to others."""

    async def claim(self, *, limit: int, lease_ms: int, promote: int) -> Claimed:
        """Promote at most `promote` due jobs and take up to `limit` under a lease."""
        ...

    async def settle(
        self,
        settlements: Sequence[tuple[Held, Outcome]],
        *,
        limit: int,
        lease_ms: int,
        promote: int,
    ) -> Settled:
        """Write outcomes and claim in the same round trip."""
        ...

    async def beat(  # noqa: PLR0913 - one round trip for all that is done once a beat
        self,
        *,
        limit: int,
        lease_ms: int,
        promote: int,
        reap: int,
        crash_limit: int,
        max_attempts: int,
        worker: Presence | None,
    ) -> Beat:
        """Reap, promote, claim, renew the watch and say that this worker lives."""
        ...

    async def aclose(self) -> None:
        """Close the connection of this line."""
        ...


class Schedulers(Protocol):
    """The schedulers of one queue, as far as a worker needs them."""

    async def put(self, spec: SchedulerSpec, *, force: bool, source: str, tz: str) -> PutVerdict:
        """Declare one, unless a newer declaration is there."""
        ...

    async def due(self, limit: int, *, offset: int) -> Due:
        """Return the schedulers whose time has come, the longest due first, after `offset`."""
        ...

    async def fire(self, firings: Sequence[Firing]) -> Sequence[Fired]:
        """Make the jobs of occurrences, each at most once; return what became of each firing."""
        ...

    async def set_aside(self, name: str, reason: str) -> bool:
        """Move one that cannot be read out of the way of the others."""
        ...

    async def now_ms(self) -> int:
        """Return the server's clock."""
        ...

    async def list(self, limit: int, *, offset: int = 0) -> Sequence[SchedulerView]:
        """Return schedulers, those that fire first at the front."""
        ...

    async def retime(  # noqa: PLR0913 - what was read, and what it becomes
        self,
        name: str,
        *,
        expected_ms: int | None,
        digest: str,
        next_ms: int | None,
        wake_ms: int | None,
        tz: str,
    ) -> bool:
        """Give one that stands as it was read another next instant."""
        ...


class Repeats(Protocol):
    """What peers have registered to repeat, by the base wire's rules."""

    async def fire(self, ids: Sequence[JobId]) -> RepeatsFired:
        """Fire what is due, no more than there are ids."""
        ...


class Gates(Protocol):
    """The limits of one queue, as far as a worker needs them."""

    async def limit_rate(self, scope: str, rate: Rate | None) -> bool:
        """Set how often jobs of a scope may start."""
        ...

    async def limit_concurrency(self, scope: str, most: int | None) -> bool:
        """Set how many jobs of a scope may be active at once."""
        ...

    async def recount(self) -> int:
        """Count anew who holds slots of caps; return how many counts were wrong."""
        ...


class Notes(Protocol):
    """Where a job of one queue writes what it tells."""

    async def update_progress(self, job_id: JobId, progress: str) -> bool:
        """Write down how far a job has come; False if there is no such job."""
        ...

    async def add_log(self, job_id: JobId, line: str) -> int | None:
        """Add a line to a job's log; return how many there are."""
        ...


class Queue(Protocol):
    """One queue, as far as a worker needs it."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def schedulers(self) -> Schedulers:
        """Its schedulers."""
        ...

    @property
    def repeats(self) -> Repeats:
        """Its registrations by the base wire's rules."""
        ...

    @property
    def operator(self) -> Notes:
        """Where its jobs write what they tell."""
        ...

    @property
    def gates(self) -> Gates:
        """Its limits."""
        ...

    def line(self, *, trouble: Trouble, worker_id: str, watch_ms: int) -> Line:
        """Return a line of its own for a worker.

        Args:
            trouble: awaited between two tries of an unanswered call.
            worker_id: who may become the watcher of this queue.
            watch_ms: how long the watch is held without a sign of life.
        """
        ...

    async def wait_hint(self, *, bell: bool, clock: bool, timeout_ms: int) -> bool:
        """Wait until work may have come (`bell`) or the schedule has a new head (`clock`)."""
        ...

    async def end_wait(self) -> bool:
        """End the wait that is under way as if its time were over; return whether one was."""
        ...

    async def leave(self, worker_id: str) -> None:
        """Say that a worker has gone."""
        ...


class BlockingExtends(Protocol):
    """Extends leases from a thread, over a connection of its own."""

    def open(self) -> None:
        """Connect, before a server may have no room for another client."""
        ...

    def extend(self, queue: str, held: Sequence[Held], lease_ms: int) -> Sequence[Verdict]:
        """Push back the leases of jobs that are still ours; a verdict for each, in order."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


class Handler(Protocol):
    """A registered function, as far as a worker needs it."""

    @property
    def name(self) -> str | None:
        """What jobs call it by; None for a queue's raw handler."""
        ...

    @property
    def is_async(self) -> bool:
        """True if calling it gives an awaitable, False if it is to run in a thread."""
        ...

    @property
    def options(self) -> HandlerOptions:
        """How it wants its jobs to be treated."""
        ...

    @property
    def together(self) -> BatchCall | None:
        """Makes one call of many, for a handler that takes batches."""
        ...

    def bind(self, payload: bytes, context: JobContext, state: object | None) -> Callable[[], Any]:
        """Make the call that runs a job."""
        ...

    def encode_result(self, value: object) -> bytes:
        """Make the JSON that keeps a result."""
        ...


class Registry(Protocol):
    """The handlers of the application."""

    def find(self, queue: str, name: str | None, payload: bytes) -> Handler | None:
        """Return the handler of a job; None if there is none here."""
        ...

    def names(self) -> list[str]:
        """Return the names of all handlers."""
        ...

    def check_state(self, state: object | None) -> None:
        """Raise `HandlerError` if a handler asks for another state than the lifespan yields."""
        ...
