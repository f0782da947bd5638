"""What is set for a queue as a whole, for code without an event loop: `app.sync.queues`."""

from collections.abc import Callable
from functools import partial

from echomq_worker.client.portal import Portal
from echomq_worker.client.queues import Queues
from echomq_worker.domain.job import JobId
from echomq_worker.domain.views import Order


class SyncQueues:
    """What `app.queues` can do, for code that blocks.

    Args:
        queues: what is asked.
        portal: the way into its event loop.
    """

    def __init__(self, queues: Callable[[], Queues], portal: Portal) -> None:
        self._of = queues
        self._portal = portal

    def order(self, queue: str | None = None) -> Order:
        """Return what decides inside a priority, as `Queues.order` does."""
        return self._portal.call(partial(self._of().order, queue))

    def put_order(self, order: Order | str, /, *, queue: str | None = None) -> None:
        """Say what decides inside a priority, as `Queues.put_order` does."""
        self._portal.call(partial(self._of().put_order, order, queue=queue))

    def drain(self, queue: str | None = None, /, *, scheduled: bool = False) -> int:
        """Remove the jobs that wait in a queue, as `Queues.drain` does."""
        return self._portal.call(partial(self._of().drain, queue, scheduled=scheduled))

    def obliterate(self, queue: str, /, *, force: bool = False) -> None:
        """Remove a paused queue with all that belongs to it, as `Queues.obliterate` does."""
        self._portal.call(partial(self._of().obliterate, queue, force=force))

    def holder(self, key: str, /, *, queue: str | None = None) -> JobId | None:
        """Return the job that holds a key of uniqueness, as `Queues.holder` does."""
        return self._portal.call(partial(self._of().holder, key, queue=queue))

    def release(self, key: str, /, *, queue: str | None = None) -> bool:
        """Set a key of uniqueness free before its time, as `Queues.release` does."""
        return self._portal.call(partial(self._of().release, key, queue=queue))
