"""How long it took until work went on after a kill."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

InFlight = dict[str, int]
"""Jobs that ran when their worker was killed, and when they had started (Unix ms)."""


@dataclass(frozen=True, slots=True)
class Span:
    """A time, in Unix ms."""

    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class Spread:
    """How long things took, in seconds."""

    count: int
    p50: float
    p99: float
    max: float


def spread_of(samples_ms: Sequence[int]) -> Spread | None:
    """Sum up; None if there is nothing."""
    if not samples_ms:
        return None
    ordered = sorted(samples_ms)

    def at(share: float) -> float:
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] / 1000

    return Spread(len(ordered), at(0.5), at(0.99), ordered[-1] / 1000)


@dataclass(slots=True)
class Recoveries:
    """Follows the log, and notes when what was hit by a kill went on."""

    outages: Sequence[Span] = ()
    """When the server was away, stood still or was full: a job cannot be recovered then."""
    returns: list[Span] = field(default_factory=list[Span])
    """From each start of a killed server to its first answer."""
    of_jobs: list[int] = field(default_factory=list[int])
    """From the kill of a worker to the next start of a job that it ran, in ms."""
    of_jobs_in_outages: list[int] = field(default_factory=list[int])
    """The same, where the server was in trouble in between."""
    of_server: list[int] = field(default_factory=list[int])
    """From a server's first answer to the first claim, in ms."""
    _killed: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    _waiting: dict[str, int] = field(default_factory=dict[str, int])
    _answers: int = 0

    def killed(self, at_ms: int, jobs: Iterable[str]) -> None:
        """Note that a worker was killed with these jobs in hand."""
        for job_id in jobs:
            self._killed.setdefault(job_id, []).append(at_ms)

    def event(self, at_ms: int, event: str, job_id: str) -> None:
        """Take in an entry of the log, in its order."""
        if event == "recovered" and job_id in self._killed:
            before = [kill for kill in self._killed[job_id] if kill <= at_ms]
            if before:
                self._waiting[job_id] = before[-1]
                self._killed[job_id].remove(before[-1])
        elif event == "claimed":
            self._claimed(at_ms, job_id)

    def _claimed(self, at_ms: int, job_id: str) -> None:
        while self._answers < len(self.returns) and self.returns[self._answers].start_ms <= at_ms:
            self._came_back(self.returns[self._answers].end_ms, at_ms)
            self._answers += 1
        kill_ms = self._waiting.pop(job_id, None) if self._waiting else None
        if kill_ms is None:
            return
        disturbed = any(span.start_ms <= at_ms and span.end_ms >= kill_ms for span in self.outages)
        (self.of_jobs_in_outages if disturbed else self.of_jobs).append(at_ms - kill_ms)

    def _came_back(self, answer_ms: int, claim_ms: int) -> None:
        # A server that is broken again at once does not count.
        if not any(answer_ms <= span.start_ms <= claim_ms for span in self.outages):
            self.of_server.append(max(0, claim_ms - answer_ms))
