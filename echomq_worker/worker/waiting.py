"""Ways to wait: for a clock that a test may move, and for whichever comes first."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio

from echomq_worker.domain.clock import Clock


class Nap:
    """A sleep that can be cut short, also in advance."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._over: asyncio.Future[None] | None = None
        self._cut = False

    def cut(self) -> None:
        """End the nap that is being taken, or else the next one, at once."""
        self._cut = True
        if self._over is not None:
            _end(self._over)

    async def sleep(self, ms: int) -> None:
        """Sleep for `ms` milliseconds at most."""
        if not self._cut:
            self._over = over = asyncio.get_running_loop().create_future()
            sleeper = asyncio.create_task(self._clock.sleep_ms(ms))
            sleeper.add_done_callback(lambda _: _end(over))
            try:
                await over
            finally:
                self._over = None
                sleeper.cancel()
        self._cut = False


def _end(nap: asyncio.Future[None]) -> None:
    if not nap.done():
        nap.set_result(None)


async def wait_until(clock: Clock, at_ms: int, *events: asyncio.Event) -> None:
    """Wait until one of `events` is set, or `clock` shows `at_ms` (monotonic)."""
    left_ms = at_ms - clock.monotonic_ms()
    if left_ms <= 0 or any(event.is_set() for event in events):
        return
    waits = [asyncio.create_task(event.wait()) for event in events]
    sleep = asyncio.create_task(clock.sleep_ms(left_ms))
    try:
        await asyncio.wait([*waits, sleep], return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in (*waits, sleep):
            wait.cancel()


@asynccontextmanager
async def until(clock: Clock, at_ms: int, *events: asyncio.Event) -> AsyncGenerator[None]:
    """Cancel the block, and go on after it, at `at_ms` (monotonic) or once an event is set."""

    async def watch() -> None:
        await wait_until(clock, at_ms, *events)
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        yield
        group.cancel_scope.cancel()
