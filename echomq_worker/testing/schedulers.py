"""Schedulers in memory, behind the methods of those on a server."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from echomq_worker.domain.job import Admission, JobId
from echomq_worker.domain.scheduling.firing import firing_of
from echomq_worker.domain.scheduling.plan import first_next
from echomq_worker.domain.scheduling.records import (
    FIRED_AT_ONCE,
    Due,
    Fired,
    Firing,
    PutVerdict,
    SchedulerView,
)
from echomq_worker.domain.scheduling.spec import SchedulerSpec
from echomq_worker.domain.views import PauseNote
from echomq_worker.testing.clock import Now
from echomq_worker.testing.timetable import Timetable
from echomq_worker.zones import zone_data_version


@dataclass(frozen=True, slots=True)
class InlineSchedulers:
    """The schedulers of one queue in memory."""

    timetable: Timetable
    _now: Now = field(repr=False)
    _lock: threading.RLock = field(repr=False)

    async def put(self, spec: SchedulerSpec, *, force: bool, source: str, tz: str) -> PutVerdict:
        """Create or replace a scheduler, unless a newer declaration is there."""
        with self._lock:
            return self.timetable.put(spec, force=force, source=source, tz=tz)

    async def get(self, name: str) -> SchedulerView | None:
        """Return a scheduler; None if there is none."""
        with self._lock:
            found = self.timetable.schedulers.get(name)
            return None if found is None else found.view()

    async def due(self, limit: int, *, offset: int = 0) -> Due:
        """Return the schedulers whose time has come, the longest due first."""
        with self._lock:
            return self.timetable.due(limit, offset=offset)

    async def fire(self, firings: Sequence[Firing]) -> list[Fired]:
        """Make the jobs of occurrences, each at most once; return what became of each firing."""
        with self._lock:
            return [self.timetable.fire(firing) for firing in firings]

    async def pause(self, name: str, *, reason: str = "", by: str = "") -> bool:
        """Let it make no more jobs; return whether there is one."""
        with self._lock:
            if (found := self.timetable.schedulers.get(name)) is None:
                return False
            if reason or found.paused is None:
                found.paused = PauseNote(self._now(), reason, by or None)
            found.wakes_ms = None
            return True

    async def resume(self, name: str) -> bool:
        """Let it make jobs again, from its next occurrence on; return whether there is one."""
        with self._lock:
            if (found := self.timetable.schedulers.get(name)) is None:
                return False
            if found.paused is not None:
                found.paused, now_ms = None, self._now()
                next_ms = first_next(found.spec, now_ms=now_ms, last_ms=found.last_ms)
                found.aim(None if found.ended else next_ms, found.ended or "end")
                found.wakes_ms = found.wakes_ms if found.held_ms is None else now_ms
            return True

    async def remove(self, name: str) -> bool:
        """Remove it; return whether there was one. The jobs that it has made go on."""
        with self._lock:
            return self.timetable.schedulers.pop(name, None) is not None

    async def trigger(self, name: str, job_id: JobId) -> Admission | None:
        """Make a job of it now; None if there is no such scheduler."""
        with self._lock:
            return self.timetable.trigger(name, job_id)

    async def now_ms(self) -> int:
        """Return the clock."""
        return self._now()

    async def list(self, limit: int, offset: int = 0) -> list[SchedulerView]:
        """Return schedulers, those that fire first at the front."""
        with self._lock:
            return [each.view() for each in self.timetable.in_order()[offset : offset + limit]]

    def fire_due(self, mint: Callable[[], JobId]) -> None:
        """Fire all that is due, as the firer of a worker does.

        Args:
            mint: gives an id for each job.
        """
        version = zone_data_version()
        with self._lock:
            while (due := self.timetable.due(FIRED_AT_ONCE)).schedulers:
                for each in due.schedulers:
                    assert each.spec is not None  # noqa: S101 - nothing in memory is damaged
                    firing = firing_of(
                        each, each.spec, now_ms=due.now_ms, version=version, mint=mint
                    )
                    self.timetable.fire(firing)
