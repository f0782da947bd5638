"""A clock that stands still until a test moves it."""

import asyncio
import threading
import time
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from itertools import count

from echomq_worker.domain.backoff import Duration
from echomq_worker.domain.duration import parse_duration_ms


class ManualClock:
    """Time that moves only when the test says so.

    It starts at the machine's time, so that instants that the tested code takes from the machine
    (`datetime.now(UTC) + timedelta(hours=1)`) mean what they say. Any thread may move it.

    Args:
        now_ms: where it starts, in Unix milliseconds; None takes the machine's time.
    """

    def __init__(self, now_ms: int | None = None) -> None:
        self._now_ms = time.time_ns() // 1_000_000 if now_ms is None else now_ms
        self._order = count()
        self._sleepers: list[_Entry] = []
        self._lock = threading.Lock()

    def now_ms(self) -> int:
        """Return the time, in Unix milliseconds."""
        return self._now_ms

    def monotonic_ms(self) -> int:
        """Return the same: this clock is never set back."""
        return self._now_ms

    async def sleep_ms(self, ms: int) -> None:
        """Wait until the clock has been moved on by `ms` milliseconds; 0 gives way to others."""
        if ms <= 0:
            await asyncio.sleep(0)
            return
        sleeper = _Sleeper()
        entry = (self._now_ms + ms, next(self._order), sleeper)
        with self._lock:
            heappush(self._sleepers, entry)
        try:
            await sleeper.wait()
        finally:
            self._forget(entry)

    def advance(self, duration: Duration) -> None:
        """Move the clock on. What sleeps until then goes on at the next turn of its event loop.

        Args:
            duration: how far, such as `"10m"`, 90 (seconds) or a timedelta.

        Raises:
            InvalidArgumentError: if it is no duration: the clock never goes back.
        """
        self.move_to(self._now_ms + parse_duration_ms(duration))

    def move_to(self, unix_ms: int) -> None:
        """Move the clock on to an instant, in Unix milliseconds. It is never set back."""
        with self._lock:
            self._now_ms = max(self._now_ms, unix_ms)
            while self._sleepers and self._sleepers[0][0] <= self._now_ms:
                heappop(self._sleepers)[2].wake()

    def _forget(self, entry: "_Entry") -> None:
        with self._lock:
            if entry in self._sleepers:
                self._sleepers.remove(entry)
                heapify(self._sleepers)


class _Sleeper:
    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._woken = self._loop.create_future()

    async def wait(self) -> None:
        await self._woken

    def wake(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._finish)

    def _finish(self) -> None:
        if not self._woken.done():
            self._woken.set_result(None)


_Entry = tuple[int, int, _Sleeper]
"""When somebody is to be woken, in what order, and who."""

Now = Callable[[], int]
"""Tells the time, in Unix milliseconds."""
