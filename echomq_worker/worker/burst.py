"""Stops the worker when there is nothing left to do."""

from collections.abc import Sequence
from typing import Protocol

from echomq_worker.domain.job import Claimed
from echomq_worker.worker.hands import Hands
from echomq_worker.worker.stop import Stop


class Looks(Protocol):
    """Asks one queue for work."""

    async def look(self) -> Claimed:
        """Claim if there is room; return what the server said."""
        ...


class Fires(Protocol):
    """Fires the schedulers of one queue."""

    async def catch_up(self) -> None:
        """Return once it has fired what it may of all that is due now."""
        ...


class Burst:
    """Asks all queues in turn until a whole round brings nothing while nothing runs.

    First the schedulers that are due by then are fired. Jobs that are due later, also those of a
    scheduler's next occurrence, and those of a paused queue, stay where they are.

    Args:
        desks: one for each queue.
        firers: one for each queue.
        hands: the jobs that this worker holds.
        stop: asked to drain in the end.
    """

    name = "burst"

    def __init__(
        self, desks: Sequence[Looks], firers: Sequence[Fires], hands: Hands, stop: Stop
    ) -> None:
        self._desks = desks
        self._waiting = dict(zip(desks, firers, strict=False))
        """Those that have not fired what was due at the start."""
        self._hands = hands
        self._stop = stop

    async def run(self) -> None:
        """Watch until there is nothing left."""
        while not await self._nothing_left():
            await self._hands.empty.wait()
        self._stop.drain("burst")

    async def _nothing_left(self) -> bool:
        before = self._hands.total
        for desk in self._desks:
            claimed = await desk.look()
            fired = await self._fired(desk, claimed)
            if claimed.jobs or (claimed.left and not claimed.paused) or fired:
                return False
        # A job that came and went meanwhile may have made others where we had looked already.
        return self._hands.empty.is_set() and self._hands.total == before

    async def _fired(self, desk: Looks, claimed: Claimed) -> bool:
        """Fire what is due, but not again and again; return whether there was an occasion."""
        firer = self._waiting.pop(desk, None)
        at_ms = claimed.next_fire_ms
        if firer is None or at_ms is None or at_ms > claimed.now_ms:
            return False
        await firer.catch_up()
        return True
