"""The lanes of a queue in memory: what waits in them is real, what is set for them is kept only."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from echomq_worker.domain.gates import Rate
from echomq_worker.domain.ids import parse_id
from echomq_worker.domain.job import JobId
from echomq_worker.domain.lanes import (
    LanePause,
    LaneView,
    OnFull,
    Reassigned,
    check_lane_count,
    check_on_full,
    lane_group,
)
from echomq_worker.domain.replies import Reaped
from echomq_worker.domain.views import Places
from echomq_worker.testing.places import MemoryQueue


@dataclass(frozen=True, slots=True)
class InlineLanes:
    """The lanes of one queue in memory.

    Pauses, limits, weights and maxima are remembered and shown, and jobs run all the same: what
    they do is the server's business. Use a real one to see it.
    """

    _memory: MemoryQueue = field(repr=False)
    _lock: threading.RLock = field(repr=False)
    _known: dict[str, LaneView] = field(default_factory=dict[str, LaneView], repr=False)

    async def pause(self, lane: str, *, reason: str = "", by: str = "") -> bool:
        """Remember that a lane is not served."""
        before = self._of(lane)
        note = LanePause(self._memory.now(), reason or None, by or None)
        self._keep(replace(before, paused=note))
        return before.paused is None

    async def resume(self, lane: str) -> bool:
        """Remember that a lane is served again."""
        before = self._of(lane)
        self._keep(replace(before, paused=None))
        return before.paused is not None

    async def limit(self, lane: str, most: int | None) -> None:
        """Remember how many jobs of a lane may be active."""
        limit = None if most is None else check_lane_count("limit", most)
        self._keep(replace(self._of(lane), limit=limit))

    async def weight(self, lane: str, weight: int | None) -> None:
        """Remember how many jobs of a lane are served at its turn."""
        told = 1 if weight is None else check_lane_count("weight", weight)
        self._keep(replace(self._of(lane), weight=told))

    async def rate(self, lane: str, rate: Rate | None) -> bool:
        """Remember how often jobs of a lane may start."""
        before = self._of(lane)
        self._keep(replace(before, rate=rate))
        return before.rate != rate

    async def first(self, lane: str, *, on: bool = True) -> bool:
        """Remember that a lane is served before others."""
        before = self._of(lane)
        self._keep(replace(before, first=on))
        return before.first != on

    async def maximum(
        self, lane: str, most: int | None, on_full: OnFull | str = OnFull.REFUSE
    ) -> None:
        """Remember how many jobs may wait in a lane."""
        word = check_on_full(on_full)
        told = None if most is None else check_lane_count("maximum", most)
        view = replace(self._of(lane), maximum=told, on_full=None if told is None else word)
        self._keep(view)

    async def reassign(self, job_id: JobId, lane: str, *, flat: bool = False) -> Reassigned:
        """Let a waiting job wait in another lane."""
        parse_id(job_id)
        group = lane_group(lane)
        with self._lock:
            row = self._memory.rows.get(job_id)
            if row is None or (row.group is None and not flat):
                return Reassigned.NOT_FOUND
            if row.group == group:
                return Reassigned.NOOP
            if job_id not in self._memory.pending:
                return Reassigned.NOT_PENDING
            row.group, row.lane, row.priority = group, None if group == lane else lane, 0
            return Reassigned.OK

    async def drain(self, lane: str) -> int:
        """Remove what waits in a lane."""
        with self._lock:
            waiting = self._waiting(lane_group(lane))
            for job_id in waiting:
                self._memory.remove(job_id, Places.WAITING)
            return len(waiting)

    async def reap(self, lane: str) -> Reaped:
        """Take nothing back: workers in memory do so themselves."""
        lane_group(lane)
        return Reaped((), ())

    async def depths(self, lanes: Sequence[str]) -> dict[str, int]:
        """Return how many jobs wait in each of some lanes."""
        return {lane: self._of(lane).waiting for lane in lanes}

    async def inspect(self, lane: str) -> LaneView:
        """Return how a lane stands."""
        return self._of(lane)

    async def list(self, limit: int = 100, *, offset: int = 0) -> Sequence[LaneView]:
        """Return lanes that are known, by name."""
        with self._lock:
            rows = self._memory.rows.values()
            names = {row.group: row.lane or row.group for row in rows if row.group is not None}
            names |= {group: lane.name for group, lane in self._known.items()}
            views = [self._of(name) for name in names.values()]
        return sorted(views, key=lambda view: view.name)[offset : offset + limit]

    def _keep(self, view: LaneView) -> None:
        with self._lock:
            self._known[view.group] = view

    def _of(self, lane: str) -> LaneView:
        group = lane_group(lane)
        with self._lock:
            view = self._known.get(group) or LaneView(group=group, name=lane, waiting=0, active=0)
            waiting, rows = self._waiting(group), self._memory.rows
            return replace(
                view,
                waiting=len(waiting),
                active=sum(rows[job_id].group == group for job_id in self._memory.active),
                oldest=waiting[0] if waiting else None,
                newest=waiting[-1] if waiting else None,
            )

    def _waiting(self, group: str) -> Sequence[JobId]:
        rows = self._memory.rows
        return sorted(job_id for job_id in self._memory.pending if rows[job_id].group == group)
