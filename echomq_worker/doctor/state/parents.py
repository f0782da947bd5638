"""Parents that wait for children, none of which is there."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from echomq_worker.doctor.state.facts import JobFacts
from echomq_worker.doctor.state.notes import Notes
from echomq_worker.domain.finding import Severity
from echomq_worker.protocol.keyspace import Keyspace

MOST = 10_000
"""So many parents are remembered."""


@dataclass(slots=True)
class Parents:
    """Who waits for children, and who has been named by a child of the same queue."""

    _waiting: set[str] = field(default_factory=set[str])
    _named: set[str] = field(default_factory=set[str])

    def see(self, job: JobFacts) -> None:
        """Note a job."""
        if job.state == "awaiting_children" and len(self._waiting) < MOST:
            self._waiting.add(job.id)
        if job.parent and len(self._named) < MOST:
            self._named.add(job.parent)

    def suspects(self) -> Sequence[str]:
        """Return the parents that no child has named; none if there were too many to remember."""
        full = len(self._named) >= MOST
        return [] if full else sorted(self._waiting - self._named)

    def check(self, notes: Notes, keys: Keyspace, jobs: Iterable[JobFacts]) -> None:
        """Tell of those that still wait: children of other queues cannot be seen from here."""
        for job in jobs:
            if job.state == "awaiting_children" and not job.places and not job.is_set_aside:
                notes.add(
                    "parent-without-children",
                    f"{job.id} waits for {job.dependencies or 'its'} children, none of them here",
                    key=keys.job(job.id),
                    severity=Severity.WARN,
                    hint="fine if they are in other queues; else remove it or enqueue it anew",
                    invariant="I3",
                    is_quiet=False,
                )
