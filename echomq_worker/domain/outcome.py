"""What should become of a job that was run. Who decides it writes nothing."""

from dataclasses import dataclass, field
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Completed:
    """It worked."""

    result: bytes | None = None
    """The encoded result, for `done:<id>` and for a waiting parent; None for none."""
    keep_ms: int = 0
    """How long the result stays readable, in ms; 0 means that it is not kept."""


@dataclass(frozen=True, slots=True)
class Retried:
    """It failed and may run again, `delay_ms` from now by the server's clock."""

    delay_ms: int
    error: str
    failures: bytes = b""
    """The history of failed attempts to store with the row: a JSON list, newest last."""
    counted: bool = True
    """False for a failure that does not use up an attempt."""


@dataclass(frozen=True, slots=True)
class Buried:
    """It failed for good: it goes to the dead set, for a person to look at."""

    error: str
    failures: bytes = b""
    pauses: bool = False
    """True if no worker knows its handler: then the scheduler that has made it is paused."""
    expired: bool = False
    """True if it was not started in time, and so never ran."""


@dataclass(frozen=True, slots=True)
class Snoozed:
    """It asked to run later. No attempt is counted."""

    delay_ms: int
    unknown: bool = False
    """True when no handler is known here, so that the row remembers since when."""
    until_ms: int | None = None
    """When to run, in Unix ms by the server's clock; `delay_ms` then only tells about how long."""


@dataclass(frozen=True, slots=True)
class HandedBack:
    """We stopped before it did. Not its fault: no attempt is counted, and it may run at once."""

    started: bool = field(default=False, compare=False)
    """True if it had begun: then it expires no more."""
    stopped_by: str = ""
    """What somebody has stopped that it falls under: it waits there, if that still holds."""


Outcome = Completed | Retried | Buried | Snoozed | HandedBack


class Verdict(StrEnum):
    """What the server said to a settlement."""

    OK = "ok"
    ALREADY = "already"
    """The same claim has settled this job before."""
    GONE = "gone"
    """There is no such job (any more)."""
    STALE = "stale"
    """The job is held by somebody else, or waits for its next attempt."""
