"""What one look at the schedulers of a queue finds, and what is fired because of it."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from echomq_worker.domain.clock import Clock
from echomq_worker.domain.job import JobId
from echomq_worker.domain.scheduling.firing import firing_of, is_left
from echomq_worker.domain.scheduling.plan import wake_ms
from echomq_worker.domain.scheduling.records import (
    FIRED_AT_ONCE,
    OCCURRENCES_AT_ONCE,
    DueScheduler,
    Fired,
    Firing,
    OccurrenceVerdict,
    Whole,
)
from echomq_worker.domain.scheduling.spec import SchedulerSpec
from echomq_worker.errors import (
    EchoMQError,
    InvalidArgumentError,
    OutOfMemoryError,
    UnavailableError,
)
from echomq_worker.worker.ports import Queue
from echomq_worker.worker.schedule_lines import ScheduleLines
from echomq_worker.worker.stats import Stats

REPEATS_AT_ONCE = 100
"""The most registrations of the base wire that one call fires."""
MINT_TRIES = 3
TURN_MS = 5
"""Planning gives way to the running jobs after so long."""
MOST_PASSED = 10_000
"""So many that have to stay are passed over, at most, to find others behind them."""
CALL_MS = 200
"""What is planned after so long is fired before there is more planning."""


@dataclass(slots=True)
class Look:
    """What was due at one moment, and what became of it."""

    now_ms: int
    """The server's clock."""
    next_ms: int | None
    """When the next one is due, as far as is known here; None if there is none."""
    due: tuple[DueScheduler, ...]
    repeat_ms: int | None = None
    """When the first registration of the base wire is due; None if there is none."""
    planned: int = 0
    """So many of them were gone through."""
    chosen: dict[str, SchedulerSpec] = field(default_factory=dict[str, SchedulerSpec])
    """Those that are to be fired now, by name."""
    waiting: list[Firing] = field(default_factory=list[Firing])
    """What was not yet answered."""
    corrupt: list[DueScheduler] = field(default_factory=list[DueScheduler])
    """Those that are to be moved out of the way."""
    left: bool = False
    """True if something is due that we have not fired."""
    stay: int = 0
    """How many stay where they are, at the head of what is due."""
    later: bool = False
    """True if the server has put something off: one call held too much."""
    aside: list[str] = field(default_factory=list[str])
    """Those that were."""
    done: bool = False
    """True if anything was changed."""
    more: bool = False
    """True if there is to be another look at once."""
    made: int = 0
    """How many jobs were made."""

    def see(self, wake_ms: int | None) -> None:
        """Take in that something is due at `wake_ms`."""
        if wake_ms is not None and (self.next_ms is None or wake_ms < self.next_ms):
            self.next_ms = wake_ms


