"""Fires the schedulers of a queue at their millisecond, and those of a dead watcher soon after."""

import asyncio
from collections.abc import Callable

from echomq_worker.domain.clock import Clock
from echomq_worker.domain.job import Claimed
from echomq_worker.worker.outage import Outage
from echomq_worker.worker.volley import Look, Volley
from echomq_worker.worker.waiting import Nap

LATE_BEATS = 2
"""The watcher fires what is due; the others what has been due for longer than so many beats."""
AGAIN_MS = 5_000
"""What was left at a look is looked at again after a beat, or after this if that is shorter."""
FOR_EVER_MS = 86_400_000


class Firer:
    """Sleeps on a local timer until the next scheduler of one queue is due, and fires it.

    What replies say about the next one costs no call of its own: a fleet that waits for midnight
    sends no more than its beats. Firing twice is harmless, so that nobody has to be sure who else
    does it; that only the watcher fires on time saves the calls of the others.

    It stops as soon as its worker drains: another worker becomes the watcher then.

    Args:
        volley: looks and fires.
        claim: called when jobs were made, so that they start at once.
        clock: sleeps.
        beat_ms: how often the queue is looked after.
        outage: waits while the server is away or full.
    """

    def __init__(
        self,
        volley: Volley,
        *,
        claim: Callable[[], None],
        clock: Clock,
        beat_ms: int,
        outage: Outage,
    ) -> None:
        self.name = f"firer {volley.queue}"
        self.watching = False
        """True if this worker is the watcher of the queue."""
        self._volley = volley
        self._claim = claim
        self._clock = clock
        self._late_ms = LATE_BEATS * beat_ms
        self._again_ms = min(beat_ms, AGAIN_MS)
        self._outage = outage
        self._nap = Nap(clock)
        self._head_ms: int | None = None
        """When the next one fires, as last heard, by the server's clock."""
        self._looked_ms = -1
        """When we last looked, by the server's clock: what was due then is fired, or was left."""
        self._looked_at_ms = 0
        self._at_ms: int | None = None
        """When to look, by the monotonic clock; None for never."""
        self._wakes_at_ms = 0
        self._askers: list[asyncio.Future[None]] = []

    def learn(self, claimed: Claimed, *, watching: bool | None) -> None:
        """Take in what the server said.

        Args:
            claimed: its clock, and when the next scheduler fires.
            watching: whether this worker is the watcher; None if the reply does not say, nor when
                the next one fires.
        """
        if watching is None:
            return
        self.watching = watching
        self._head_ms = claimed.next_fire_ms
        self._at_ms = self._aim(claimed.now_ms, self._clock.monotonic_ms())
        if self._at_ms is not None and self._at_ms < self._wakes_at_ms:
            self._nap.cut()

    async def catch_up(self) -> None:
        """Return once this worker has fired what it may of all that is due now."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._askers.append(done)
        self._nap.cut()
        await done

    async def run(self) -> None:
        """Fire for ever."""
        while True:
            await self._nap.sleep(await self.step())

    async def step(self) -> int:
        """Fire if it is time; return how long to sleep, in ms."""
        now_ms = self._clock.monotonic_ms()
        if self._askers or (self._at_ms is not None and now_ms >= self._at_ms):
            await self._look()
            now_ms = self._clock.monotonic_ms()
        self._wakes_at_ms = now_ms + FOR_EVER_MS if self._at_ms is None else self._at_ms
        return max(0, self._wakes_at_ms - now_ms)

    async def _look(self) -> None:
        askers, self._askers = self._askers, []
        self._at_ms = None
        try:
            look = await self._outage.patiently(self._volley.read)
            self._looked_ms, self._looked_at_ms = look.now_ms, self._clock.monotonic_ms()
            await self._fire(look)
        except BaseException:
            self._askers = askers + self._askers
            raise
        self._aim_after(look)
        if look.more:
            self._at_ms = self._clock.monotonic_ms()
            self._askers = askers + self._askers
            return
        for asker in askers:
            if not asker.done():
                asker.set_result(None)

    async def _fire(self, look: Look) -> None:
        volley = self._volley
        await volley.plan(look, 0 if self.watching else self._late_ms)
        await self._outage.patiently(lambda: volley.fire(look))
        if not look.chosen:
            await self._outage.patiently(lambda: volley.fire_repeats(look))
        if look.made:
            self._claim()

    def _aim_after(self, look: Look) -> None:
        """Take in what a look has found: when the next one fires, and if something was left."""
        heard = [ms for ms in (look.next_ms, self._head_ms) if ms is not None and ms > look.now_ms]
        self._head_ms = min(heard, default=None)
        self._at_ms = self._aim(look.now_ms, self._looked_at_ms)
        if look.left and self.watching:
            again_ms = self._looked_at_ms + self._again_ms
            self._at_ms = again_ms if self._at_ms is None else min(self._at_ms, again_ms)

    def _aim(self, now_ms: int, at_ms: int) -> int | None:
        """Return when to look: `now_ms` was the server's clock at `at_ms` of the monotonic one."""
        head_ms = self._head_ms
        if head_ms is None or (not self.watching and now_ms - head_ms <= self._late_ms):
            return None
        if head_ms < self._looked_ms:  # it was left, or this was said before we had fired it
            return self._looked_at_ms + self._again_ms
        return at_ms + max(0, head_ms - now_ms)
