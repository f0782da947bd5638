"""Looks after a queue when it is time: at the millisecond when a job is due, and once a beat."""

from typing import Protocol

from echomq_worker.domain.cadence import Cadence
from echomq_worker.domain.clock import Clock
from echomq_worker.domain.job import Claimed
from echomq_worker.worker.waiting import Nap


class TakesOrders(Protocol):
    """Makes the calls that the pump asks for."""

    def ask_look(self) -> None:
        """Promote what is due, and claim it if there is room."""
        ...

    def ask_beat(self) -> None:
        """Do all that is done once a beat."""
        ...


class Pump:
    """Sleeps on a local timer until the next wake of one queue.

    Only the watcher of a queue, of which there is one in the fleet, wakes for due jobs; the others
    look once a beat.

    Args:
        queue: the queue's name.
        desk: makes the calls.
        clock: sleeps.
        cadence: says how long.
        offset_ms: how much later its beats are than those of the first queue.
    """

    def __init__(
        self, queue: str, desk: TakesOrders, clock: Clock, cadence: Cadence, *, offset_ms: int = 0
    ) -> None:
        self.name = f"pump {queue}"
        self.watching = False
        """True if this worker is the watcher of the queue."""
        self._desk = desk
        self._clock = clock
        self._cadence = cadence
        self._offset_ms = offset_ms
        self._nap = Nap(clock)
        self._beat_at_ms = 0
        self._due_at_ms: int | None = None
        self._wakes_at_ms = 0

    def learn(self, claimed: Claimed, *, watching: bool | None = None) -> None:
        """Take in what the server said.

        Args:
            claimed: its clock and when the next job is due.
            watching: whether this worker is the watcher; None if it did not say.
        """
        if watching is not None:
            self.watching = watching
        self._due_at_ms = None
        if not self.watching or claimed.next_due_ms is None:
            return
        wait_ms = self._cadence.wait_ms(now_ms=claimed.now_ms, next_due_ms=claimed.next_due_ms)
        if wait_ms < self._cadence.beat_ms:
            self._due_at_ms = self._clock.monotonic_ms() + wait_ms
            if self._due_at_ms < self._wakes_at_ms:
                self._nap.cut()

    async def run(self) -> None:
        """Beat for ever."""
        while True:
            await self._nap.sleep(self.step())

    def step(self) -> int:
        """Ask for what it is time for; return how long to sleep, in ms."""
        now_ms = self._clock.monotonic_ms()
        if now_ms >= self._beat_at_ms:
            self._due_at_ms = None
            self._beat_at_ms = now_ms + self._cadence.beat_ms + self._offset_ms
            self._offset_ms = 0
            self._desk.ask_beat()
        elif self._due_at_ms is not None and now_ms >= self._due_at_ms:
            self._due_at_ms = None
            self._desk.ask_look()
        self._wakes_at_ms = self._beat_at_ms
        if self._due_at_ms is not None:
            self._wakes_at_ms = min(self._wakes_at_ms, self._due_at_ms)
        return self._wakes_at_ms - now_ms
