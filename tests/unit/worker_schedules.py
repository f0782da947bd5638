"""The schedulers of a queue in memory, as a worker uses them, that a test can break."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from echomq_worker.domain.job import Held, JobId
from echomq_worker.domain.repeats import RepeatsFired
from echomq_worker.domain.scheduling.plan import first_next, wake_ms
from echomq_worker.domain.scheduling.records import (
    Due,
    DueScheduler,
    Fired,
    Firing,
    OccurrenceVerdict,
    PutVerdict,
    SchedulerState,
    SchedulerView,
    Whole,
)
from echomq_worker.domain.scheduling.spec import SchedulerSpec, scheduler_spec
from echomq_worker.domain.scheduling.template import Template
from echomq_worker.errors import InvalidArgumentError
from tests.fakes import NOW_MS, FakeClock


def every(ms: int, name: str = "tick", **options: Any) -> SchedulerSpec:
    """A scheduler whose grid begins with the fake clock."""
    options.setdefault("offset", timedelta(milliseconds=NOW_MS % ms))
    return scheduler_spec(
        name, template=Template(name="work"), every=timedelta(milliseconds=ms), **options
    )


@dataclass
class Stored:
    """One scheduler."""

    spec: SchedulerSpec | None
    next_ms: int | None
    wake_ms: int | None
    tz: str = ""
    last_ms: int | None = None
    count: int = 0
    held_ms: int | None = None
    since_ms: int | None = None
    revision: int = 0
    problem: str = ""
    is_corrupt: bool = False


@dataclass
class FakeSchedulers:
    """Schedulers in memory; what they make is enqueued by `enqueue`."""

    clock: FakeClock
    enqueue: Callable[[Held], None]
    new_job: Callable[..., Held]
    nudge: Callable[[], None]
    stored: dict[str, Stored] = field(default_factory=dict[str, Stored])
    calls: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    """When which method was called, in the order of the answers."""
    made: list[tuple[str, int, int]] = field(default_factory=list[tuple[str, int, int]])
    """Name, instant, and the clock's ms, of each job."""
    aside: dict[str, str] = field(default_factory=dict[str, str])
    failing: list[Exception | None] = field(default_factory=list[Exception | None])
    """Raised by the next calls instead of an answer; None lets one pass."""
    unanswered: list[Exception] = field(default_factory=list[Exception])
    """Raised by the next firings after they were done."""
    taken_ids: int = 0
    """So many of the next firings find their ids taken."""
    refused: set[str] = field(default_factory=set[str])
    """Calls that fire one of these are refused as a whole."""
    aside_fails: Exception | None = None
    """Raised when a scheduler is to be set aside."""
    put_off: int = 0
    """So many of the next firings are put off: the call holds too much."""
    on_fire: Callable[[], Awaitable[None]] | None = None
    """Awaited before a firing is done."""
    repeat_ms: Callable[[], int | None] = lambda: None
    """When the first registration of the base wire is due."""

    # --- what a test does ---------------------------------------------------------------

    def add(self, spec: SchedulerSpec, *, tz: str = "", next_ms: int | None = None) -> None:
        """Put a scheduler, and nudge the watcher."""
        now_ms = self.clock.now_ms()
        instant = first_next(spec, now_ms=now_ms, last_ms=None) if next_ms is None else next_ms
        wake = None if instant is None else wake_ms(spec, instant)
        self.stored[spec.name] = Stored(spec, instant, wake, tz)
        self.nudge()

    def head_ms(self) -> int | None:
        return min((one.wake_ms for one in self.stored.values() if one.wake_ms), default=None)

    def kinds(self) -> list[str]:
        return [kind for _, kind in self.calls]

    # --- what a worker asks -------------------------------------------------------------

    async def put(self, spec: SchedulerSpec, *, force: bool, source: str, tz: str) -> PutVerdict:
        assert not force
        assert source == "code"
        self._answer("put")
        found = self.stored.get(spec.name)
        if found is not None and found.spec == spec:
            return PutVerdict.UNCHANGED
        if found is not None and found.revision > spec.revision:
            return PutVerdict.OLDER
        self.add(spec, tz=tz)
        self.stored[spec.name].revision = spec.revision
        return PutVerdict.CREATED if found is None else PutVerdict.RETIMED

    async def due(self, limit: int, *, offset: int = 0) -> Due:
        self._answer("due")
        now_ms = self.clock.now_ms()
        waiting = [(one.wake_ms, name) for name, one in self.stored.items() if one.wake_ms]
        due = sorted((wake, name) for wake, name in waiting if wake <= now_ms)
        found = tuple(self._due(name, wake) for wake, name in due[offset : offset + limit])
        later_ms = min((at for at, _ in waiting if at > now_ms), default=None)
        return Due(now_ms, later_ms, found, self.repeat_ms())

    async def fire(self, firings: Sequence[Firing]) -> list[Fired]:
        if self.on_fire is not None:
            await self.on_fire()
        self._answer("fire")
        if self.refused & {firing.name for firing in firings}:
            msg = "firing is not as expected"
            raise InvalidArgumentError(msg)
        fired = [self._fire(firing) for firing in firings]
        if self.unanswered:
            raise self.unanswered.pop(0)
        return fired

    async def set_aside(self, name: str, reason: str) -> bool:
        self._answer("set_aside")
        if self.aside_fails is not None:
            raise self.aside_fails
        self.aside[name] = reason
        return self.stored.pop(name, None) is not None

    async def now_ms(self) -> int:
        return self.clock.now_ms()

    async def list(self, limit: int, offset: int = 0) -> "Sequence[SchedulerView]":
        self._answer("list")
        return [
            SchedulerView(
                name=name,
                state=SchedulerState.WAITING,
                spec=one.spec,
                next_ms=one.next_ms,
                wake_ms=one.wake_ms,
                last_ms=one.last_ms,
                since_ms=one.since_ms,
                tz=one.tz,
            )
            for name, one in list(self.stored.items())[offset : offset + limit]
        ]

    async def retime(
        self,
        name: str,
        *,
        expected_ms: int | None,
        digest: str,
        next_ms: int | None,
        wake_ms: int | None,
        tz: str,
    ) -> bool:
        self._answer("retime")
        one = self.stored[name]
        assert (one.next_ms, digest) == (expected_ms, "")
        self.stored[name] = replace(one, next_ms=next_ms, wake_ms=wake_ms, tz=tz)
        return True

    # --- how it does it -----------------------------------------------------------------

    def _answer(self, kind: str) -> None:
        if self.failing and (error := self.failing.pop(0)) is not None:
            raise error
        self.calls.append((self.clock.ms, kind))

    def _due(self, name: str, wake: int) -> DueScheduler:
        one = self.stored[name]
        return DueScheduler(
            name=name,
            spec=one.spec,
            problem=one.problem,
            is_corrupt=one.is_corrupt,
            next_ms=one.next_ms,
            wake_ms=wake,
            tz=one.tz,
            count=one.count,
            held_ms=one.held_ms,
            last_ms=one.last_ms,
            since_ms=one.since_ms,
        )

    def _fire(self, firing: Firing) -> Fired:
        one = self.stored.get(firing.name)
        if one is None or one.next_ms != firing.expected_ms:
            return Fired(firing.name, Whole.TAKEN)
        if self.put_off:
            self.put_off -= 1
            return Fired(firing.name, Whole.LATER)
        if self.taken_ids:
            self.taken_ids -= 1
            return Fired(firing.name, Whole.ID_TAKEN)
        one.next_ms, one.wake_ms, one.tz = firing.next_ms, firing.wake_ms, firing.tz
        for job_id, instant in firing.occurrences:
            one.last_ms, one.count = instant, one.count + 1
            self.made.append((firing.name, instant, self.clock.ms))
            self.enqueue(self.new_job(id=job_id, scheduler=firing.name, instant_ms=instant))
        fired = (OccurrenceVerdict.FIRED,) * len(firing.occurrences)
        return Fired(firing.name, Whole.OK, fired)


