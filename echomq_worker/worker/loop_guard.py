"""Notices handlers that hold up the event loop, and names them."""

import asyncio
import sys
import threading
import time
from dataclasses import dataclass
from types import FrameType
from typing import Any

import structlog

from echomq_worker.domain.clock import Clock
from echomq_worker.domain.histogram import Histogram
from echomq_worker.worker.hands import Hands

LIMIT_MS = 1_000
"""A turn of the loop that takes longer is worth a line."""
HOPELESS_MS = 10_000
"""A loop that is held up for so long may never come back to tell of it."""
QUIET_MS = 60_000
"""The same handler is named once in so long."""
_PLUMBING = ("echomq_worker.", "asyncio", "anyio", "uvloop")
_HINT = "use a handler that is not async (it runs in a thread), or await"


@dataclass(frozen=True, slots=True)
class Culprit:
    """Whose code the loop was seen to run."""

    job_id: str | None = None
    job_name: str | None = None
    at: str | None = None


class LoopGuard:
    """Ticks on the loop, and has a thread look at the loop when the tick is late.

    Args:
        hands: the jobs that this worker holds.
        clock: tells how late a tick is.
        lag: counts how late they are.
        limit_ms: what is too late.
    """

    name = "loop guard"

    def __init__(
        self, hands: Hands, clock: Clock, lag: Histogram, *, limit_ms: int = LIMIT_MS
    ) -> None:
        self._hands = hands
        self._clock = clock
        self._lag = lag
        self._limit_ms = limit_ms
        self._tick_ms = max(1, limit_ms // 2)
        self._ticked_at = 0.0
        self._seen: Culprit | None = None
        self._told: dict[str | None, int] = {}
        self._suspects: set[str] = set()
        self._log: Any = structlog.get_logger("echomq.worker")

    async def run(self) -> None:
        """Tick for ever."""
        self._ticked_at = time.monotonic()
        stop = threading.Event()
        seat = (asyncio.get_running_loop(), threading.get_ident(), stop)
        threading.Thread(target=self._watch, args=seat, name="echomq-guard", daemon=True).start()
        try:
            while True:
                asleep_ms = self._clock.monotonic_ms()
                await self._clock.sleep_ms(self._tick_ms)
                self._tick(self._clock.monotonic_ms() - asleep_ms - self._tick_ms)
        finally:
            stop.set()

    def _tick(self, late_ms: int) -> None:
        self._ticked_at = time.monotonic()
        self._lag.add(late_ms)
        seen, self._seen = self._seen, None
        self._suspects = self._hands.names_lately()
        if late_ms < self._limit_ms:
            return
        culprit = seen or Culprit()
        now_ms = self._clock.monotonic_ms()
        if now_ms - self._told.get(culprit.job_name, -QUIET_MS) >= QUIET_MS:
            self._told[culprit.job_name] = now_ms
            self._tell("loop.blocked", late_ms, culprit)

    def _watch(
        self, loop: asyncio.AbstractEventLoop, thread_id: int, stop: threading.Event
    ) -> None:
        told_of = 0.0
        while not stop.wait(self._tick_ms / 1_000):
            late_ms = (time.monotonic() - self._ticked_at) * 1_000 - self._tick_ms
            if late_ms < self._limit_ms / 2:
                continue
            if self._seen is None:
                self._seen = self._look(loop, thread_id)
            if late_ms >= HOPELESS_MS and self._seen is not None and told_of != self._ticked_at:
                told_of = self._ticked_at
                self._tell("loop.still_blocked", late_ms, self._seen)

    def _look(self, loop: asyncio.AbstractEventLoop, thread_id: int) -> Culprit | None:
        task = asyncio.current_task(loop)
        if task is None:
            return None
        at = _handlers_line(sys._current_frames().get(thread_id))  # noqa: SLF001 - made for this
        run = next((run for run in tuple(self._hands.running) if run.task is task), None)
        return Culprit(at=at) if run is None else Culprit(run.held.id, run.name, at)

    def _tell(self, event: str, late_ms: float, culprit: Culprit) -> None:
        # If no thread could look meanwhile, it is one of those that were held.
        unseen = {} if culprit.at or culprit.job_id else {"suspects": sorted(self._suspects)}
        self._log.warning(
            event,
            lag=round(late_ms / 1_000, 3),
            **unseen,
            job_name=culprit.job_name,
            job_id=culprit.job_id,
            at=culprit.at,
            hint=_HINT,
        )


def _handlers_line(innermost: FrameType | None) -> str | None:
    """Return the outermost line that is neither ours nor the loop's."""
    found, frame = None, innermost
    while frame is not None and not _is_plumbing(frame):
        found, frame = frame, frame.f_back
    if found is None:
        return None
    return f"{found.f_code.co_filename}:{found.f_lineno} in {found.f_code.co_name}"


def _is_plumbing(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).startswith(_PLUMBING)