class Volley:
    """Looks at the schedulers of one queue, and fires those whose time has come.

    Each method may be called again with the same look after it failed: nothing happens twice.

    Args:
        queue: the queue.
        mint: gives an id for each job.
        zone_data: the version of the time zone data that is used here.
        repeats: whether to fire what peers have registered by the base wire's rules.
        clock: tells how long planning takes.
        lines: writes what was fired.
        stats: counts it.
    """

    def __init__(  # noqa: PLR0913 - all that firing touches
        self,
        queue: Queue,
        *,
        mint: Callable[[], JobId],
        zone_data: str,
        repeats: bool,
        clock: Clock,
        lines: ScheduleLines,
        stats: Stats,
    ) -> None:
        self.queue = queue.name
        """The queue's name."""
        self._queue = queue
        self._mint = mint
        self._zone_data = zone_data
        self._repeats = repeats
        self._clock = clock
        self._lines = lines
        self._stats = stats
        self._passed = 0
        """How many stay, of those that were read since a look began at the head."""

    async def read(self) -> Look:
        """Read what is due."""
        due = await self._queue.schedulers.due(FIRED_AT_ONCE, offset=self._passed)
        look = Look(due.now_ms, due.next_ms, due.schedulers, due.repeat_ms)
        look.left = self._passed > 0
        return look

    async def plan(self, look: Look, late_ms: int) -> bool:
        """Decide what to fire next, as much as one call takes. The event loop turns meanwhile.

        Args:
            look: what was read.
            late_ms: what is due for no longer than this is left to the watcher; 0 leaves nothing.

        Returns:
            False if there is nothing (more) to fire.
        """
        began_ms = turn_ms = self._clock.monotonic_ms()
        occurrences = 0
        while look.planned < len(look.due) and occurrences < OCCURRENCES_AT_ONCE:
            due = look.due[look.planned]
            look.planned += 1
            if late_ms and look.now_ms - due.wake_ms <= late_ms:
                continue
            firing = self._firing(look, due)
            if firing is not None:
                look.waiting.append(firing)
                occurrences += max(1, len(firing.occurrences))
            now_ms = self._clock.monotonic_ms()
            if now_ms - began_ms >= CALL_MS:
                break
            if now_ms - turn_ms >= TURN_MS:
                await asyncio.sleep(0)
                turn_ms = self._clock.monotonic_ms()
        return bool(look.waiting) or look.planned < len(look.due)

    async def fire(self, look: Look) -> None:
        """Fire what was planned."""
        for _ in range(MINT_TRIES):
            if not look.waiting:
                break
            await self._send(look)
        look.left = look.left or bool(look.waiting)
        look.waiting.clear()

    async def set_aside(self, look: Look) -> None:
        """Move aside what cannot be read: once the others have fired, as this may fail."""
        while look.corrupt:
            due = look.corrupt[-1]
            try:
                if await self._queue.schedulers.set_aside(due.name, due.problem):
                    self._lines.set_aside(self.queue, due.name, due.problem)
                    look.aside.append(due.name)
            except (UnavailableError, OutOfMemoryError):
                raise
            except EchoMQError as error:
                self._stays(look)
                self._lines.unreadable(self.queue, due.name, f"{due.problem}. {error}")
            look.corrupt.pop()

    def turn_page(self, look: Look) -> None:
        """Let the next look begin behind what has to stay, if it may hide others."""
        # What nobody could fire now must not be looked at again and again.
        changed = look.done or bool(look.aside)
        look.more = changed and (look.later or len(look.due) >= FIRED_AT_ONCE)
        if len(look.due) < FIRED_AT_ONCE or not look.stay or self._passed >= MOST_PASSED:
            self._passed = 0
            return
        self._passed += look.stay
        look.more = True

    async def fire_repeats(self, look: Look, late_ms: int) -> None:
        """Fire what peers have registered to repeat and is due, if that is ours to do.

        Args:
            look: what was read.
            late_ms: what is due for no longer than this is left to the watcher.
        """
        if not self._repeats or look.repeat_ms is None:
            return
        if look.repeat_ms > look.now_ms - late_ms:
            look.see(look.repeat_ms)
            return
        fired = await self._queue.repeats.fire([self._mint() for _ in range(REPEATS_AT_ONCE)])
        names = [name for name, _ in fired.fired]
        self._count(look, len(names))
        self._lines.repeats_fired(self.queue, names)
        for name, reason in fired.set_aside:
            self._lines.repeat_set_aside(self.queue, name, reason)
        if fired.next_ms is None or fired.next_ms > fired.now_ms:
            look.see(fired.next_ms)
        elif names or fired.set_aside:
            look.more = True
        else:
            look.left = True

    def _firing(self, look: Look, due: DueScheduler) -> Firing | None:
        if due.is_corrupt:
            look.corrupt.append(due)
            return None
        if due.spec is None:
            self._stays(look)
            self._lines.unreadable(self.queue, due.name, due.problem)
            return None
        if is_left(due, look.now_ms, self._zone_data):
            self._stays(look)
            return None
        try:
            firing = firing_of(
                due, due.spec, now_ms=look.now_ms, version=self._zone_data, mint=self._mint
            )
        except Exception as error:  # noqa: BLE001 - whatever it is, the others are to fire
            self._stays(look)
            self._lines.unreadable(self.queue, due.name, f"{type(error).__qualname__}: {error}")
            return None
        look.chosen[due.name] = due.spec
        return firing

    def _stays(self, look: Look) -> None:
        look.left = True
        look.stay += 1

    async def _send(self, look: Look) -> None:
        asked = look.waiting
        try:
            answers = await self._queue.schedulers.fire(asked)
        except InvalidArgumentError:
            # Nothing of it was done: one is at fault, and the others must not suffer.
            await self._send_alone(look)
        else:
            look.waiting = self._answered(look, asked, answers)

    async def _send_alone(self, look: Look) -> None:
        while look.waiting:
            one = look.waiting[-1:]
            try:
                answers = await self._queue.schedulers.fire(one)
            except InvalidArgumentError as error:
                self._stays(look)
                self._lines.unreadable(self.queue, one[0].name, str(error))
            else:
                look.left = bool(self._answered(look, one, answers)) or look.left
            look.waiting.pop()

    def _answered(
        self, look: Look, asked: Sequence[Firing], answers: Sequence[Fired]
    ) -> list[Firing]:
        """Take in what became of firings; return those to ask for again, with other ids."""
        fired: list[tuple[str, int, int]] = []
        again: list[Firing] = []
        for firing, answer in zip(asked, answers, strict=True):
            if answer.whole is Whole.OK:
                look.done = True
                look.see(firing.wake_ms)
                fired += self._fired(look, firing, answer.verdicts)
            elif answer.whole is Whole.ID_TAKEN:
                fresh = tuple((self._mint(), instant) for _, instant in firing.occurrences)
                again.append(replace(firing, occurrences=fresh))
            elif answer.whole is Whole.LATER:
                look.later = True
            else:
                look.left = True  # another has changed it; if not, it comes again
        self._count(look, len(fired))
        self._lines.fired(self.queue, fired)
        return again

    def _fired(
        self, look: Look, firing: Firing, verdicts: Sequence[OccurrenceVerdict]
    ) -> list[tuple[str, int, int]]:
        """Return name, instant and lateness (ms) of each occurrence that made a job."""
        spec = look.chosen[firing.name]
        return [
            (firing.name, instant, max(0, look.now_ms - wake_ms(spec, instant)))
            for (_, instant), verdict in zip(firing.occurrences, verdicts, strict=True)
            if verdict is OccurrenceVerdict.FIRED
        ]

    def _count(self, look: Look, made: int) -> None:
        look.made += made
        self._stats.fired += made
