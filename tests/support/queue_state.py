"""How a queue of flat jobs lies on the server, in plain Python.

Times are of two kinds only: small numbers, which have passed, and delays still to come. No two
of them are the same, so that their order is known.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from echomq_worker.domain.job import JobId

BELL_CAP = 64
TO_COME = 1_000_000
"""A time below this has passed; one from it on is a delay, in ms, still to come."""


@dataclass
class Row:
    """The row of one job; None stands for a field that is not there."""

    state: str
    payload: str
    max: int | None = None
    attempts: int = 0
    claim: str | None = None
    returned: int | None = None
    crashes: int | None = None
    stalled: int | None = None
    last_error: str | None = None
    unknown: bool = False

    def fields(self) -> dict[str, str]:
        """Return the row as it should lie on the server; `unknown` is some time."""
        found = {name: value for name, value in vars(self).items() if value is not None}
        found["unknown"] = "some time" if self.unknown else None
        return {name: str(value) for name, value in found.items() if value is not None}


@dataclass
class Call:
    """Who calls, and which call it is."""

    caller: str
    number: int
    again: bool = False

    @property
    def claim_id(self) -> str:
        """What the jobs of this call are held by."""
        return f"{self.caller}.{self.number:x}"


@dataclass
class Handout:
    """What a claim should say."""

    ids: list[JobId]
    tokens: list[int]
    left: int
    next_due: int | None
    paused: bool


@dataclass
class QueueState:
    """One queue."""

    rows: dict[JobId, Row] = field(default_factory=dict[JobId, Row])
    pending: set[JobId] = field(default_factory=set[JobId])
    active: dict[JobId, int] = field(default_factory=dict[JobId, int])
    schedule: dict[JobId, int] = field(default_factory=dict[JobId, int])
    dead: set[JobId] = field(default_factory=set[JobId])
    kept: dict[JobId, str] = field(default_factory=dict[JobId, str])
    unlisted: set[JobId] = field(default_factory=set[JobId])
    """Jobs whose results are kept, and which no list has any more."""
    completed: int = 0
    failed: int = 0
    paused: bool = False
    bell: int = 0
    clock: int = 0
    receipts: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])

    def everything(self) -> dict[str, Any]:
        """Return every key that should be there, with times as told by `passed_or_not`."""
        keys: dict[str, Any] = {
            "pending": sorted(self.pending),
            "active": {id_: passed_or_not(end) for id_, end in self.active.items()},
            "schedule": [
                (id_, passed_or_not(self.schedule[id_])) for id_ in ordered(self.schedule)
            ],
            "dead": sorted(self.dead),
            "dead:at": sorted(self.dead),
            "completed": sorted(set(self.kept) - self.unlisted),
            "metrics:completed": self.completed,
            "metrics:failed": self.failed,
            "bell": self.bell,
            "clock": self.clock,
        }
        keys |= {f"job:{id_}": row.fields() for id_, row in self.rows.items()}
        keys |= {f"done:{id_}": result for id_, result in self.kept.items()}
        keys |= {f"call:{caller}": f"{n} {said}" for caller, (n, said) in self.receipts.items()}
        return {key: value for key, value in keys.items() if value} | {"paused": self.paused}

    def earlier(self, call: Call) -> str | None:
        number, answer = self.receipts.get(call.caller, (0, ""))
        assert number <= call.number, "only a late original is overtaken"
        return answer if number == call.number else None

    def keep(self, call: Call, answer: str, *, changed: bool) -> None:
        if changed or call.again:
            self.receipts[call.caller] = (call.number, answer)

    def leave(self, id_: JobId) -> None:
        self.active.pop(id_, None)
        self.pending.discard(id_)

    def later(self, id_: JobId, delay: int) -> None:
        self.rows[id_].state = "scheduled"
        self.schedule[id_] = delay

    def bury(self, id_: JobId) -> None:
        self.rows[id_].state = "dead"
        self.dead.add(id_)
        self.failed += 1

    def wait(self, ids: Sequence[JobId]) -> None:
        self.pending.update(ids)
        self.ring(len(ids))

    def ring(self, jobs: int) -> None:
        self.bell = min(BELL_CAP, self.bell + jobs)

    def nudge(self, scheduled: Iterable[JobId]) -> None:
        if self.schedule and ordered(self.schedule)[0] in set(scheduled):
            self.clock = 1


def ordered(times: dict[JobId, int]) -> list[JobId]:
    """Return jobs, the earliest first."""
    return sorted(times, key=lambda id_: (times[id_], id_))


def passed(times: dict[JobId, int]) -> list[JobId]:
    """Return the jobs whose time has passed, the earliest first."""
    return [id_ for id_ in ordered(times) if times[id_] < TO_COME]


def passed_or_not(time: int) -> int:
    """Return a time that has passed as it is, and `TO_COME` for any other."""
    return min(time, TO_COME)
