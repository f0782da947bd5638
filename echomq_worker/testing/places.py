"""A queue in memory: where its jobs are, and the moves that a server's scripts make."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from echomq_worker.domain.job import Admission, After, Due, Held, JobId, NewJob, State
from echomq_worker.domain.outcome import Verdict
from echomq_worker.domain.replies import Reaped
from echomq_worker.domain.scheduling.records import RunOutcome
from echomq_worker.domain.views import (
    Counts,
    JobView,
    KeptResult,
    Moved,
    Order,
    Places,
    Removed,
    Reprioritized,
    Requeued,
)
from echomq_worker.testing.clock import Now
from echomq_worker.testing.rows import OVER, Row
from echomq_worker.testing.turns import Turns


@dataclass(slots=True)
class MemoryQueue:
    """The rows of one queue, and the sorted sets, here dicts and sets, that say where each is.

    Every method is one indivisible step, as a script is on a server.
    """

    name: str
    now: Now
    rows: dict[JobId, Row] = field(default_factory=dict[JobId, Row])
    pending: set[JobId] = field(default_factory=set[JobId])
    schedule: dict[JobId, int] = field(default_factory=dict[JobId, int])
    """When each job is due, in Unix ms."""
    active: dict[JobId, int] = field(default_factory=dict[JobId, int])
    """When each lease ends, in Unix ms."""
    dead: set[JobId] = field(default_factory=set[JobId])
    results: dict[JobId, tuple[KeptResult, int]] = field(
        default_factory=dict[JobId, tuple[KeptResult, int]]
    )
    """Each kept result, and until when it is kept, in Unix ms."""
    order: Order = Order.ARRIVAL
    arrivals: int = 0
    """How many jobs with a priority have come to wait."""
    turns: Turns = field(default_factory=Turns)
    completed: int = 0
    failed: int = 0
    paused: bool = False
    workers: dict[str, int] = field(default_factory=dict[str, int])
    """Until when each worker counts as present, in Unix ms."""
    on_end: Callable[[Row, RunOutcome], None] = lambda _row, _outcome: None
    """Told of every job that has completed, died or was removed, while its row is there."""
    on_free: Callable[[Row, RunOutcome], None] = lambda _row, _outcome: None
    """Told of the same, afterwards."""
    on_back: Callable[[Row], None] = lambda _row: None
    """Told of a dead job that waits again."""
    on_unknown: Callable[[Row, str], None] = lambda _row, _reason: None
    """Told of a job that has died because no worker knows its handler."""

    # --- producers -----------------------------------------------------------------------

    def admit(self, job: NewJob) -> Admission:
        """Take a job in, unless there is one of its id."""
        if job.id in self.rows:
            return Admission.DUPLICATE
        row = self.rows[job.id] = Row.of(job)
        if job.due is None:
            row.is_due(self.now())
            self.wait(row)
            return Admission.ENQUEUED
        self._put_off(row, job.due)
        return Admission.SCHEDULED

    def inspect(self, job_id: JobId) -> JobView | None:
        """Return a job as it stands."""
        if (row := self.rows.get(job_id)) is None:
            return None
        return row.view(
            self.name, due_ms=self.schedule.get(job_id), lease_ms=self.active.get(job_id)
        )

    def result(self, job_id: JobId) -> KeptResult | None:
        """Return a result that is still kept."""
        kept, until_ms = self.results.get(job_id, (None, 0))
        return kept if self.now() < until_ms else None

    # --- workers -------------------------------------------------------------------------

    def due(self, limit: int) -> list[JobId]:
        """Return at most `limit` jobs whose time has come, the earliest first."""
        now_ms = self.now()
        scheduled = sorted((due_ms, job_id) for job_id, due_ms in self.schedule.items())
        return [job_id for due_ms, job_id in scheduled[:limit] if due_ms <= now_ms]

    def promote(self, due: Iterable[JobId]) -> None:
        """Let jobs that are due be claimed."""
        for job_id in due:
            del self.schedule[job_id]
            self.wait(self.rows[job_id])

    def claim(self, limit: int, lease_ms: int, claim: str) -> list[Held]:
        """Lease the jobs that are next, at most `limit`. A paused queue hands out nothing."""
        if self.paused:
            return []
        jobs: list[Held] = []
        waiting = [self.rows[job_id] for job_id in self.pending]
        for row in self.turns.next(waiting, limit):
            self.pending.remove(row.id)
            row.state, row.claim = State.ACTIVE, claim
            row.token += 1
            self.active[row.id] = self.now() + lease_ms
            jobs.append(row.held(self.name))
        return jobs

    def extend(self, held: Held, lease_ms: int) -> Verdict:
        """Push back the end of a lease that is still the caller's."""
        if (row := self.rows.get(held.id)) is None:
            return Verdict.GONE
        if held.id not in self.active or (row.token, row.claim) != (held.token, held.claim):
            return Verdict.STALE
        self.active[held.id] = self.now() + lease_ms
        return Verdict.OK

    def reap(self, limit: int, crash_limit: int, max_attempts: int) -> Reaped:
        """Take back at most `limit` jobs whose lease has run out; bury those over a limit."""
        recovered: list[JobId] = []
        buried: list[JobId] = []
        ends = sorted((end_ms, job_id) for job_id, end_ms in self.active.items())
        for end_ms, job_id in ends[:limit]:
            if end_ms > self.now():
                break
            del self.active[job_id]
            row = self.rows[job_id]
            row.crashes += 1
            if reason := _lost_too_often(row, crash_limit, max_attempts):
                self.bury(row, reason)
                buried.append(job_id)
            else:
                self.wait(row)
                recovered.append(job_id)
        return Reaped(tuple(recovered), tuple(buried))

    # --- operators -----------------------------------------------------------------------

    def reschedule(self, job_id: JobId, due: Due) -> Moved:
        """Let a job that waits for its time be due at another."""
        if moved := self._not_scheduled(job_id):
            return moved
        self._put_off(self.rows[job_id], due)
        return Moved.OK

    def promote_now(self, job_id: JobId) -> Moved:
        """Let a job that waits for its time be claimed now."""
        if moved := self._not_scheduled(job_id):
            return moved
        self.rows[job_id].is_due(self.now())
        self.promote([job_id])
        return Moved.OK

    def reprioritize(self, job_id: JobId, priority: int) -> Reprioritized:
        """Give a job another priority; one that waits has its place by it at once."""
        if (row := self.rows.get(job_id)) is None:
            return Reprioritized.GONE
        if row.group is not None:
            return Reprioritized.LANE
        row.priority = priority
        if job_id not in self.pending:
            return Reprioritized.NOT_WAITING
        self.wait(row)
        return Reprioritized.OK

    def put_order(self, order: Order) -> None:
        """Say what decides among jobs of one priority, also among those that wait."""
        self.order = order
        for job_id in self.pending:
            self.wait(self.rows[job_id])

    def requeue(self, job_id: JobId) -> Requeued:
        """Bring a dead job back, with all its attempts before it again."""
        if (row := self.rows.get(job_id)) is None:
            return Requeued.GONE
        if job_id not in self.dead:
            return Requeued.NOT_DEAD
        self.dead.remove(job_id)
        row.last_error, row.crashes, row.unknown_since_ms, row.died_ms = None, 0, None, None
        row.returned = row.token
        if not row.claim.endswith(OVER):
            row.claim = OVER  # its lease was lost: a settlement that comes late counts no more
        row.expires_no_more()
        self.wait(row)
        self.on_back(row)
        return Requeued.OK

    def remove(self, job_id: JobId, places: Places) -> Removed:
        """Forget a job that nobody holds."""
        if job_id not in self.rows:
            return Removed.GONE
        if job_id in self.active:
            return Removed.ACTIVE
        if places is (Places.WAITING if job_id in self.dead else Places.DEAD):
            return Removed.ELSEWHERE
        self.ended(self.rows[job_id], RunOutcome.REMOVED)
        self.forget(job_id)
        return Removed.OK

    def counts(self) -> Counts:
        """Count the jobs in each place."""
        return Counts(
            pending=sum(self.rows[job_id].group is None for job_id in self.pending),
            active=len(self.active),
            scheduled=len(self.schedule),
            dead=len(self.dead),
            completed=self.completed,
            failed=self.failed,
            paused=self.paused,
            prioritized=sum(self.rows[job_id].priority != 0 for job_id in self.pending),
            lanes=len({self.rows[job_id].group for job_id in self.pending} - {None}),
            kept_back=sum(row.gate is not None for row in self.rows.values()),
            workers=sum(until_ms > self.now() for until_ms in self.workers.values()),
        )

    def flat(self) -> list[JobId]:
        """Return the waiting jobs that have neither a priority nor a lane."""
        rows = (self.rows[job_id] for job_id in self.pending)
        return [row.id for row in rows if not row.priority and row.group is None]

    def has_work(self) -> bool:
        """Return whether a claim would hand out a job now."""
        return not self.paused and bool(self.pending or self.due(1))

    def the_dead(self, limit: int, offset: int) -> list[JobView]:
        """Return dead jobs, the newest minted first."""
        ids = sorted(self.dead, reverse=True)[offset : offset + limit]
        return [self.rows[job_id].view(self.name, due_ms=None, lease_ms=None) for job_id in ids]

    # --- where a job may go ----------------------------------------------------------------

    def wait(self, row: Row) -> None:
        """Let a job be claimed."""
        row.state = State.PENDING
        self.pending.add(row.id)
        by_mint = self.order is Order.MINT
        if row.priority and (row.arrival is None or (by_mint and row.arrival)):
            self.arrivals += not by_mint
            row.arrival = 0 if by_mint else self.arrivals

    def put_off(self, row: Row, due_ms: int) -> None:
        """Let a job be claimed from an instant on."""
        row.state = State.SCHEDULED
        self.schedule[row.id] = due_ms

    def _put_off(self, row: Row, due: Due) -> None:
        now_ms = self.now()
        due_ms = now_ms + due.delay_ms if isinstance(due, After) else due.unix_ms
        row.is_due(max(due_ms, now_ms))
        self.put_off(row, due_ms)

    def _not_scheduled(self, job_id: JobId) -> Moved | None:
        if job_id not in self.rows:
            return Moved.GONE
        return None if job_id in self.schedule else Moved.NOT_SCHEDULED

    def bury(self, row: Row, reason: str) -> None:
        """Move a job to the dead."""
        row.state, row.last_error, row.died_ms = State.DEAD, reason, self.now()
        self.dead.add(row.id)
        self.failed += 1
        self.ended(row, RunOutcome.DEAD)

    def ended(self, row: Row, outcome: RunOutcome) -> None:
        """Tell who wants to know that a job has ended."""
        self.on_end(row, outcome)
        self.on_free(row, outcome)

    def forget(self, job_id: JobId) -> None:
        """Leave nothing of a job but a kept result."""
        del self.rows[job_id]
        self.pending.discard(job_id)
        self.dead.discard(job_id)
        self.schedule.pop(job_id, None)
        self.active.pop(job_id, None)


def _lost_too_often(row: Row, crash_limit: int, max_attempts: int) -> str | None:
    if 0 < crash_limit <= row.crashes:
        return f"the lease was lost {row.crashes} times in a row"
    most = row.max_attempts or max_attempts
    counted = row.token - row.returned
    if 0 < most <= counted:
        return f"the lease was lost in attempt {counted} of {most}"
    return None
