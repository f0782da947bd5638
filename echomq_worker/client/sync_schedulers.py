"""The schedulers on the server, for code without an event loop: `app.sync.schedulers`."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from echomq_worker.client.job import JobSender
from echomq_worker.client.portal import Portal
from echomq_worker.client.schedulers import PutOptions, Schedulers
from echomq_worker.client.sync_handle import SyncJobHandle
from echomq_worker.domain.backoff import Duration
from echomq_worker.domain.repeats import RepeatView

if TYPE_CHECKING:
    from echomq_worker.domain.scheduling.records import PutVerdict, SchedulerView


class SyncSchedulers:
    """What `app.schedulers` can do, for code that blocks.

    Args:
        schedulers: what is asked.
        portal: the way into its event loop.
    """

    def __init__(self, schedulers: Callable[[], Schedulers], portal: Portal) -> None:
        self._of = schedulers
        self._portal = portal

    def put(
        self, name: str, job: JobSender[..., Any] | str, /, **options: Unpack[PutOptions]
    ) -> "PutVerdict":
        """Create or replace a scheduler, as `Schedulers.put` does."""
        return self._portal.call(partial(self._of().put, name, job, **options))

    def get(self, name: str, /, *, queue: str | None = None) -> "SchedulerView | None":
        """Return a scheduler, as `Schedulers.get` does."""
        return self._portal.call(partial(self._of().get, name, queue=queue))

    def list(
        self, *, queue: str | None = None, limit: int = 100, offset: int = 0
    ) -> "Sequence[SchedulerView]":
        """Return schedulers of a queue, as `Schedulers.list` does."""
        asked = partial(self._of().list, queue=queue, limit=limit, offset=offset)
        return self._portal.call(asked)

    def pause(
        self, name: str, /, *, queue: str | None = None, reason: str = "", by: str = ""
    ) -> None:
        """Let a scheduler make no more jobs, as `Schedulers.pause` does."""
        self._portal.call(partial(self._of().pause, name, queue=queue, reason=reason, by=by))

    def resume(self, name: str, /, *, queue: str | None = None) -> None:
        """Let a scheduler make jobs again, as `Schedulers.resume` does."""
        self._portal.call(partial(self._of().resume, name, queue=queue))

    def remove(self, name: str, /, *, queue: str | None = None) -> bool:
        """Remove a scheduler, as `Schedulers.remove` does."""
        return self._portal.call(partial(self._of().remove, name, queue=queue))

    def trigger(self, name: str, /, *, queue: str | None = None) -> SyncJobHandle[Any]:
        """Make a job of a scheduler now, as `Schedulers.trigger` does."""
        handle = self._portal.call(partial(self._of().trigger, name, queue=queue))
        return SyncJobHandle(handle, self._portal)

    def upcoming(
        self, name: str, n: int = 10, /, *, queue: str | None = None
    ) -> Sequence[datetime]:
        """Return the next occurrences, as `Schedulers.upcoming` does."""
        return self._portal.call(partial(self._of().upcoming, name, n, queue=queue))

    def repeats(self, *, queue: str | None = None) -> Sequence[RepeatView]:
        """Return what the base wire repeats, as `Schedulers.repeats` does."""
        return self._portal.call(partial(self._of().repeats, queue=queue))

    def register_repeat(
        self,
        name: str,
        every: Duration,
        payload: bytes,
        /,
        *,
        first_in: Duration | None = None,
        queue: str | None = None,
    ) -> bool:
        """Let the base wire repeat a job, as `Schedulers.register_repeat` does."""
        asked = self._of().register_repeat
        return self._portal.call(
            partial(asked, name, every, payload, first_in=first_in, queue=queue)
        )

    def cancel_repeat(self, name: str, /, *, queue: str | None = None) -> bool:
        """Remove what the base wire repeats, as `Schedulers.cancel_repeat` does."""
        return self._portal.call(partial(self._of().cancel_repeat, name, queue=queue))
