"""Repeating registrations of the base wire in memory."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from echomq_worker.domain.job import JobId, NewJob
from echomq_worker.domain.repeats import RepeatView, check_repeat_ms, check_repeat_name
from echomq_worker.testing.places import MemoryQueue


@dataclass(frozen=True, slots=True)
class InlineRepeats:
    """The repeating registrations of one queue in memory."""

    _memory: MemoryQueue = field(repr=False)
    _lock: threading.RLock = field(repr=False)
    _made: Callable[[NewJob], None] = field(repr=False)
    _views: dict[str, RepeatView] = field(default_factory=dict[str, RepeatView], repr=False)

    async def register(
        self, name: str, every_ms: int, template: bytes, first_in_ms: int = 0, /
    ) -> bool:
        """Let a raw job be made again and again; False if the name is registered already."""
        check_repeat_name(name)
        check_repeat_ms("every_ms", every_ms, 1)
        check_repeat_ms("first_in_ms", first_in_ms, 0)
        with self._lock:
            if name in self._views:
                return False
            self._views[name] = RepeatView(
                name=name,
                next_ms=self._memory.now() + first_in_ms,
                every_ms=every_ms,
                template=template,
            )
            return True

    async def cancel(self, name: str) -> bool:
        """Take a registration away; False if there was none."""
        with self._lock:
            return self._views.pop(name, None) is not None

    async def list(self) -> Sequence[RepeatView]:
        """Return them, the earliest first."""
        with self._lock:
            return sorted(self._views.values(), key=lambda view: (view.next_ms, view.name))

    def next_ms(self) -> float | None:
        """Return when the first one fires, in Unix ms; None if there is none."""
        return min((view.next_ms for view in self._views.values()), default=None)

    def fire_due(self, mint: Callable[[], JobId]) -> None:
        """Make a job of each that is due; what was missed meanwhile is one job."""
        now_ms = self._memory.now()
        with self._lock:
            for view in [each for each in self._views.values() if each.next_ms <= now_ms]:
                job = NewJob(mint(), view.template or b"")
                self._memory.admit(job)
                self._made(job)
                following = _following(int(view.next_ms), view.every_ms or 1, now_ms)
                self._views[view.name] = replace(view, next_ms=following)


def _following(last_ms: int, every_ms: int, now_ms: int) -> int:
    return last_ms + every_ms * ((now_ms - last_ms) // every_ms + 1)
