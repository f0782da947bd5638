"""What the server's scripts answer to a worker, and what a worker says about itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from echomq_worker.domain.job import Claimed, JobId
from echomq_worker.domain.outcome import Verdict


@dataclass(frozen=True, slots=True)
class Presence:
    """What a worker says about itself with each beat, kept for `ttl_ms`."""

    worker_id: str
    fields: Mapping[str, str] = field(default_factory=dict[str, str])
    ttl_ms: int = 10_000


@dataclass(frozen=True, slots=True)
class Reaped:
    """What became of the leases that had run out."""

    recovered: tuple[JobId, ...] = ()
    buried: tuple[JobId, ...] = ()


@dataclass(frozen=True, slots=True)
class Settled:
    """The verdict on each settlement, in order, and what was claimed in the same round trip."""

    verdicts: Sequence[Verdict]
    claimed: Claimed


@dataclass(frozen=True, slots=True)
class Beat:
    """What one beat did."""

    claimed: Claimed
    reaped: Reaped
    watching: bool
    """True if this worker is the watcher of the queue."""
    emptied: bool = False
    """True if the queue has lost our mark: somebody has emptied the server."""
