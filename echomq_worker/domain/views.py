"""What is told about queues and jobs: plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from echomq_worker.domain.job import JobId, State


@dataclass(frozen=True, slots=True)
class Counts:
    """How many jobs of a queue are where."""

    pending: int
    """Those that wait to be claimed, with a priority or without one; lanes have theirs apart."""
    active: int
    scheduled: int
    dead: int
    completed: int
    """How many have ever completed."""
    failed: int
    """How many have ever died."""
    paused: bool
    workers: int
    set_aside: int = 0
    """How many malformed rows and members the quarantine tells of."""
    prioritized: int = 0
    """How many of the pending have a priority."""
    lanes: int = 0
    """How many lanes have work and may be served."""
    kept_back: int = 0
    """How many jobs wait aside for a limit, a pause or the holder of their key."""

    @property
    def is_ready(self) -> bool:
        """Whether there is something to claim."""
        return self.pending > 0 or self.lanes > 0


@dataclass(frozen=True, slots=True)
class PauseNote:
    """Since when a queue is paused, why and by whom; what is not known is None."""

    since_ms: int | None
    """Unix ms by the server's clock."""
    reason: str | None
    by: str | None


@dataclass(frozen=True, slots=True)
class Promoted:
    """What one promotion did, by the server's clock."""

    moved: int
    next_due_ms: int | None
    now_ms: int
    watching: bool = False


@dataclass(frozen=True, slots=True)
class JobView:
    """One job as it stands in the queue."""

    queue: str
    id: JobId
    state: State
    payload: bytes = b""
    name: str | None = None
    token: int = 0
    returned: int = 0
    max_attempts: int | None = None
    last_error: str | None = None
    failures: bytes | None = None
    """The history of failed attempts: a JSON list, newest last."""
    due_ms: int | None = None
    """When it may run, if it is scheduled (Unix ms)."""
    lease_ms: int | None = None
    """When its lease ends, if it is active (Unix ms)."""
    died_ms: int | None = None
    """When it died (Unix ms); None when another runtime's worker buried it."""
    group: str | None = None
    """The lane that it waits in, as a group of the wire."""
    lane: str | None = None
    """The name that its lane was made from."""
    priority: int = 0
    """Its rank among those that wait: lower runs first."""
    gate: str | None = None
    """The gate that keeps it back."""
    expires_ms: int | None = None
    """When it is no longer to be started (Unix ms)."""
    scheduler: str | None = None
    """The scheduler that has made it."""
    instant_ms: int | None = None
    """The instant of the scheduler's occurrence that it is for (Unix ms)."""
    fields: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """The whole row."""

    @property
    def attempts(self) -> int:
        """How many attempts have been counted."""
        return max(0, self.token - self.returned)


@dataclass(frozen=True, slots=True)
class KeptResult:
    """The result of a finished job, kept for a while."""

    outcome: str
    result: bytes
    finished_ms: int


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One lifecycle event of a job."""

    position: str
    """Where it stands in the log: what to read on from."""
    event: str
    """What happened, as the scripts call it: `enqueued`, `scheduled`, `promoted`, `claimed`..."""
    id: JobId
    token: int
    """The job's `attempts` at that moment."""

    @property
    def at_ms(self) -> int:
        """When it happened, in Unix ms by the server's clock."""
        return int(self.position.partition("-")[0])


class Requeued(StrEnum):
    """What became of a request to bring a dead job back."""

    OK = "ok"
    GONE = "gone"
    NOT_DEAD = "not_dead"


class Moved(StrEnum):
    """What became of a request to let a job that waits for its time run earlier or later."""

    OK = "ok"
    GONE = "gone"
    NOT_SCHEDULED = "not_scheduled"
    """It waits for no time: it may be claimed already, is held, or has died."""


class Reprioritized(StrEnum):
    """What became of a request to give a job another priority."""

    OK = "ok"
    GONE = "gone"
    NOT_WAITING = "not_waiting"
    """It does not wait to be claimed now; it has the priority when it waits the next time."""
    LANE = "lane"
    """It belongs to a lane, and has no priority. Nothing was changed."""


class Order(StrEnum):
    """What decides among waiting jobs of the same priority."""

    ARRIVAL = "arrival"
    """Who came to wait first."""
    MINT = "mint"
    """Whose id was minted first."""


class Removed(StrEnum):
    """What became of a request to remove a job."""

    OK = "ok"
    GONE = "gone"
    ELSEWHERE = "elsewhere"
    """It exists, but not in one of the places named."""
    ACTIVE = "active"
    LOCKED = "locked"


class Places(StrEnum):
    """From where a job may be removed."""

    WAITING = "waiting"
    DEAD = "dead"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What the server says about itself."""

    name: str
    """`valkey` or `redis`."""
    version: str
    location: str
    """Where it is, without secrets."""
    memory_policy: str | None
    """`maxmemory-policy`; None when the server does not tell."""
    clock_offset_ms: int
    """Server clock minus ours."""

    @property
    def evicts(self) -> bool:
        """True if the server may drop keys when memory is short."""
        return self.memory_policy not in {None, "noeviction"}


@dataclass(frozen=True, slots=True)
class JobNotes:
    """What a job has told while it ran.

    Args:
        progress: how far it has come; None if it has told nothing.
        lines: the newest lines of its log, the oldest first.
    """

    progress: str | None
    lines: tuple[str, ...]
