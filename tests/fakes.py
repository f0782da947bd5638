"""A clock that the test moves."""

import asyncio
from collections import deque
from heapq import heappop, heappush
from itertools import count

NOW_MS = 1_750_000_000_000


class FakeClock:
    """Time that moves only when the test says so."""

    def __init__(self) -> None:
        self.ms = 0
        self._order = count()
        self._sleepers: list[tuple[int, int, asyncio.Future[None]]] = []

    def now_ms(self) -> int:
        return NOW_MS + self.ms

    def monotonic_ms(self) -> int:
        return self.ms

    async def sleep_ms(self, ms: int) -> None:
        if ms <= 0:
            await asyncio.sleep(0)
            return
        woken = asyncio.get_running_loop().create_future()
        heappush(self._sleepers, (self.ms + ms, next(self._order), woken))
        await woken

    async def advance(self, ms: int) -> None:
        """Move time on, waking each sleeper at its own moment, and let everybody settle down."""
        end_ms = self.ms + ms
        await settled()
        while self._sleepers and self._sleepers[0][0] <= end_ms:
            self.ms, _, woken = heappop(self._sleepers)
            if not woken.done():
                woken.set_result(None)
                await settled()
        self.ms = end_ms


async def settled() -> None:
    """Return once everybody waits for something."""
    ready: deque[object] = getattr(asyncio.get_running_loop(), "_ready")  # noqa: B009 - private
    for _ in range(10_000):
        await asyncio.sleep(0)
        if not ready:
            return
    msg = "something spins"
    raise AssertionError(msg)
