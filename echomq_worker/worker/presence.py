"""What a worker says about itself: to the server for lists of workers, to whoever watches it."""

import os
import socket
from collections.abc import Callable
from typing import Any

import structlog

from echomq_worker.domain.clock import Clock
from echomq_worker.domain.replies import Presence
from echomq_worker.version import __version__
from echomq_worker.worker.hands import Hands
from echomq_worker.worker.options import WorkerOptions
from echomq_worker.worker.postmortem import for_log
from echomq_worker.worker.stats import Snapshot, Stats
from echomq_worker.worker.stop import Phase, Stop

SHORTEST_TTL_MS = 10_000
BEATS_KEPT = 10

OnBeat = Callable[[Snapshot], None]
"""Told once a beat how the worker is doing."""


class SelfPortrait:
    """Describes this worker as it is now.

    Args:
        options: how it is set up.
        hands: the jobs that it holds.
        stats: what it did.
        stop: whether it stops.
        clock: tells the time.
        away: tells whether the server does not answer.
        zone_data: the version of the time zone data that it uses.
    """

    def __init__(  # noqa: PLR0913 - what it is a picture of
        self,
        options: WorkerOptions,
        hands: Hands,
        stats: Stats,
        stop: Stop,
        clock: Clock,
        *,
        away: Callable[[], bool] = lambda: False,
        zone_data: str = "",
    ) -> None:
        self.answered_at_ms: int | None = None
        """When the server last answered a call, by the monotonic clock."""
        self._options = options
        self._hands = hands
        self._stats = stats
        self._stop = stop
        self._clock = clock
        self._away = away
        self._ttl_ms = max(SHORTEST_TTL_MS, BEATS_KEPT * options.beat_ms)
        self._fixed = {
            "name": options.worker_name,
            "host": socket.gethostname(),
            "pid": str(os.getpid()),
            "version": __version__,
            "queues": ",".join(map(str, options.queues)),
            "slots": str(options.concurrency),
            "started": str(clock.now_ms()),
            "tz": zone_data,
        }

    def answered(self) -> None:
        """Note that the server has answered."""
        self.answered_at_ms = self._clock.monotonic_ms()

    def presence(self) -> Presence:
        """Return what goes with a beat."""
        changing = {
            "state": self._state(),
            "running": str(len(self._hands.running)),
            "processed": str(self._stats.processed),
        }
        return Presence(self._options.worker_id, self._fixed | changing, self._ttl_ms)

    def snapshot(self) -> Snapshot:
        """Return how it is doing."""
        answered_ms = None
        if self.answered_at_ms is not None:
            answered_ms = self._clock.monotonic_ms() - self.answered_at_ms
        return Snapshot(
            state=self._state(),
            running=len(self._hands.running),
            slots=self._options.concurrency,
            answered_ms=answered_ms,
            server_up=not self._away(),
            stats=self._stats,
        )

    def _state(self) -> str:
        if self.answered_at_ms is None:
            return "starting"
        return Phase(self._stop.phase).name.lower()


class Heart:
    """Tells whoever wants to know, once a beat, how this worker is doing.

    Args:
        portrait: describes it.
        tell: told.
        clock: sleeps.
        beat_ms: how often.
    """

    name = "heart"

    def __init__(
        self, portrait: SelfPortrait, tell: OnBeat | None, clock: Clock, *, beat_ms: int
    ) -> None:
        self._portrait = portrait
        self._tell = tell
        self._clock = clock
        self._beat_ms = beat_ms
        self._complained = False
        self._log: Any = structlog.get_logger("echomq.worker")

    async def run(self) -> None:
        """Beat for ever."""
        while True:
            self.beat()
            await self._clock.sleep_ms(self._beat_ms)

    def beat(self) -> None:
        """Tell once. That nobody can be told is no reason to stop working."""
        if self._tell is None:
            return
        try:
            self._tell(self._portrait.snapshot())
        except Exception as error:  # noqa: BLE001 - whatever it is, the jobs go on
            if not self._complained:
                self._complained = True
                self._log.warning("heartbeat.not_told", **for_log(error))
