"""What a job is: the part a producer sends, and the part a worker holds."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NewType

from echomq_worker.domain.unique import Unique

JobId = NewType("JobId", str)
"""A branded id: `JOB` and 11 base62 characters, whose byte order is the order of minting."""


class State(StrEnum):
    """Where a job is. The values are the wire's words."""

    PENDING = "pending"
    ACTIVE = "active"
    SCHEDULED = "scheduled"
    DEAD = "dead"
    AWAITING_CHILDREN = "awaiting_children"
    UNKNOWN = "unknown"
    ABSENT = "absent"


class Admission(StrEnum):
    """What became of an attempt to enqueue."""

    ENQUEUED = "enqueued"
    SCHEDULED = "scheduled"
    DUPLICATE = "duplicate"
    """There is a job of its id."""
    HELD = "held"
    """Another job holds its key: that one stays as it is."""
    REPLACED = "replaced"
    """Another job holds its key, and has its arguments now."""
    POSTPONED = "postponed"
    """Another job holds its key, has its arguments now, and waits again."""
    KEPT = "kept"
    """It starts when the job that holds its key has ended."""
    FULL = "full"
    """Its lane holds as many jobs as may wait there, and refuses more."""


@dataclass(frozen=True, slots=True)
class After:
    """Due `delay_ms` after the server has accepted the job, by the server's clock."""

    delay_ms: int


@dataclass(frozen=True, slots=True)
class At:
    """Due at an absolute instant: `unix_ms`, compared with the server's clock."""

    unix_ms: int


Due = After | At


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job on its way in. Only what differs from the defaults is stored with it."""

    id: JobId
    payload: bytes
    due: Due | None = None
    """When it may run; None means at once."""
    name: str | None = None
    """The handler's name; None for a raw job of another runtime."""
    max_attempts: int | None = None
    """How often it may be tried; None means the worker's default."""
    keep_result_ms: int | None = None
    """How long its result is kept once it has completed, in ms; None means the handler's choice."""
    timeout_ms: int | None = None
    """How long a run may take, in ms; 0 means for ever, None the handler's choice."""
    backoff: str | None = None
    """How long to wait between attempts, as `backoff_text` writes it; None: as the handler."""
    expires: Due | None = None
    """When it is no longer to be started: an instant, or so long after it is due."""
    priority: int | None = None
    """Its rank among those that wait: lower runs first; None is 0, the rank of mint order."""
    group: str | None = None
    """The lane it waits in, as a group of the wire; a job has a lane or a priority."""
    lane: str | None = None
    """The name that the group was made from."""
    unique: Unique | None = None
    """The key that no other may hold."""
    limit_key: str | None = None
    """What counts together with it under a limit by key: `<limit>/<value>`."""


@dataclass(frozen=True, slots=True)
class Held:
    """A job under our lease, as the claim found it."""

    queue: str
    id: JobId
    payload: bytes
    token: int
    """The wire's `attempts`: goes up with every claim and never down."""
    claim: str
    """The claim id that makes the fence unforgeable; empty for a caller without one."""
    name: str | None = None
    max_attempts: int | None = None
    returned: int = 0
    """Claims that do not count: handed back, snoozed, or granted again by a requeue."""
    crashes: int = 0
    """Leases lost in a row."""
    failures: bytes | None = None
    """What failed before: a JSON list written by us, newest last."""
    unknown_since_ms: int | None = None
    """When a worker first found no handler for it."""
    keep_result_ms: int | None = None
    group: str | None = None
    """The lane it belongs to."""
    timeout_ms: int | None = None
    """How long a run may take, in ms; 0 means for ever, None leaves it to the handler."""
    backoff: str | None = None
    """How long to wait between attempts, as `read_backoff` reads it; None: the handler's choice."""
    expires_ms: int | None = None
    """When it is no longer to be started, in Unix ms by the server's clock."""
    scheduler: str | None = None
    """The scheduler that has made it."""
    instant_ms: int | None = None
    """The planned instant of the scheduler's occurrence, in Unix ms."""
    priority: int = 0
    """Its rank among those that waited: lower runs first."""
    lane: str | None = None
    """The name that its lane was made from."""
    struck: tuple[str, ...] = ()
    """What is stopped by arguments in its queue: it runs only if it falls under none."""

    @property
    def attempt(self) -> int:
        """The number of this attempt, from 1, counting only those that count."""
        return max(1, self.token - self.returned)


@dataclass(frozen=True, slots=True)
class Claimed:
    """What a claim brought back, and what the pump needs to know."""

    now_ms: int
    """The server's clock when the claim ran."""
    next_due_ms: int | None
    """The next fire time in `schedule`; None when nothing is scheduled."""
    left: int
    """How many jobs were left in `pending`."""
    jobs: Sequence[Held] = field(default=())
    paused: bool = False
    """True if the queue was paused, so that nothing was handed out."""
    set_aside: int = 0
    """Malformed members and rows that went to quarantine instead of a handler."""
    watching: bool = False
    """True if this worker is the watcher of the queue (only a claim or a beat knows)."""
    next_fire_ms: int | None = None
    """When the next scheduler fires; None if there is none (only a claim or a beat knows)."""
