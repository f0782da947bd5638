"""A job that was enqueued, for code without an event loop."""

from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Generic, TypeVar

from echomq_worker.client.handle import JobHandle
from echomq_worker.client.portal import Portal
from echomq_worker.domain.backoff import Duration
from echomq_worker.domain.job import Admission, JobId, State
from echomq_worker.domain.views import JobNotes

R_co = TypeVar("R_co", covariant=True)


@dataclass(frozen=True, slots=True)
class SyncJobHandle(Generic[R_co]):
    """A `JobHandle` whose methods block instead of being awaited."""

    _handle: JobHandle[R_co]
    _portal: Portal = field(repr=False, compare=False)

    def __repr__(self) -> str:
        return f"Sync{self._handle!r}"

    @property
    def id(self) -> JobId:
        """The job's id."""
        return self._handle.id

    @property
    def queue(self) -> str:
        """The queue that it is in."""
        return self._handle.queue

    @property
    def created(self) -> bool:
        """False if a job of the chosen id existed before, or another held its key."""
        return self._handle.created

    @property
    def admission(self) -> Admission:
        """What became of it when it was enqueued."""
        return self._handle.admission

    def state(self) -> State:
        """Return where the job is now, as `JobHandle.state` does."""
        return self._portal.call(self._handle.state)

    def result(self, timeout: Duration | None = None) -> R_co:
        """Wait for the job's result, as `JobHandle.result` does."""
        return self._portal.call(partial(self._handle.result, timeout))

    def cancel(self) -> bool:
        """Remove the job if it still waits to be run, as `JobHandle.cancel` does."""
        return self._portal.call(self._handle.cancel)

    def notes(self) -> JobNotes | None:
        """Return progress and log of the job, as `JobHandle.notes` does."""
        return self._portal.call(self._handle.notes)

    def expected_start(self) -> datetime | None:
        """Tell when the job may start, as `JobHandle.expected_start` does."""
        return self._portal.call(self._handle.expected_start)

    def reschedule(self, when: Duration | datetime) -> bool:
        """Let the job run earlier or later, as `JobHandle.reschedule` does."""
        return self._portal.call(partial(self._handle.reschedule, when))

    def reprioritize(self, priority: int) -> bool:
        """Let the job have another priority, as `JobHandle.reprioritize` does."""
        return self._portal.call(partial(self._handle.reprioritize, priority))

    def promote(self) -> bool:
        """Let the job run now, as `JobHandle.promote` does."""
        return self._portal.call(self._handle.promote)
