"""What keeps jobs back, for code without an event loop: `app.sync.limits`."""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial

from echomq_worker.client.limits import Limits
from echomq_worker.client.portal import Portal
from echomq_worker.domain.backoff import Duration
from echomq_worker.domain.gates import Gates


class SyncLimits:
    """What `app.limits` can do, for code that blocks.

    Args:
        limits: what is asked.
        portal: the way into its event loop.
    """

    def __init__(self, limits: Callable[[], Limits], portal: Portal) -> None:
        self._of = limits
        self._portal = portal

    def rate(  # noqa: PLR0913 - a keyword for each
        self,
        rate: str | None,
        /,
        *,
        burst: int | None = None,
        sliding: bool = False,
        name: str | None = None,
        by_key: bool = False,
        queue: str | None = None,
    ) -> bool:
        """Limit how often jobs may start, as `Limits.rate` does."""
        given = {"burst": burst, "sliding": sliding, "name": name, "by_key": by_key}
        return self._portal.call(partial(self._of().rate, rate, queue=queue, **given))  # pyright: ignore[reportArgumentType]

    def concurrency(
        self,
        most: int | None,
        /,
        *,
        name: str | None = None,
        by_key: bool = False,
        queue: str | None = None,
    ) -> bool:
        """Limit how many jobs may be active at once, as `Limits.concurrency` does."""
        asked = partial(self._of().concurrency, most, name=name, by_key=by_key, queue=queue)
        return self._portal.call(asked)

    def penalize(
        self,
        duration: Duration,
        /,
        *,
        name: str | None = None,
        key: object = None,
        reason: str = "",
        queue: str | None = None,
    ) -> datetime | None:
        """Start no more jobs for a while, as `Limits.penalize` does."""
        asked = partial(
            self._of().penalize, duration, name=name, key=key, reason=reason, queue=queue
        )
        return self._portal.call(asked)

    def pause(  # noqa: PLR0913 - a keyword for each
        self,
        *,
        name: str,
        key: object = None,
        where: Mapping[str, object] | None = None,
        reason: str = "",
        by: str = "",
        queue: str | None = None,
    ) -> None:
        """Start no more jobs of a handler, as `Limits.pause` does."""
        asked = partial(
            self._of().pause, name=name, key=key, where=where, reason=reason, by=by, queue=queue
        )
        self._portal.call(asked)

    def resume(
        self,
        *,
        name: str | None = None,
        key: object = None,
        where: Mapping[str, object] | None = None,
        queue: str | None = None,
    ) -> bool:
        """Let jobs start again, as `Limits.resume` does."""
        asked = partial(self._of().resume, name=name, key=key, where=where, queue=queue)
        return self._portal.call(asked)

    def list(self, *, queue: str | None = None) -> Gates:
        """Return what keeps jobs back, as `Limits.list` does."""
        return self._portal.call(partial(self._of().list, queue=queue))
