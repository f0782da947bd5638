"""A server in memory, as a worker uses it, that a test can break."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from echomq_worker.domain.job import Claimed, Held, JobId
from echomq_worker.domain.outcome import (
    Buried,
    Completed,
    HandedBack,
    Outcome,
    Retried,
    Snoozed,
    Verdict,
)
from echomq_worker.domain.replies import Beat, Presence, Reaped, Settled
from tests.fakes import FakeClock
from tests.unit.worker_fake_notes import FakeGates, FakeNotes
from tests.unit.worker_schedules import FakeRepeats, FakeSchedulers, next_fire_ms


@dataclass
class Call:
    """One call that reached the server."""

    kind: str
    at_ms: int
    limit: int = 0
    promote: int = 0
    outcomes: list[tuple[JobId, Outcome]] = field(default_factory=list[tuple[JobId, Outcome]])


@dataclass
class FakeQueue:
    """One queue in memory, with its line, its bell and its faults."""

    clock: FakeClock
    name: str = "default"
    watching: bool = True
    watch_ms: int = 0
    paused: bool = False
    calls: list[Call] = field(default_factory=list[Call])
    pending: deque[Held] = field(default_factory=deque[Held])
    scheduled: list[tuple[int, Held]] = field(default_factory=list[tuple[int, Held]])
    active: dict[JobId, Held] = field(default_factory=dict[JobId, Held])
    dead: dict[JobId, Buried] = field(default_factory=dict[JobId, Buried])
    completed: dict[JobId, Completed] = field(default_factory=dict[JobId, Completed])
    reaped: Reaped = field(default_factory=Reaped)
    set_aside: int = 0
    hint_reads: list[tuple[bool, bool]] = field(default_factory=list[tuple[bool, bool]])
    presences: list[Presence] = field(default_factory=list[Presence])
    watch_renewals: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    left: list[str] = field(default_factory=list[str])
    failing: list[Exception] = field(default_factory=list[Exception])
    """Raised by the next calls instead of an answer, one each."""
    refusing: dict[JobId, Exception] = field(default_factory=dict[JobId, Exception])
    """Raised by each call that settles one of these jobs; nothing of such a call is done."""
    gate: asyncio.Event | None = None
    """If set, the server does its part, but answers only once this is set."""
    trouble: Callable[[Exception, int], Awaitable[None]] | None = None
    away: Exception | None = None
    """While set, the line repeats every call."""
    in_flight: int = 0
    _bell: asyncio.Event = field(default_factory=asyncio.Event)
    _ended: asyncio.Event = field(default_factory=asyncio.Event)
    _minted: int = 0

    def __post_init__(self) -> None:
        self.schedulers = FakeSchedulers(self.clock, self.pending.append, self.job, self.ring)
        self.repeats = FakeRepeats(self.clock, self.pending.append, self.job)
        self.schedulers.repeat_ms = self.repeats.head_ms
        self.operator, self.gates = FakeNotes(), FakeGates()

    # --- what a test does ---------------------------------------------------------------

    def add(self, name: str | None = "work", payload: bytes = b"{}", **fields: object) -> JobId:
        """Put a job into `pending` without a ring."""
        job = self.job(name, payload, **fields)
        self.pending.append(job)
        return job.id

    def enqueue(self, name: str | None = "work", payload: bytes = b"{}", **fields: object) -> JobId:
        """Put a job into `pending` and ring."""
        job_id = self.add(name, payload, **fields)
        self.ring()
        return job_id

    def schedule(self, delay_ms: int, name: str | None = "work", payload: bytes = b"{}") -> JobId:
        """Put a job into the schedule and nudge the watcher."""
        job = self.job(name, payload)
        self.scheduled.append((self.clock.now_ms() + delay_ms, job))
        self.ring()
        return job.id

    def job(self, name: str | None = "work", payload: bytes = b"{}", **fields: object) -> Held:
        self._minted += 1
        job_id = JobId(f"JOB0NsUH6L{self._minted:04d}")
        job = Held(self.name, job_id, payload, token=0, claim="", name=name)
        return replace(job, **fields)  # pyright: ignore[reportArgumentType]

    def ring(self) -> None:
        self._bell.set()

    def kinds(self) -> list[str]:
        return [call.kind for call in self.calls]

    def outcome_of(self, job_id: JobId) -> Outcome | None:
        """Return the last outcome that was written for a job."""
        found = [made for call in self.calls for id_, made in call.outcomes if id_ == job_id]
        return found[-1] if found else None

    # --- what a worker asks -------------------------------------------------------------

    def line(
        self,
        *,
        trouble: Callable[[Exception, int], Awaitable[None]],
        worker_id: str,
        watch_ms: int,
    ) -> "FakeQueue":
        assert worker_id
        assert watch_ms > 0
        self.watch_ms = watch_ms
        self.trouble = trouble
        return self

    async def claim(self, *, limit: int, lease_ms: int, promote: int) -> Claimed:
        assert lease_ms > 0
        return await self._answer(Call("claim", self.clock.ms, limit, promote))

    async def settle(
        self,
        settlements: Sequence[tuple[Held, Outcome]],
        *,
        limit: int,
        lease_ms: int,
        promote: int,
    ) -> Settled:
        assert lease_ms > 0
        call = Call("settle", self.clock.ms, limit, promote)
        call.outcomes = [(held.id, outcome) for held, outcome in settlements]
        for held, _ in settlements:
            if held.id in self.refusing:
                raise self.refusing[held.id]
        verdicts: list[Verdict] = []
        claimed = await self._answer(
            call, lambda: verdicts.extend(self._write(*each) for each in settlements)
        )
        return Settled(verdicts, replace(claimed, watching=False, next_fire_ms=None))

    async def beat(
        self,
        *,
        limit: int,
        lease_ms: int,
        promote: int,
        reap: int,
        crash_limit: int,
        max_attempts: int,
        worker: Presence | None,
    ) -> Beat:
        assert min(lease_ms, crash_limit, max_attempts) > 0
        assert reap >= 0
        if worker is not None:
            self.presences.append(worker)
        self.watch_renewals.append((self.clock.ms, self.watch_ms))
        claimed = await self._answer(Call("beat", self.clock.ms, limit, promote))
        reaped, self.reaped = self.reaped, Reaped()
        return Beat(claimed, reaped, self.watching)

    async def aclose(self) -> None:
        pass

    async def end_wait(self) -> bool:
        await asyncio.sleep(0)
        self._ended.set()
        return True

    async def wait_hint(self, *, bell: bool, clock: bool, timeout_ms: int) -> bool:
        assert bell or clock
        self.hint_reads.append((bell, clock))
        self._ended.clear()
        rung = asyncio.create_task(self._bell.wait())
        ended = asyncio.create_task(self._ended.wait())
        late = asyncio.create_task(self.clock.sleep_ms(timeout_ms))
        try:
            await asyncio.wait((rung, late, ended), return_when=asyncio.FIRST_COMPLETED)
        finally:
            ended.cancel()
            rung.cancel()
            late.cancel()
        told = self._bell.is_set()
        self._bell.clear()
        return told

    async def leave(self, worker_id: str) -> None:
        self.left.append(worker_id)

    # --- how it does it -----------------------------------------------------------------

    async def _answer(self, call: Call, write: Callable[[], None] = lambda: None) -> Claimed:
        assert self.in_flight == 0, "two calls at once on one line"
        self.in_flight = 1
        try:
            tries = 0
            while self.away is not None:
                tries += 1
                assert self.trouble is not None
                await self.trouble(self.away, tries)
            await asyncio.sleep(0)
            if self.failing:
                raise self.failing.pop(0)
            self.calls.append(call)
            write()
            claimed = self._claim(call)
            if self.gate is not None:
                await self.gate.wait()
            return claimed
        finally:
            self.in_flight = 0

    def _claim(self, call: Call) -> Claimed:
        now_ms = self.clock.now_ms()
        due = sorted((each for each in self.scheduled if each[0] <= now_ms), key=lambda e: e[0])
        for each in due[: call.promote]:
            self.scheduled.remove(each)
            self.pending.append(each[1])
        jobs: list[Held] = []
        while self.pending and len(jobs) < call.limit and not self.paused:
            job = self.pending.popleft()
            held = replace(job, token=job.token + 1, claim=f"c{len(self.calls)}")
            self.active[held.id] = held
            jobs.append(held)
        set_aside, self.set_aside = self.set_aside, 0
        return Claimed(
            now_ms=now_ms,
            next_due_ms=min((due_ms for due_ms, _ in self.scheduled), default=None),
            left=len(self.pending),
            jobs=jobs,
            paused=self.paused,
            set_aside=set_aside,
            watching=self.watching,
            next_fire_ms=next_fire_ms(self.schedulers, self.repeats),
        )

    def _write(self, held: Held, outcome: Outcome) -> Verdict:
        row = self.active.get(held.id)
        if row is None:
            return Verdict.GONE
        if (row.token, row.claim) != (held.token, held.claim):
            return Verdict.STALE
        del self.active[held.id]
        now_ms = self.clock.now_ms()
        match outcome:
            case Completed():
                self.completed[held.id] = outcome
            case Buried():
                self.dead[held.id] = outcome
            case Retried(delay_ms, _, failures, counted):
                row = replace(row, failures=failures, returned=row.returned + (not counted))
                self.scheduled.append((now_ms + delay_ms, row))
            case Snoozed(delay_ms, unknown):
                since_ms = (row.unknown_since_ms or now_ms) if unknown else None
                row = replace(row, returned=row.returned + 1, unknown_since_ms=since_ms)
                self.scheduled.append((now_ms + delay_ms, row))
            case HandedBack():
                self.pending.append(replace(row, returned=row.returned + 1))
        return Verdict.OK


@dataclass
class FakeExtender:
    """Extends leases in memory."""

    queues: Sequence[FakeQueue] = ()
    calls: list[tuple[str, list[JobId]]] = field(default_factory=list[tuple[str, list[JobId]]])
    failing: list[Exception] = field(default_factory=list[Exception])
    closed: bool = False
    opened: bool = False

    def open(self) -> None:
        self.opened = True

    def extend(self, queue: str, held: Sequence[Held], lease_ms: int) -> list[Verdict]:
        assert lease_ms > 0
        if self.failing:
            raise self.failing.pop(0)
        self.calls.append((queue, [job.id for job in held]))
        active = next(each.active for each in self.queues if each.name == queue)
        return [
            Verdict.OK
            if (row := active.get(job.id)) is not None and row.claim == job.claim
            else Verdict.STALE
            for job in held
        ]

    def close(self) -> None:
        self.closed = True
