"""What is told about the schedulers of a queue, and what is asked of them: plain values.

All times are Unix ms by the server's clock.
"""

from dataclasses import dataclass
from enum import StrEnum

from echomq_worker.domain.job import JobId
from echomq_worker.domain.scheduling.spec import SchedulerSpec
from echomq_worker.domain.views import PauseNote

FIRED_AT_ONCE = 500
"""The most schedulers that are read by one call; what is fired goes in calls of half as many."""
OCCURRENCES_AT_ONCE = 1_000
"""The most occurrences that a firer plans at once; they go in calls of half as many."""
RUNS = 10
"""How many occurrences a scheduler remembers."""


class PutVerdict(StrEnum):
    """What became of a declaration."""

    CREATED = "created"
    UNCHANGED = "unchanged"
    """It stood there already, word for word; a higher revision is remembered."""
    CHANGED = "changed"
    """Something else than the rule has changed: the next occurrence stays as it was."""
    RETIMED = "retimed"
    """The rule has changed, and with it the next occurrence."""
    OLDER = "older"
    """Nothing was changed: what is stored has a higher revision."""
    SUPERSEDED = "superseded"
    """Nothing was changed: another declaration of this revision has replaced this one before."""


class SchedulerState(StrEnum):
    """What a scheduler is doing."""

    WAITING = "waiting"
    """Its next occurrence has a time."""
    PAUSED = "paused"
    ENDED = "ended"
    """It has no further occurrence: its end has come, or its limit is reached."""
    CORRUPT = "corrupt"
    """What is stored of it cannot be read; `problem` says why."""


class RunOutcome(StrEnum):
    """What became of the job of an occurrence."""

    FIRED = "fired"
    """It was made, and has not ended yet."""
    TRIGGERED = "triggered"
    """It was made by hand, and has not ended yet."""
    COMPLETED = "completed"
    DEAD = "dead"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class RunNote:
    """One occurrence that made a job."""

    instant_ms: int
    """Its planned time."""
    job_id: JobId
    outcome: str
    """A word of `RunOutcome`."""
    at_ms: int
    """When it came to this outcome."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerView:
    """One scheduler as it stands."""

    name: str
    state: SchedulerState
    spec: SchedulerSpec | None = None
    """None if what is stored cannot be read here."""
    problem: str = ""
    """Why there is no `spec`."""
    next_ms: int | None = None
    """The instant of its next occurrence; of a paused one, where it stood."""
    wake_ms: int | None = None
    """When that fires, jitter included; None while it is paused or ended."""
    last_ms: int | None = None
    """The newest instant that is over and done with."""
    count: int = 0
    """How many jobs its rule has made."""
    missed: int = 0
    """How many occurrences the misfire policy has dropped."""
    skipped: int = 0
    """How many occurrences the overlap policy has dropped."""
    paused: PauseNote | None = None
    ended: str = ""
    """Why there is no further occurrence: `end`, `limit`, or ''."""
    held_ms: int | None = None
    """The instant that overlap `queue-one` keeps back until the job before has ended."""
    since_ms: int | None = None
    """Since when its rule counts: when it was declared, or resumed."""
    revision: int = 0
    source: str = ""
    """Who declared it: `code` or `api`."""
    tz: str = ""
    """The version of the tz data that computed `next_ms`; '' for UTC and intervals."""
    digest: str = ""
    created_ms: int | None = None
    changed_ms: int | None = None
    """When its declaration was last changed."""
    runs: tuple[RunNote, ...] = ()
    """The last occurrences that made jobs, the newest last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DueScheduler:
    """A scheduler whose time has come, as a firer reads it: without its payload."""

    name: str
    spec: SchedulerSpec | None = None
    problem: str = ""
    """Why there is no `spec`; then nothing else is known."""
    is_corrupt: bool = False
    """True if it is to be set aside. A zone that is not known here is a problem, but not that."""
    next_ms: int | None = None
    """The oldest instant that was not fired; None if only `held_ms` is left."""
    wake_ms: int = 0
    digest: str = ""
    tz: str = ""
    count: int = 0
    held_ms: int | None = None
    last_ms: int | None = None
    """The newest instant that is over and done with."""
    since_ms: int | None = None
    """Since when its rule counts."""


@dataclass(frozen=True, slots=True)
class Due:
    """The schedulers whose time has come."""

    now_ms: int
    next_ms: int | None
    """When the first of the others wakes; None if there is none."""
    schedulers: tuple[DueScheduler, ...]
    """At most as many as were asked for, the longest due first."""
    repeat_ms: int | None = None
    """When the first registration of the base wire is due; None if there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Firing:
    """What to fire of one scheduler. All of it is refused if `expected_ms` or `digest` differ."""

    name: str
    expected_ms: int | None
    """The `next_ms` that was read."""
    digest: str
    next_ms: int | None
    wake_ms: int | None
    tz: str = ""
    ended: str = ""
    missed: int = 0
    """How many occurrences the misfire policy drops with this firing."""
    occurrences: tuple[tuple[JobId, int], ...] = ()
    """A fresh id and the instant of each, the oldest first; at most 100."""


class OccurrenceVerdict(StrEnum):
    """What became of one occurrence."""

    FIRED = "fired"
    SKIPPED = "skipped"
    """The job before has not ended, and the overlap policy is `skip`."""
    HELD = "held"
    """The job before has not ended: this one is kept back until then."""
    DONE = "done"
    """It was fired, skipped or dropped before."""


class Whole(StrEnum):
    """What became of the firing of one scheduler."""

    OK = "ok"
    TAKEN = "taken"
    """Nothing was done: somebody else has fired, changed, paused or removed it."""
    ID_TAKEN = "id-taken"
    """Nothing was done: there is a job of one of the ids. Fire it with others."""
    LATER = "later"
    """Nothing was done: the call held too many bytes already. It is still due."""


@dataclass(frozen=True, slots=True)
class Fired:
    """What became of one `Firing`."""

    name: str
    whole: Whole
    verdicts: tuple[OccurrenceVerdict, ...] = ()
    """One for each occurrence, in order; none unless the whole is OK."""
