"""The schedulers of a queue in memory, and the moves that a server's scripts make."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from echomq_worker.domain.job import Admission, After, JobId, NewJob
from echomq_worker.domain.lanes import lane_group
from echomq_worker.domain.scheduling.overlap import Overlap
from echomq_worker.domain.scheduling.plan import ENDED_BY_LIMIT, first_next, wake_ms
from echomq_worker.domain.scheduling.records import (
    RUNS,
    Due,
    DueScheduler,
    Fired,
    Firing,
    OccurrenceVerdict,
    PutVerdict,
    RunNote,
    RunOutcome,
    SchedulerState,
    SchedulerView,
    Whole,
)
from echomq_worker.domain.scheduling.spec import SchedulerSpec
from echomq_worker.domain.views import PauseNote
from echomq_worker.protocol.scheduler_rows import digests
from echomq_worker.testing.places import MemoryQueue
from echomq_worker.testing.rows import Row


@dataclass(slots=True, kw_only=True)
class Scheduler:
    """One scheduler in memory, as its hash on a server would tell it."""

    spec: SchedulerSpec
    created_ms: int
    changed_ms: int = 0
    source: str = ""
    tz: str = ""
    digest: str = ""
    rule_digest: str = ""
    old: list[str] = field(default_factory=list[str])
    """The digests that were replaced under this revision."""
    next_ms: int | None = None
    wakes_ms: int | None = None
    """When to look at it; None while it rests."""
    last_ms: int | None = None
    count: int = 0
    missed: int = 0
    skipped: int = 0
    paused: PauseNote | None = None
    ended: str = ""
    held_ms: int | None = None
    runs: dict[JobId, RunNote] = field(default_factory=dict[JobId, RunNote])
    live: set[JobId] = field(default_factory=set[JobId])
    """Jobs of it that have not ended."""

    def aim(self, next_ms: int | None, ended: str = "end") -> None:
        """Let the next occurrence be at an instant; None ends it."""
        self.next_ms, self.ended = next_ms, "" if next_ms is not None else ended
        self.wakes_ms = None
        if next_ms is not None and self.paused is None:
            self.wakes_ms = wake_ms(self.spec, next_ms)

    def raise_revision(self, revision: int) -> None:
        """Remember that a newer version of the code declares the same."""
        self.spec = replace(self.spec, revision=max(revision, self.spec.revision))

    def view(self) -> SchedulerView:
        """Return it as whoever looks at it sees it."""
        state = SchedulerState.WAITING
        if self.paused is not None:
            state = SchedulerState.PAUSED
        elif self.ended and self.held_ms is None:
            state = SchedulerState.ENDED
        return SchedulerView(
            name=self.spec.name,
            state=state,
            spec=self.spec,
            next_ms=self.next_ms,
            wake_ms=self.wakes_ms,
            last_ms=self.last_ms,
            count=self.count,
            missed=self.missed,
            skipped=self.skipped,
            paused=self.paused,
            ended=self.ended,
            held_ms=self.held_ms,
            revision=self.spec.revision,
            source=self.source,
            tz=self.tz,
            digest=self.digest,
            created_ms=self.created_ms,
            changed_ms=self.changed_ms,
            runs=tuple(self.runs.values()),
        )


class Timetable:
    """The schedulers of one queue. Every method is one indivisible step, as a script is.

    Args:
        memory: the queue that their jobs go to.
        made: told of every job that is made.
    """

    def __init__(self, memory: MemoryQueue, made: Callable[[NewJob], None]) -> None:
        self.schedulers: dict[str, Scheduler] = {}
        self._memory = memory
        self._made = made
        memory.on_end, memory.on_unknown = self._ended, self._unknown

    def put(self, spec: SchedulerSpec, *, force: bool, source: str, tz: str) -> PutVerdict:
        """Create or replace a scheduler, unless a newer declaration is there."""
        now_ms, (digest, rule_digest) = self._memory.now(), digests(spec)
        there = self.schedulers.get(spec.name)
        verdict = PutVerdict.CREATED if there is None else _verdict(there, spec, force=force)
        if verdict in {PutVerdict.OLDER, PutVerdict.SUPERSEDED}:
            return verdict
        scheduler = there or Scheduler(spec=spec, created_ms=now_ms)
        self.schedulers[spec.name] = scheduler
        if spec.revision > scheduler.spec.revision:
            scheduler.old.clear()
        if verdict is PutVerdict.UNCHANGED:
            scheduler.raise_revision(spec.revision)
            return verdict
        scheduler.old = [old for old in (*scheduler.old, scheduler.digest) if old != digest]
        scheduler.spec, scheduler.digest, scheduler.rule_digest = spec, digest, rule_digest
        scheduler.source, scheduler.changed_ms = source, now_ms
        if verdict is not PutVerdict.CHANGED:
            scheduler.tz = tz
            scheduler.aim(first_next(spec, now_ms=now_ms, last_ms=scheduler.last_ms))
        return verdict

    def in_order(self) -> list[Scheduler]:
        """Return all, those that fire first at the front."""
        return sorted(
            self.schedulers.values(),
            key=lambda each: (each.wakes_ms is None, each.wakes_ms or 0, each.spec.name),
        )

    def due(self, limit: int, *, offset: int = 0) -> Due:
        """Return the schedulers whose time has come."""
        now_ms, waking = self._memory.now(), [each for each in self.in_order() if each.wakes_ms]
        due = [each for each in waking if (each.wakes_ms or 0) <= now_ms]
        later = [each.wakes_ms for each in waking if (each.wakes_ms or 0) > now_ms]
        found = tuple(map(_due, due[offset : offset + limit]))
        return Due(now_ms, later[0] if later else None, found)

    def fire(self, firing: Firing) -> Fired:
        """Make the jobs of occurrences, each at most once."""
        scheduler = self.schedulers.get(firing.name)
        if scheduler is None or scheduler.paused is not None:
            return Fired(firing.name, Whole.TAKEN)
        if (scheduler.next_ms, scheduler.digest) != (firing.expected_ms, firing.digest):
            return Fired(firing.name, Whole.TAKEN)
        if any(job_id in self._memory.rows for job_id, _ in firing.occurrences):
            return Fired(firing.name, Whole.ID_TAKEN)
        verdicts = tuple(self._fire(scheduler, *each) for each in firing.occurrences)
        scheduler.next_ms, scheduler.wakes_ms = firing.next_ms, firing.wake_ms
        scheduler.tz, scheduler.ended = firing.tz, firing.ended
        scheduler.missed += firing.missed
        if firing.ended == ENDED_BY_LIMIT and scheduler.held_ms is not None:
            scheduler.held_ms, scheduler.skipped = None, scheduler.skipped + 1
        return Fired(firing.name, Whole.OK, verdicts)

    def trigger(self, name: str, job_id: JobId) -> Admission | None:
        """Make a job of a scheduler now; its occurrences stay as they are."""
        if (scheduler := self.schedulers.get(name)) is None:
            return None
        if job_id in self._memory.rows:
            return Admission.DUPLICATE
        self.make(scheduler, job_id, self._memory.now(), RunOutcome.TRIGGERED)
        return Admission.ENQUEUED

    def make(self, scheduler: Scheduler, job_id: JobId, instant_ms: int, outcome: str) -> None:
        """Make a job of a scheduler, of an id that is free."""
        template, now_ms = scheduler.spec.template, self._memory.now()
        job = NewJob(
            id=job_id,
            payload=template.payload,
            name=template.name,
            max_attempts=template.max_attempts,
            keep_result_ms=template.keep_result_ms,
            timeout_ms=template.timeout_ms,
            backoff=template.backoff,
            priority=template.priority,
            lane=template.lane,
            group=None if template.lane is None else lane_group(template.lane),
            expires=None if template.ttl_ms is None else After(template.ttl_ms),
        )
        self._memory.admit(job)
        row = self._memory.rows[job_id]
        row.scheduler, row.instant_ms = scheduler.spec.name, instant_ms
        scheduler.live.add(job_id)
        scheduler.runs[job_id] = RunNote(instant_ms, job_id, outcome, now_ms)
        for oldest in list(scheduler.runs)[:-RUNS]:
            del scheduler.runs[oldest]
        self._made(job)

    def _fire(self, scheduler: Scheduler, job_id: JobId, instant_ms: int) -> OccurrenceVerdict:
        if scheduler.spec.limit is not None and scheduler.count >= scheduler.spec.limit:
            return OccurrenceVerdict.DONE
        if instant_ms == scheduler.held_ms:
            scheduler.held_ms = None
        elif scheduler.last_ms is not None and instant_ms <= scheduler.last_ms:
            return OccurrenceVerdict.DONE
        scheduler.last_ms = max(instant_ms, scheduler.last_ms or 0)
        if scheduler.live and scheduler.spec.overlap is Overlap.QUEUE_ONE:
            scheduler.skipped += scheduler.held_ms is not None
            scheduler.held_ms = instant_ms
            return OccurrenceVerdict.HELD
        if scheduler.live and scheduler.spec.overlap is Overlap.SKIP:
            scheduler.skipped += 1
            return OccurrenceVerdict.SKIPPED
        scheduler.count += 1
        self.make(scheduler, job_id, instant_ms, RunOutcome.FIRED)
        return OccurrenceVerdict.FIRED

    def _ended(self, row: Row, outcome: RunOutcome) -> None:
        scheduler = self.schedulers.get(row.scheduler or "")
        if scheduler is None:
            return
        now_ms = self._memory.now()
        scheduler.live.discard(row.id)
        if (note := scheduler.runs.get(row.id)) is not None:
            scheduler.runs[row.id] = RunNote(note.instant_ms, row.id, outcome, now_ms)
        if scheduler.held_ms is not None and scheduler.paused is None:
            scheduler.wakes_ms = now_ms

    def _unknown(self, row: Row, reason: str) -> None:
        scheduler = self.schedulers.get(row.scheduler or "")
        if scheduler is None or scheduler.paused is not None:
            return
        if scheduler.spec.template.name == row.name:
            scheduler.paused = PauseNote(self._memory.now(), reason, "worker")
            scheduler.wakes_ms = None


def _verdict(scheduler: Scheduler, spec: SchedulerSpec, *, force: bool) -> PutVerdict:
    digest, rule_digest = digests(spec)
    revision = scheduler.spec.revision
    if digest == scheduler.digest:
        return PutVerdict.UNCHANGED
    if spec.revision < revision:
        return PutVerdict.OLDER
    if spec.revision == revision and not force and digest in scheduler.old:
        return PutVerdict.SUPERSEDED
    return PutVerdict.CHANGED if rule_digest == scheduler.rule_digest else PutVerdict.RETIMED


def _due(scheduler: Scheduler) -> DueScheduler:
    return DueScheduler(
        name=scheduler.spec.name,
        spec=scheduler.spec,
        next_ms=scheduler.next_ms,
        wake_ms=scheduler.wakes_ms or 0,
        digest=scheduler.digest,
        tz=scheduler.tz,
        count=scheduler.count,
        held_ms=scheduler.held_ms,
    )
