"""What a handler may know about the run it is in."""

import asyncio
from datetime import UTC, datetime
from typing import Any

from echomq_worker.domain.ids import parse_id
from echomq_worker.domain.job import JobId
from echomq_worker.handlers.notes import JobNotebook, Notes, SyncNotes

LEASE_LOST = "lease_lost"


class JobContext:
    """One run of one job, as its handler sees it.

    A handler receives it by a parameter that is annotated with this class. Handlers that run in
    threads may use it too.

    Args:
        id: the job's id.
        queue: the queue that it was claimed from.
        name: the handler's name; the queue's name for a raw job.
        attempt: the number of this attempt, from 1, counting only those that count.
        max_attempts: how many attempts it has.
        deadline_ms: when the run times out, in Unix milliseconds; None if it does not.
        scheduler: the scheduler that has made the job; None for a job of another origin.
        instant_ms: the instant for which that scheduler made it, in Unix milliseconds.
        priority: its rank among those that waited; lower runs first.
        lane: the name of the lane in which it waited; None if it had none.
        notes: where it writes what it tells.
    """

    __slots__ = (
        "_cancel_reason",
        "_lease_lost",
        "_log",
        "_notes",
        "_told",
        "_waiters",
        "attempt",
        "deadline_ms",
        "id",
        "instant_ms",
        "lane",
        "max_attempts",
        "name",
        "priority",
        "queue",
        "scheduler",
    )

    def __init__(  # noqa: PLR0913 - a record of what is known
        self,
        *,
        id: JobId,  # noqa: A002
        queue: str,
        name: str,
        attempt: int,
        max_attempts: int,
        deadline_ms: int | None = None,
        scheduler: str | None = None,
        instant_ms: int | None = None,
        priority: int = 0,
        lane: str | None = None,
        notes: JobNotebook | None = None,
    ) -> None:
        self.id = id
        self.queue = queue
        self.name = name
        self.attempt = attempt
        self.max_attempts = max_attempts
        self.deadline_ms = deadline_ms
        self.scheduler = scheduler
        self.instant_ms = instant_ms
        self.priority = priority
        self.lane = lane
        self._notes = Notes(id, notes)
        self._cancel_reason: str | None = None
        self._lease_lost = False
        self._told = False
        self._waiters: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
        self._log: Any = None

    def __repr__(self) -> str:
        return f"<JobContext {self.id} {self.name} attempt {self.attempt}/{self.max_attempts}>"

    async def set_progress(self, progress: object) -> None:
        """Tell how far the job has come: a text, or what JSON can carry, such as 0.5.

        It is kept with the job until it completes (`handle.notes()`), and published to those who
        listen to the queue's events. What is sent more than a few times a second costs more than
        it tells.

        Raises:
            InvalidArgumentError: if JSON cannot carry it.
            ServerError: if the server refuses, or does not answer (`UnavailableError`).
        """
        await self._notes.set_progress(progress)

    async def add_log(self, line: str) -> None:
        """Add a line to the job's own log, of which the newest 1,000 are kept until it completes.

        Raises:
            ServerError: if the server refuses, or does not answer (`UnavailableError`).
        """
        await self._notes.add_log(line)

    @property
    def sync(self) -> SyncNotes:
        """`set_progress` and `add_log` for a handler that runs in a thread: they wait."""
        return SyncNotes(self._notes)

    @property
    def enqueued_ms(self) -> int:
        """When the job was minted, in Unix milliseconds, by its producer's clock."""
        return parse_id(self.id).unix_ms

    @property
    def deadline(self) -> datetime | None:
        """When the run times out; None if it does not."""
        return _instant(self.deadline_ms)

    @property
    def scheduled_for(self) -> datetime | None:
        """The instant for which a scheduler has made the job; None if none has.

        It is the same for every attempt, however late: use it where the work is about a time.
        """
        return _instant(self.instant_ms)

    @property
    def is_last_attempt(self) -> bool:
        """True if a failure of this run buries the job."""
        return self.attempt >= self.max_attempts

    @property
    def cancelled(self) -> bool:
        """True once the run should end. A handler in a thread looks here now and then."""
        return self.cancel_reason is not None

    @property
    def cancel_reason(self) -> str | None:
        """Why the run should end: `"shutdown"`, `"timeout"` or `"lease_lost"`; None so far."""
        reason = self._cancel_reason
        if reason is not None:
            self._told = True
        return reason

    @property
    def lease_lost(self) -> bool:
        """True if the job is no longer ours: whatever this run returns will be refused."""
        if self._lease_lost:
            self._told = True
        return self._lease_lost

    @property
    def told(self) -> bool:
        """True once the handler has seen that its run should end. For the worker."""
        return self._told

    @property
    def log(self) -> Any:  # noqa: ANN401 - structlog's bound loggers are a protocol of its own
        """A structlog logger that says in each line which job it is about."""
        if self._log is None:
            import structlog  # noqa: PLC0415 - producers never need it

            self._log = structlog.get_logger("echomq").bind(
                job_id=self.id, job_name=self.name, queue=self.queue, attempt=self.attempt
            )
        return self._log

    async def wait_cancelled(self) -> None:
        """Return once the run should end."""
        event = asyncio.Event()
        # Registered before the look: a cancel from another thread comes either before the look,
        # and is seen by it, or after it, and finds the event.
        self._waiters.append((asyncio.get_running_loop(), event))
        if self.cancel_reason is None:
            await event.wait()
            self._told = True

    def cancel(self, reason: str) -> None:
        """Say that the run should end. For the worker; safe from any thread; the first one counts.

        A lost lease shows in `lease_lost` even if the run was cancelled for another reason before.

        Args:
            reason: `"shutdown"`, `"timeout"` or `"lease_lost"`.
        """
        if reason == LEASE_LOST:
            self._lease_lost = True
        if self._cancel_reason is None:
            self._cancel_reason = reason
        while self._waiters:
            loop, event = self._waiters.pop()
            if not loop.is_closed():
                loop.call_soon_threadsafe(event.set)


def _instant(unix_ms: int | None) -> datetime | None:
    """Return an instant; None if there is none, or it lies beyond the years that Python knows."""
    if unix_ms is None:
        return None
    try:
        return datetime.fromtimestamp(unix_ms / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return None
