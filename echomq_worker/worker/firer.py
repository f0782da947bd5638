"""Fires the schedulers of a queue at their millisecond, and those of a dead watcher soon after."""

import asyncio
from collections.abc import Callable, Sequence

from echomq_worker.domain.clock import Clock
from echomq_worker.domain.job import Claimed
from echomq_worker.worker.outage import Outage
from echomq_worker.worker.volley import Look, Volley
from echomq_worker.worker.waiting import Nap

LATE_BEATS = 2
"""The watcher fires what is due; the others what has been due for longer than so many beats."""
AGAIN_MS = 5_000
"""What was left at a look is looked at again after a beat, or after this if that is shorter."""
STALE_MS = 60_000
"""A reply is older than a look by less than this; else the server's clock was set back."""
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
        aside: told the names of schedulers that were set aside.
    """

    def __init__(  # noqa: PLR0913 - all that it brings together
        self,
        volley: Volley,
        *,
        claim: Callable[[], None],
        clock: Clock,
        beat_ms: int,
        outage: Outage,
        aside: Callable[[Sequence[str]], None] = lambda _names: None,
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
        self._aside = aside
        self._nap = Nap(clock)
        self._looked_ms = -1
        """When we last looked, by the server's clock."""
        self._looked_at_ms = 0
        """The same, by the monotonic clock, as all below."""
        self._left = False
        """True if something was due then that we have not fired."""
        self._heard_at_ms: int | None = None
        """When to look, by what replies say."""
        self._found_at_ms: int | None = None
        """When to look, by what the last look has found and replies do not show."""
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
        if 0 < self._looked_ms - claimed.now_ms <= STALE_MS:
            return  # it was said before we looked
        if claimed.now_ms < self._looked_ms:
            self._looked_ms = -1
        head_ms = claimed.next_fire_ms
        now_ms = self._clock.monotonic_ms()
        late_ms = -1 if head_ms is None else claimed.now_ms - head_ms
        if head_ms is None or (not watching and late_ms <= self._late_ms):
            self._heard_at_ms = self._found_at_ms = None
        elif head_ms < self._looked_ms or (self._left and head_ms == self._looked_ms):
            # We have seen it and left it, or it is being fired; it hides the one after it.
            self._heard_at_ms = None
            if self._found_at_ms is None:
                self._found_at_ms = self._looked_at_ms + self._again_ms
        else:
            self._heard_at_ms = now_ms + max(0, -late_ms)
            self._found_at_ms = None
        at_ms = self._at_ms
        if at_ms is not None and at_ms < self._wakes_at_ms:
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
        now_ms, at_ms = self._clock.monotonic_ms(), self._at_ms
        if self._askers or (at_ms is not None and now_ms >= at_ms):
            await self._look()
            now_ms, at_ms = self._clock.monotonic_ms(), self._at_ms
        self._wakes_at_ms = now_ms + FOR_EVER_MS if at_ms is None else at_ms
        return max(0, self._wakes_at_ms - now_ms)

    @property
    def _at_ms(self) -> int | None:
        """When to look, by the monotonic clock; None for never."""
        known = (self._heard_at_ms, self._found_at_ms)
        return min((ms for ms in known if ms is not None), default=None)

    async def _look(self) -> None:
        askers, self._askers = self._askers, []
        self._heard_at_ms = self._found_at_ms = None
        try:
            look = await self._outage.patiently(self._volley.read)
            self._looked_ms, self._looked_at_ms = look.now_ms, self._clock.monotonic_ms()
            await self._fire(look)
        except BaseException:
            self._askers = askers + self._askers
            raise
        self._left = look.left
        self._found_at_ms = self._after(look)
        if look.more:
            self._askers = askers + self._askers
            return
        for asker in askers:
            if not asker.done():
                asker.set_result(None)

    async def _fire(self, look: Look) -> None:
        volley = self._volley
        late_ms = 0 if self.watching else self._late_ms
        while await volley.plan(look, late_ms):
            await self._outage.patiently(lambda: volley.fire(look))
            self._claim()
        await self._outage.patiently(lambda: volley.set_aside(look))
        if look.aside:
            self._aside(look.aside)
        volley.turn_page(look)
        made = look.made
        await self._outage.patiently(lambda: volley.fire_repeats(look, late_ms))
        if look.made > made:
            self._claim()

    def _after(self, look: Look) -> int | None:
        """Return when the next look is due by what this one has found."""
        if look.more:
            return self._clock.monotonic_ms()
        if not self.watching:
            return None
        waits_ms = [self._again_ms] if look.left else []
        if look.next_ms is not None:
            waits_ms.append(look.next_ms - look.now_ms)
        return self._looked_at_ms + min(waits_ms) if waits_ms else None
