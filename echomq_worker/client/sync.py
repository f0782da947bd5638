"""The client for code without an event loop: scripts, and synchronous web frameworks."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import partial
from typing import Any, ParamSpec, TypeVar, Unpack

from echomq_worker.client.call import Call, TimedOptions
from echomq_worker.client.client import Client
from echomq_worker.client.job import JobSender
from echomq_worker.client.lanes import Lanes
from echomq_worker.client.limits import Limits
from echomq_worker.client.portal import Portal
from echomq_worker.client.queues import Queues
from echomq_worker.client.schedulers import Schedulers
from echomq_worker.client.sync_handle import SyncJobHandle
from echomq_worker.client.sync_lanes import SyncLanes
from echomq_worker.client.sync_limits import SyncLimits
from echomq_worker.client.sync_queues import SyncQueues
from echomq_worker.client.sync_schedulers import SyncSchedulers
from echomq_worker.domain.backoff import Duration

P = ParamSpec("P")
R = TypeVar("R")


class SyncClient:
    """What an application can enqueue, for code that blocks. It is `app.sync`.

    Threads may share it. It runs an event loop in a thread of its own, which starts with the first
    call, is started anew after a fork, and ends with the process.

    Args:
        client: gives the application's client.
        by_name: makes calls of handlers that are not at hand.
        raw: makes calls for other runtimes.
        schedulers: the application's `app.schedulers`.
        lanes: the application's `app.lanes`.
        limits: the application's `app.limits`.
        queues: the application's `app.queues`.
    """

    def __init__(  # noqa: PLR0913 - one for each part of an application
        self,
        client: Callable[[], Client],
        by_name: Callable[[str, Mapping[str, Any], TimedOptions], Call[Any]],
        raw: Callable[[bytes, TimedOptions], Call[Any]],
        *,
        schedulers: Callable[[], Schedulers],
        lanes: Callable[[], Lanes],
        limits: Callable[[], Limits],
        queues: Callable[[], Queues],
    ) -> None:
        self._client = client
        self._by_name = by_name
        self._raw = raw
        self._portal = Portal()
        self.schedulers = SyncSchedulers(schedulers, self._portal)
        """The schedulers on the server, as `app.schedulers`."""
        self.lanes = SyncLanes(lanes, self._portal)
        """The lanes on the server, as `app.lanes`."""
        self.limits = SyncLimits(limits, self._portal)
        """What keeps jobs back, as `app.limits`."""
        self.queues = SyncQueues(queues, self._portal)
        """What is set for queues as a whole, as `app.queues`."""

    def enqueue(
        self, job: JobSender[P, R], /, *args: P.args, **kwargs: P.kwargs
    ) -> SyncJobHandle[R]:
        """Enqueue a call, as `EchoMQ.enqueue` does."""
        return self._send(job.call(*args, **kwargs))

    def enqueue_in(
        self, delay: Duration, job: JobSender[P, R], /, *args: P.args, **kwargs: P.kwargs
    ) -> SyncJobHandle[R]:
        """Enqueue a call to run after a delay, as `EchoMQ.enqueue_in` does."""
        return self._send(job.call(*args, **kwargs).after(delay))

    def enqueue_at(
        self, when: datetime, job: JobSender[P, R], /, *args: P.args, **kwargs: P.kwargs
    ) -> SyncJobHandle[R]:
        """Enqueue a call to run at an instant, as `EchoMQ.enqueue_at` does."""
        return self._send(job.call(*args, **kwargs).at(when))

    def enqueue_many(self, calls: Iterable[Call[R]]) -> list[SyncJobHandle[R]]:
        """Enqueue calls in one round trip per thousand, as `EchoMQ.enqueue_many` does."""
        handles = self._portal.call(partial(self._client().send, list(calls)))
        return [SyncJobHandle(handle, self._portal) for handle in handles]

    def enqueue_by_name(
        self, name: str, arguments: Mapping[str, Any], /, **options: Unpack[TimedOptions]
    ) -> SyncJobHandle[Any]:
        """Enqueue a call of a handler that is not at hand, as `EchoMQ.enqueue_by_name` does."""
        return self._send(self._by_name(name, arguments, options))

    def enqueue_raw(self, payload: bytes, /, **options: Unpack[TimedOptions]) -> SyncJobHandle[Any]:
        """Enqueue bytes for another runtime, as `EchoMQ.enqueue_raw` does."""
        return self._send(self._raw(payload, options))

    def handle(self, job: JobSender[P, R], job_id: str, /) -> SyncJobHandle[R]:
        """Return a handle on a job that was enqueued before. Raises `InvalidIdError`."""
        return SyncJobHandle(job.handle(job_id), self._portal)

    def close(self) -> None:
        """Disconnect, and end the thread. The next call starts another."""
        self._portal.close()

    def _send(self, call: Call[R]) -> SyncJobHandle[R]:
        (handle,) = self.enqueue_many([call])
        return handle
