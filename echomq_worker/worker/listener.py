"""Hears that there may be work, so that nobody has to poll."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from echomq_worker.domain.clock import Clock
from echomq_worker.errors import ServerError, UnavailableError
from echomq_worker.worker.outage import Outage
from echomq_worker.worker.ports import Queue
from echomq_worker.worker.pump import Pump
from echomq_worker.worker.slots import Slots
from echomq_worker.worker.waiting import wait_until

STEADY_MS = 50
"""A listener lets a change of slots that may pass stand for so long before it acts on it."""
LONGEST_BEATS = 2


@dataclass(frozen=True, slots=True)
class Ear:
    """What to listen to."""

    bell: bool
    """New work. Only with free slots: a wake-up taken without room for work is lost to others."""
    clock: bool
    """A nearer due time. Only for the watcher of the queue."""


class Listener:
    """Reads the hints of one queue, over a connection that may block.

    Args:
        queue: the queue.
        slots: says if there is room for work.
        pump: says if this worker is the watcher.
        rung: called when there may be something to do.
        clock: waits.
        outage: waits while the server is away.
        beat_ms: the beat, for the length of a read.
    """

    def __init__(  # noqa: PLR0913 - it hears on behalf of all of them
        self,
        queue: Queue,
        *,
        slots: Slots,
        pump: Pump,
        rung: Callable[[], None],
        clock: Clock,
        outage: Outage,
        beat_ms: int,
    ) -> None:
        self.name = f"listener {queue.name}"
        self._queue = queue
        self._slots = slots
        self._pump = pump
        self._rung = rung
        self._clock = clock
        self._outage = outage
        self._read_ms = max(10, min(LONGEST_BEATS * beat_ms, 5_000))
        self._ear: Ear | None = None
        self._reading: asyncio.Task[bool] | None = None
        self._ending: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()

    def update(self) -> None:
        """Take in that slots, work or the watch may have changed."""
        self._changed.set()
        reading, ear = self._reading, self._ear
        if reading is None or ear is None:
            return
        wanted = self._wanted()
        if self._ending is not None:
            return
        if (wanted.bell and not ear.bell) or (wanted.clock and not ear.clock):
            self._ending = asyncio.create_task(self._end(reading, after_ms=0))
        elif ear.bell and not wanted.bell:
            self._ending = asyncio.create_task(self._end(reading, after_ms=STEADY_MS))

    async def run(self) -> None:
        """Listen for ever, from the first reply on: it tells who is the watcher."""
        await self._changed.wait()
        tries = 0
        while True:
            ear = await self._something_to_hear()
            try:
                heard = await self._read(ear)
            except UnavailableError as error:
                tries += 1
                await self._outage.trouble(error, tries)
                continue
            tries = 0
            self._outage.answered()
            if heard:
                self._changed.clear()
                self._rung()
                # The reply to what is done about it tells whether to listen on.
                await self._changed.wait()

    async def _something_to_hear(self) -> Ear:
        steady_at_ms: int | None = None
        while True:
            self._changed.clear()
            ear = self._wanted()
            now_ms = self._clock.monotonic_ms()
            if ear.bell:
                return ear
            if not ear.clock:
                steady_at_ms = None
                await self._changed.wait()
                continue
            if steady_at_ms is None:
                steady_at_ms = now_ms + STEADY_MS
            if now_ms >= steady_at_ms:
                return ear
            await wait_until(self._clock, steady_at_ms, self._changed)

    async def _read(self, ear: Ear) -> bool:
        self._ear = ear
        self._reading = reading = asyncio.create_task(
            self._queue.wait_hint(bell=ear.bell, clock=ear.clock, timeout_ms=self._read_ms)
        )
        try:
            await asyncio.wait((reading,))
        finally:
            self._reading = None
            reading.cancel()
        # One that is cut off may have taken a hint with it, so somebody has to look.
        return True if reading.cancelled() else reading.result()

    async def _end(self, reading: asyncio.Task[bool], *, after_ms: int) -> None:
        """End a read that hears the wrong things, unless they have become right meanwhile."""
        try:
            if after_ms:
                await self._clock.sleep_ms(after_ms)
            if reading is self._reading and self._wanted() != self._ear:
                ended = False
                with suppress(ServerError):
                    ended = await self._queue.end_wait()
                if not ended and reading is self._reading:
                    reading.cancel()  # its connection goes with it
        finally:
            self._ending = None

    def _wanted(self) -> Ear:
        slots = self._slots
        room = slots.free > 0 and not slots.closed
        return Ear(
            bell=room and not slots.is_hungry(self._queue.name),
            clock=self._pump.watching and not slots.closed,
        )