@dataclass
class FakeRepeats:
    """What peers have registered, in memory: when each is due, and its interval."""

    clock: FakeClock
    enqueue: Callable[[Held], None]
    new_job: Callable[..., Held]
    due: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    calls: int = 0
    fired: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])

    def head_ms(self) -> int | None:
        return min((at for at, _ in self.due.values()), default=None)

    async def fire(self, ids: Sequence[JobId]) -> RepeatsFired:
        self.calls += 1
        now_ms, spare = self.clock.now_ms(), list(ids)
        made: list[tuple[str, JobId]] = []
        for name, (at_ms, every_ms) in self.due.items():
            if at_ms > now_ms or not spare:
                continue
            self.due[name] = (at_ms + ((now_ms - at_ms) // every_ms + 1) * every_ms, every_ms)
            made.append((name, spare.pop()))
            self.fired.append((name, self.clock.ms))
            self.enqueue(self.new_job(name=None, id=made[-1][1]))
        return RepeatsFired(now_ms=now_ms, next_ms=self.head_ms(), fired=tuple(made))


def next_fire_ms(schedulers: FakeSchedulers, repeats: FakeRepeats) -> int | None:
    """What a claim or a beat says about when the next one fires."""
    return min(filter(None, (schedulers.head_ms(), repeats.head_ms())), default=None)


@dataclass(frozen=True)
class FakeFleet:
    """The other workers: their time zone data."""

    workers: dict[str, str]

    async def zone_data(self, queue: str) -> dict[str, str]:
        assert queue
        return self.workers
