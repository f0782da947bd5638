"""Outcomes that wait to be written."""

from collections import deque
from collections.abc import Sequence

from echomq_worker.domain.limits import BATCH
from echomq_worker.domain.outcome import Verdict
from echomq_worker.worker.hands import Hands
from echomq_worker.worker.journal import Journal
from echomq_worker.worker.run import Run
from echomq_worker.worker.stats import Stats

_ACCEPTED = frozenset({Verdict.OK, Verdict.ALREADY})


class Settler:
    """Collects the outcomes of one queue; what ends in one turn of the loop is written together.

    Args:
        hands: the jobs that this worker holds.
        stats: counts the outcomes.
        journal: writes their lines.
    """

    def __init__(self, hands: Hands, stats: Stats, journal: Journal) -> None:
        self._hands = hands
        self._stats = stats
        self._journal = journal
        self._waiting: deque[Run] = deque()
        self.alone = 0
        """So many of the first are to be written one by one: together they were refused."""

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, run: Run) -> None:
        """Have the outcome of a run written with the next call."""
        self._waiting.append(run)

    def drop(self, run: Run) -> None:
        """Let go of a job that is no longer ours."""
        self._hands.let_go(run)
        self._stats.lost += 1

    def batch(self) -> list[Run]:
        """Take out what is to be written now, the oldest first."""
        if len(self._waiting) <= BATCH:
            taken = list(self._waiting)
            self._waiting.clear()
            return taken
        return [self._waiting.popleft() for _ in range(BATCH)]

    def next_alone(self) -> Run:
        """Take out the first of those that are to be written one by one."""
        self.alone -= 1
        return self._waiting.popleft()

    def put_back(self, batch: Sequence[Run], *, alone: bool = False) -> None:
        """Have a batch written again, one by one if `alone`: nothing is known about it."""
        self._waiting.extendleft(reversed(batch))
        if alone:
            self.alone += len(batch)

    def give_up(self, run: Run, error: Exception) -> None:
        """Let go of a job whose outcome the server refuses even by itself."""
        self._hands.let_go(run)
        self._stats.refused += 1
        self._journal.unwritable(run, error)

    def written(self, batch: Sequence[Run], verdicts: Sequence[Verdict]) -> None:
        """Count what the server has accepted, and let go of the jobs."""
        # All are counted before a line is written: no trouble with a line costs the others.
        for run, verdict in zip(batch, verdicts, strict=True):
            self._hands.let_go(run)
            if run.outcome is not None and verdict in _ACCEPTED:
                self._stats.count(run.outcome)
            else:
                self._stats.refused += 1
        for run, verdict in zip(batch, verdicts, strict=True):
            if run.outcome is not None and verdict in _ACCEPTED:
                self._journal.settled(run, run.outcome)
            else:
                self._journal.refused(run, verdict)
