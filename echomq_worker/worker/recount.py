"""Keeps the counts of caps true, where peers that know nothing of caps work on the same queue."""

from contextlib import suppress
from typing import Any

import structlog

from echomq_worker.domain.clock import Clock
from echomq_worker.errors import OutOfMemoryError, UnavailableError
from echomq_worker.worker.ports import Gates

EVERY_MS = 60_000


class Recount:
    """Counts once a minute who holds the slots of a queue's caps, if this worker is its watcher.

    Our own workers give slots back with the outcome of a job. A peer of the base wire that took
    over such a job, and completed it, does not.

    Args:
        queue: the queue's name.
        gates: counts.
        clock: sleeps.
    """

    def __init__(self, queue: str, gates: Gates, clock: Clock) -> None:
        self.name = f"recount {queue}"
        self.watching = False
        """True if this worker is the watcher of the queue."""
        self._queue = queue
        self._gates = gates
        self._clock = clock
        self._log: Any = structlog.get_logger("echomq.worker")

    async def run(self) -> None:
        """Count for ever."""
        while True:
            await self._clock.sleep_ms(await self.step())

    async def step(self) -> int:
        """Count if it is on this worker to do so; return how long to sleep, in ms."""
        if self.watching:
            wrong = 0
            with suppress(UnavailableError, OutOfMemoryError):  # others say so, and it can wait
                wrong = await self._gates.recount()
            if wrong:
                self._log.warning(
                    "slots.freed",
                    queue=self._queue,
                    caps=wrong,
                    hint="jobs under a cap were completed by a runtime that does not know of it",
                )
        return EVERY_MS
