"""One job in memory, as its row on a server would tell it."""

from dataclasses import dataclass, field

from echomq_worker.domain.job import After, At, Held, JobId, NewJob, State
from echomq_worker.domain.views import JobView

OVER = "!"
"""Ends the claim id of a claim that has been settled."""


@dataclass(slots=True, kw_only=True)
class Row:
    """What is remembered about a job until it has completed."""

    id: JobId
    payload: bytes
    name: str | None = None
    max_attempts: int | None = None
    keep_result_ms: int | None = None
    state: State = State.PENDING
    token: int = 0
    claim: str = ""
    returned: int = 0
    crashes: int = 0
    last_error: str | None = None
    failures: bytes | None = None
    unknown_since_ms: int | None = None
    died_ms: int | None = None
    timeout_ms: int | None = None
    backoff: str | None = None
    expires_ms: int | None = None
    expires_in_ms: int | None = None
    """How long after it is due it expires, if its producer has said it so."""
    scheduler: str | None = None
    """The scheduler that has made it, and for which planned instant (Unix ms)."""
    instant_ms: int | None = None
    priority: int = 0
    arrival: int | None = None
    """Its number among those with a priority; it keeps its place. 0 in a queue in mint order."""
    group: str | None = None
    lane: str | None = None
    gate: str | None = None
    """The gate that keeps it back."""
    progress: str | None = None
    lines: list[str] = field(default_factory=list[str])

    @classmethod
    def of(cls, job: NewJob) -> "Row":
        """Make the row of a job that is admitted."""
        return cls(
            id=job.id,
            payload=job.payload,
            name=job.name,
            max_attempts=job.max_attempts,
            keep_result_ms=job.keep_result_ms,
            timeout_ms=job.timeout_ms,
            backoff=job.backoff,
            expires_ms=job.expires.unix_ms if isinstance(job.expires, At) else None,
            expires_in_ms=job.expires.delay_ms if isinstance(job.expires, After) else None,
            priority=job.priority or 0,
            group=job.group,
            lane=job.lane,
        )

    @property
    def rank(self) -> tuple[int, int, JobId]:
        """What waiting jobs are claimed by: priority, then arrival, or mint order without one."""
        return self.priority, (self.arrival or 0) if self.priority else 0, self.id

    def is_due(self, due_ms: int) -> None:
        """Let it expire, if that counts from when it is due, by this instant (Unix ms)."""
        if self.expires_in_ms is not None:
            self.expires_ms = due_ms + self.expires_in_ms

    def expires_no_more(self) -> None:
        """Let it run however late: it has been started in time."""
        self.expires_ms = self.expires_in_ms = None

    def held(self, queue: str) -> Held:
        """Return the job as its claim gets it."""
        return Held(
            queue=queue,
            id=self.id,
            payload=self.payload,
            token=self.token,
            claim=self.claim,
            name=self.name,
            max_attempts=self.max_attempts,
            returned=self.returned,
            crashes=self.crashes,
            failures=self.failures,
            unknown_since_ms=self.unknown_since_ms,
            keep_result_ms=self.keep_result_ms,
            timeout_ms=self.timeout_ms,
            backoff=self.backoff,
            expires_ms=self.expires_ms,
            scheduler=self.scheduler,
            instant_ms=self.instant_ms,
            priority=self.priority,
            group=self.group,
            lane=self.lane,
        )

    def view(self, queue: str, *, due_ms: int | None, lease_ms: int | None) -> JobView:
        """Return the job as whoever inspects it sees it."""
        return JobView(
            queue=queue,
            id=self.id,
            state=self.state,
            payload=self.payload,
            name=self.name,
            token=self.token,
            returned=self.returned,
            max_attempts=self.max_attempts,
            last_error=self.last_error,
            failures=self.failures,
            due_ms=due_ms,
            lease_ms=lease_ms,
            died_ms=self.died_ms,
            expires_ms=self.expires_ms,
            scheduler=self.scheduler,
            instant_ms=self.instant_ms,
            priority=self.priority,
            group=self.group,
            lane=self.lane,
            gate=self.gate,
        )
