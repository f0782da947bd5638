"""The lanes of a queue, for code without an event loop: `app.sync.lanes`."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from echomq_worker.client.lanes import Lanes
from echomq_worker.client.portal import Portal
from echomq_worker.domain.job import JobId
from echomq_worker.domain.lanes import LaneView, Reassigned


class SyncLanes:
    """What `app.lanes` can do, for code that blocks.

    Args:
        lanes: what is asked.
        portal: the way into its event loop.
    """

    def __init__(self, lanes: Callable[[], Lanes], portal: Portal) -> None:
        self._of = lanes
        self._portal = portal

    def pause(
        self, name: str, /, *, reason: str = "", by: str = "", queue: str | None = None
    ) -> bool:
        """Start no more jobs of a lane, as `Lanes.pause` does."""
        asked = partial(self._of().pause, name, reason=reason, by=by, queue=queue)
        return self._portal.call(asked)

    def resume(self, name: str, /, *, queue: str | None = None) -> bool:
        """Start jobs of a lane again, as `Lanes.resume` does."""
        return self._portal.call(partial(self._of().resume, name, queue=queue))

    def limit(self, name: str, most: int | None, /, *, queue: str | None = None) -> None:
        """Limit how many jobs of a lane are active, as `Lanes.limit` does."""
        self._portal.call(partial(self._of().limit, name, most, queue=queue))

    def weight(self, name: str, weight: int | None, /, *, queue: str | None = None) -> None:
        """Say what a turn of a lane is worth, as `Lanes.weight` does."""
        self._portal.call(partial(self._of().weight, name, weight, queue=queue))

    def rate(
        self,
        name: str,
        rate: str | None,
        /,
        *,
        burst: int | None = None,
        sliding: bool = False,
        queue: str | None = None,
    ) -> bool:
        """Limit how often jobs of a lane may start, as `Lanes.rate` does."""
        asked = partial(self._of().rate, name, rate, burst=burst, sliding=sliding, queue=queue)
        return self._portal.call(asked)

    def first(self, name: str, /, *, on: bool = True, queue: str | None = None) -> bool:
        """Serve a lane before the others, as `Lanes.first` does."""
        return self._portal.call(partial(self._of().first, name, on=on, queue=queue))

    def maximum(
        self,
        name: str,
        most: int | None,
        /,
        on_full: str = "refuse",
        *,
        queue: str | None = None,
    ) -> None:
        """Limit how many jobs wait in a lane, as `Lanes.maximum` does."""
        self._portal.call(partial(self._of().maximum, name, most, on_full, queue=queue))

    def reassign(self, job_id: str, lane: str, /, *, queue: str | None = None) -> Reassigned:
        """Let a job wait in another lane, as `Lanes.reassign` does."""
        return self._portal.call(partial(self._of().reassign, job_id, lane, queue=queue))

    def drain(self, name: str, /, *, queue: str | None = None) -> int:
        """Remove what waits in a lane, as `Lanes.drain` does."""
        return self._portal.call(partial(self._of().drain, name, queue=queue))

    def reap(self, name: str, /, *, queue: str | None = None) -> Sequence[JobId]:
        """Take back jobs of a lane, as `Lanes.reap` does."""
        return self._portal.call(partial(self._of().reap, name, queue=queue))

    def depth(self, name: str, /, *, queue: str | None = None) -> int:
        """Return how many jobs wait in a lane."""
        return self._portal.call(partial(self._of().depth, name, queue=queue))

    def depths(self, names: Sequence[str], /, *, queue: str | None = None) -> Mapping[str, int]:
        """Return how many jobs wait in each of some lanes."""
        return self._portal.call(partial(self._of().depths, names, queue=queue))

    def list(
        self, *, queue: str | None = None, limit: int = 100, offset: int = 0
    ) -> Sequence[LaneView]:
        """Return lanes that are known, as `Lanes.list` does."""
        asked = partial(self._of().list, queue=queue, limit=limit, offset=offset)
        return self._portal.call(asked)

    def inspect(self, name: str, /, *, queue: str | None = None) -> LaneView:
        """Return how a lane stands, as `Lanes.inspect` does."""
        return self._portal.call(partial(self._of().inspect, name, queue=queue))
