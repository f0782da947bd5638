"""The limits of a queue in memory: kept, and not enforced."""

import math
import threading
from dataclasses import dataclass, field

from echomq_worker.domain.gates import Gates, Rate, Strike
from echomq_worker.domain.job import JobId, State
from echomq_worker.testing.places import MemoryQueue


@dataclass(frozen=True, slots=True)
class InlineGates:
    """Remembers what limits there are, and what has been stopped. Jobs run all the same.

    Whether limits hold is the server's business: use a real one to see it.
    """

    _memory: MemoryQueue = field(repr=False)
    _lock: threading.RLock = field(repr=False)
    _limits: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    _strikes: dict[str, Strike] = field(default_factory=dict[str, Strike], repr=False)

    async def limit_rate(self, scope: str, rate: Rate | None) -> bool:
        """Remember how often jobs of a scope may start."""
        return self._put(f"rate:{scope}", None if rate is None else rate.rule)

    async def limit_concurrency(self, scope: str, most: int | None) -> bool:
        """Remember how many jobs of a scope may be active at once."""
        return self._put(f"cap:{scope}", None if most is None else str(most))

    async def strike(
        self,
        scope: str,
        *,
        for_ms: int | None = None,
        at_least: bool = False,
        reason: str = "",
        by: str = "",
    ) -> int | None:
        """Remember that jobs of a scope are stopped; return when they go on, in Unix ms."""
        now_ms, before = self._memory.now(), self._strikes.get(scope)
        until_ms = None if for_ms is None else now_ms + for_ms
        if at_least and before is not None and _ends(before.until_ms) >= _ends(until_ms):
            return before.until_ms
        self._strikes[scope] = Strike(scope, until_ms, reason, by, self._memory.now())
        return until_ms

    async def lift(self, scope: str) -> bool:
        """Remember that jobs of a scope go on; False if they were not stopped."""
        return self._strikes.pop(scope, None) is not None

    async def expected_ms(self, job_id: JobId) -> int | None:
        """Return when a job is due, in Unix ms; None if it runs or is gone."""
        with self._lock:
            if (row := self._memory.rows.get(job_id)) is None or self._memory.paused:
                return None
            if row.state is State.PENDING:
                return self._memory.now()
            return self._memory.schedule.get(job_id)

    async def read(self) -> Gates:
        """Return all that is remembered."""
        return Gates(self._memory.now(), dict(self._limits), {}, tuple(self._strikes.values()), ())

    def _put(self, gate: str, rule: str | None) -> bool:
        before = self._limits.get(gate)
        if rule is None:
            self._limits.pop(gate, None)
        else:
            self._limits[gate] = rule
        return before != rule


def _ends(until_ms: int | None) -> float:
    return math.inf if until_ms is None else until_ms
