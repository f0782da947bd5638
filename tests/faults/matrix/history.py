"""What became of the jobs of a cell, by the server's log and by what handlers have noted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from echomq_worker.domain.views import LogEntry
from tests.faults.matrix.moments import Moment

ENDS = frozenset({"completed", "dead"})
FREES = frozenset({"returned", "recovered", "scheduled", "retried", "completed", "dead"})
"""Events that end a lease."""


@dataclass(frozen=True, slots=True)
class Start:
    """A handler was entered."""

    job: str
    attempt: int
    pid: int
    at_ms: int


def read_starts(notes: Path) -> list[Start]:
    """Return the starts that the handlers have noted."""
    lines = [line.split() for line in notes.read_text().splitlines()]
    return [
        Start(job, int(attempt), int(pid), int(at))
        for word, job, attempt, pid, at in lines
        if word == "start"
    ]


@dataclass(frozen=True, slots=True)
class History:
    """The life of one job."""

    events: Sequence[str]
    """What the server has logged of it, in order."""
    starts: Sequence[Start]

    @classmethod
    def of(cls, job: str, log: Sequence[LogEntry], starts: Sequence[Start]) -> "History":
        """Pick what concerns a job."""
        return cls(
            [entry.event for entry in log if entry.id == job],
            [start for start in starts if start.job == job],
        )

    @property
    def ended(self) -> bool:
        """True if the server has accepted an end."""
        return any(event in ENDS for event in self.events)

    @property
    def claims(self) -> int:
        """How often it was handed out."""
        return self.events.count("claimed")

    def complaints(self) -> list[str]:
        """Return which laws of every cell its life breaks."""
        ends = [event for event in self.events if event in ENDS]
        found: list[str] = []
        if not ends:
            found.append("I1: it has no end")
        if len(ends) > 1:
            found.append(f"I4: it has ended {len(ends)} times")
        if not self.starts:
            found.append("I3: it was never started")
        leased = False
        for event in self.events:
            if event == "claimed" and leased:
                found.append("I2: it was handed out while it was leased")
            leased = event == "claimed" or (leased and event not in FREES)
        if leased:
            found.append("I9: it is still leased")
        return [f"{complaint}: {' '.join(self.events)}" for complaint in found]


LAWS: Mapping[str, str] = {
    "ok": "done once; nobody sees an error",
    "okR": "done once, though the caller may have to ask again",
    "re": "delivered again at most once",
    "give": "given back at once, and no attempt spent",
    "dup1": "done once, or delivered again",
    "quar": "set aside with a reason; the neighbours run",
    "nd": "what was there goes on; the rest is gone",
}
"""The codes of the matrix."""


def breach(code: str, history: History, moment: Moment, *, dies: bool, unread: bool) -> list[str]:
    """Return how a job's life breaks the law of its cell.

    Args:
        code: which law.
        history: its life.
        moment: what becomes of the job when nothing happens.
        dies: True if the fault takes the worker away: then what it was handed out in the call that
            is struck is delivered again, even where the step itself is done once.
        unread: True if the fault kept it from reading what it was handed out until the lease was
            over: another has it then, and no handler is entered twice.
    """
    seen = (history.claims, len(history.starts))
    strict = code in {"ok", "okR"}
    more_claims = 0 if strict and not ((dies or unread) and moment.hands_out) else 1
    more_starts = 0 if strict and not (dies and moment.hands_out) else 1
    found: list[str] = []
    if not (
        moment.claims <= seen[0] <= moment.claims + more_claims
        and moment.starts <= seen[1] <= moment.starts + more_starts
    ):
        found.append(f"{code} ({LAWS[code]}): {seen[0]} claims and {seen[1]} starts")
    if history.events.count("promoted") > 1 and moment.ending != "retry":
        found.append(f"{code}: it was promoted twice")
    if code == "give" and "recovered" in history.events:
        found.append("give: it was found only when its lease ran out")
    if code == "give" and history.starts[-1].attempt != history.starts[0].attempt:
        found.append("give: an attempt was spent")
    return [f"{complaint}: {' '.join(history.events)}" for complaint in found]
