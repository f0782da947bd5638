"""A job that was enqueued: how it is doing, and what came of it."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Generic, NoReturn, TypeVar, cast

from echomq_worker.client.due import check_due, due_by
from echomq_worker.client.ports import Backends, Queue
from echomq_worker.domain.backoff import Duration
from echomq_worker.domain.clock import Clock
from echomq_worker.domain.decision import error_text
from echomq_worker.domain.duration import format_duration, parse_duration_ms
from echomq_worker.domain.failures import read_failures
from echomq_worker.domain.job import Admission, JobId, State
from echomq_worker.domain.priority import checked_priority
from echomq_worker.domain.views import JobNotes, JobView, Moved, Places, Removed, Reprioritized
from echomq_worker.errors import (
    InvalidArgumentError,
    JobFailedError,
    ResultTimeoutError,
    ResultUnavailableError,
    UnavailableError,
)
from echomq_worker.handlers.results import Results

R_co = TypeVar("R_co", covariant=True)

FIRST_LOOK_MS = 50
LONGEST_LOOK_MS = 1_000
"""Waiting for a result means looking: after 50 ms, then less and less often, at least each 1 s."""

Found = tuple[R_co] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobHandle(Generic[R_co]):
    """One job in one queue. Two handles are equal if they name the same job."""

    id: JobId
    queue: str
    created: bool = field(default=True, compare=False)
    """False if a job with an id chosen by the caller existed before, or another holds its key: this
    is that one."""
    admission: Admission = field(default=Admission.ENQUEUED, compare=False, repr=False)
    """What became of it when it was enqueued, and so why this is another job if it is."""
    backends: Backends = field(repr=False, compare=False)
    results: Results = field(repr=False, compare=False)
    clock: Clock = field(repr=False, compare=False)

    async def state(self) -> State:
        """Return where the job is now; `State.ABSENT` once it has completed or was removed.

        Raises:
            ServerError: if the server refuses, or does not answer (`UnavailableError`).
        """
        seen = await (await self._queue()).inspect(self.id)
        return State.ABSENT if seen is None else seen.state

    async def result(self, timeout: Duration | None = None) -> R_co:  # noqa: ASYNC109 - by our clock
        """Wait until the job has completed; return what its handler returned.

        Only a kept result can be read: declare `keep_result=` with the handler or the call.

        Args:
            timeout: how long to wait, also for a server that is away meanwhile; 0 looks once. None
                waits for as long as it takes, but not for the server.

        Raises:
            JobFailedError: if it has died.
            ResultUnavailableError: if it is gone without a result: it completed and kept none, or
                no longer, or it was removed.
            ResultTimeoutError: if it had no result in time. The job goes on.
            ResultError: if the result is not what the handler is declared to return.
            ServerError: if the server refuses, or does not answer at the end (`UnavailableError`).
        """
        limit_ms = None if timeout is None else parse_duration_ms(timeout)
        started_ms = self.clock.monotonic_ms()
        pause_ms = FIRST_LOOK_MS
        while True:
            answer = await self._look_or_outage()
            if isinstance(answer, tuple):
                return answer[0]
            if limit_ms is not None:
                left_ms = started_ms + limit_ms - self.clock.monotonic_ms()
                if left_ms <= 0:
                    raise answer or ResultTimeoutError(_too_late(self.id, limit_ms))
                pause_ms = min(pause_ms, left_ms)
            elif answer is not None:
                raise answer
            await self.clock.sleep_ms(pause_ms)
            pause_ms = min(pause_ms * 3 // 2, LONGEST_LOOK_MS)

    async def notes(self) -> JobNotes | None:
        """Return how far the job has come and the lines of its log, as its handler has told.

        None if there is no such job (any more): both go with it when it completes.

        Raises:
            ServerError: if the server refuses, or does not answer (`UnavailableError`).
        """
        return await (await self._queue()).operator.notes(self.id)

    async def expected_start(self) -> datetime | None:
        """Tell when the job may start, as far as its time and the limits on rates decide that.

        It is an estimate: whether a worker is free then, and what comes in between, is not known.

        Returns:
            When, by the server's clock. None if that depends on what happens (its queue or its
            handler is paused, or as many run as may), or if it runs already, has died or is gone.

        Raises:
            ServerError: if the server refuses, or does not answer (`UnavailableError`).
        """
        at_ms = await (await self._queue()).gates.expected_ms(self.id)
        return None if at_ms is None else datetime.fromtimestamp(at_ms / 1000, UTC)

    async def cancel(self) -> bool:
        """Remove the job if it still waits to be run.

        Returns:
            True if it was removed: it will not run (again). False if it runs, has died or is gone.

        Raises:
            ServerError: if the server refuses, or does not answer (`UnavailableError`).
        """
        queue = await self._queue()
        return await queue.remove(self.id, Places.WAITING) is Removed.OK

    async def reschedule(self, when: Duration | datetime) -> bool:
        """Let the job run earlier or later, if it still waits for its time.

        A job that waits for its next attempt waits for its time too.

        Args:
            when: a delay such as `"10m"`, counted from now by the server's clock, or an instant (a
                datetime with a time zone). An instant that is past means at once.

        Returns:
            True if it was moved. False if it waits for no time: it may be claimed already, runs,
            has died or is gone.

        Raises:
            InvalidArgumentError: if `when` is neither, or over 100 years away.
            ServerError: if the server refuses, or does not answer (`UnavailableError`): then it may
                have been moved or not, and asking again is safe.
        """
        due = due_by(when)
        check_due(due, self.clock.now_ms())
        (moved,) = await (await self._queue()).reschedule([self.id], due)
        return moved is Moved.OK

    async def promote(self) -> bool:
        """Let the job run now, if it still waits for its time or for its next attempt.

        Returns:
            True if it may now be claimed. False if it waits for no time, as of `reschedule`.

        Raises:
            ServerError: if the server refuses, or does not answer (`UnavailableError`).
        """
        (moved,) = await (await self._queue()).promote_now([self.id])
        return moved is Moved.OK

    async def reprioritize(self, priority: int) -> bool:
        """Let the job have another priority: lower runs first, 0 is the place of mint order.

        A job that waits moves to its new place at once; one that does not, such as a delayed or a
        running one, has it when it waits the next time.

        Args:
            priority: from -2**20 to 2**20.

        Returns:
            False if the job is gone.

        Raises:
            InvalidArgumentError: if it is no priority, or the job belongs to a lane: inside a lane
                jobs run in the order in which they were made.
            ServerError: if the server refuses, or does not answer (`UnavailableError`): then it may
                have been moved or not, and asking again is safe.
        """
        (done,) = await (await self._queue()).reprioritize([self.id], checked_priority(priority))
        if done is Reprioritized.LANE:
            msg = f"job {self.id} belongs to a lane: expected a job without one for a priority"
            raise InvalidArgumentError(msg)
        return done is not Reprioritized.GONE

    async def _queue(self) -> Queue:
        return (await self.backends.backend()).queue(self.queue)

    async def _look_or_outage(self) -> Found[R_co] | UnavailableError:
        try:
            return await self._look(await self._queue())
        except UnavailableError as error:
            return error

    async def _look(self, queue: Queue) -> Found[R_co]:
        if (found := await self._kept(queue)) is not None:
            return found
        seen = await queue.inspect(self.id)
        if seen is None:
            # It may have completed between the two looks.
            if (found := await self._kept(queue)) is not None:
                return found
            self._gone()
        if seen.state is State.DEAD:
            self._died(seen)
        return None

    async def _kept(self, queue: Queue) -> Found[R_co]:
        kept = await queue.result(self.id)
        if kept is None:
            return None
        if not kept.result:
            self._gone()
        return (cast("R_co", self.results.decode(kept.result)),)

    def _gone(self) -> NoReturn:
        msg = (
            f"job {self.id} has left queue {self.queue} and there is no result of it: it completed "
            f"without keeping one (declare keep_result= to have one), or its time has passed, or "
            f"the job was removed"
        )
        raise ResultUnavailableError(msg)

    def _died(self, seen: JobView) -> NoReturn:
        error_type, error_message = _last_failure(seen)
        told = ": ".join(part for part in (error_type, error_message) if part)
        msg = f"job {self.id} has died: {told or 'no reason was given'}"
        raise JobFailedError(msg, error_type=error_type, error_message=error_message)


def _too_late(job_id: JobId, limit_ms: int) -> str:
    return f"job {job_id} had no result within {format_duration(limit_ms)}"


def _last_failure(seen: JobView) -> tuple[str, str]:
    failures = read_failures(seen.failures)
    if failures and seen.last_error in (None, error_text(failures[-1])):
        return failures[-1].type, failures[-1].message
    # Buried without a new failure: by a reaper, or by another runtime's worker.
    error_type, colon, message = (seen.last_error or "").partition(": ")
    return (error_type, message) if colon else ("", error_type)
