"""A worker's line to a queue in memory: every call is answered at once."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from echomq_worker.domain.job import Claimed, Held, JobId
from echomq_worker.domain.outcome import Outcome
from echomq_worker.domain.replies import Beat, Presence, Settled
from echomq_worker.testing.places import MemoryQueue
from echomq_worker.testing.settling import settle


@dataclass(slots=True)
class InlineLine:
    """Claims, settles and beats for one worker on one queue."""

    memory: MemoryQueue
    _lock: threading.RLock = field(repr=False)
    worker_id: str
    caller: str
    """Random, so that nobody else's claims carry it."""
    watch_ms: int = 0
    _calls: int = 0

    async def claim(self, *, limit: int, lease_ms: int, promote: int) -> Claimed:
        """Take up to `limit` jobs under a lease, after promoting at most `promote` due ones."""
        with self._lock:
            return self._hand_out(limit, lease_ms, self.memory.due(promote))

    async def settle(
        self,
        settlements: Sequence[tuple[Held, Outcome]],
        *,
        limit: int = 0,
        lease_ms: int = 1,
        promote: int = 0,
    ) -> Settled:
        """Write outcomes and, in the same step, claim up to `limit` jobs (0 for none)."""
        with self._lock:
            due = self.memory.due(promote)  # a retry without a delay waits for the next call
            verdicts = settle(self.memory, settlements)
            return Settled(verdicts, self._hand_out(limit, lease_ms, due))

    async def beat(  # noqa: PLR0913 - one argument a limit
        self,
        *,
        limit: int,
        lease_ms: int,
        promote: int,
        reap: int,
        crash_limit: int,
        max_attempts: int,
        worker: Presence | None = None,
    ) -> Beat:
        """Reap, promote, claim and say that this worker lives. It is always the watcher."""
        with self._lock:
            reaped = self.memory.reap(reap, crash_limit, max_attempts)
            claimed = self._hand_out(limit, lease_ms, self.memory.due(promote))
            if worker is not None:
                self.memory.workers[worker.worker_id] = self.memory.now() + worker.ttl_ms
            return Beat(claimed, reaped, watching=True)

    async def aclose(self) -> None:
        """Do nothing: there is no connection."""

    def _hand_out(self, limit: int, lease_ms: int, due: Sequence[JobId]) -> Claimed:
        memory = self.memory
        self._calls += 1
        memory.promote(due)
        jobs = memory.claim(limit, lease_ms, f"{self.caller}.{self._calls:x}")
        return Claimed(
            now_ms=memory.now(),
            next_due_ms=min(memory.schedule.values(), default=None),
            left=len(memory.pending),
            jobs=jobs,
            paused=memory.paused,
        )
