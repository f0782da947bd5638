"""What is seen of a run from outside the workers."""

from collections import Counter
from dataclasses import dataclass, field

from echomq_worker.domain.job import JobId


@dataclass
class Seen:
    """What was seen from outside the workers."""

    acknowledged: set[JobId] = field(default_factory=set[JobId])
    unknown: set[JobId] = field(default_factory=set[JobId])
    refused: set[JobId] = field(default_factory=set[JobId])
    succeeded: Counter[JobId] = field(default_factory=Counter[JobId])
    declared: set[str] = field(default_factory=set[str])
    """Schedulers whose declaration was acknowledged."""
    discarded: set[JobId] = field(default_factory=set[JobId])
    waits: dict[JobId, list[int]] = field(default_factory=dict[JobId, list[int]])
    complaints: list[str] = field(default_factory=list[str])
    log: list[tuple[int, str, JobId, int]] = field(
        default_factory=list[tuple[int, str, JobId, int]]
    )
