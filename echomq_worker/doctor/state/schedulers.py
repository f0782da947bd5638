"""Checks of schedulers: each can be read, and wakes when its definition says so."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from echomq_worker.doctor.state.facts import number, score
from echomq_worker.doctor.state.keys import bytes_text
from echomq_worker.doctor.state.notes import Notes
from echomq_worker.domain.finding import Severity
from echomq_worker.errors import CorruptSchedulerError, UnknownZoneError
from echomq_worker.protocol.scheduler_rows import FIELDS, read_spec

LOOKED_AT = (*FIELDS, "digest", "next", "paused", "held")
"""The fields of a scheduler that are looked at. Its payload may be large, and is not."""
_REPAIR = "let it wake when its definition says so"


@dataclass(frozen=True, slots=True)
class SchedulerFacts:
    """One scheduler at one moment."""

    name: str
    wake: str
    """When it wakes; '' if the index does not have it."""
    kind: str
    fields: dict[str, bytes]

    @classmethod
    def read(cls, reply: Sequence[bytes | Sequence[bytes | None]]) -> "SchedulerFacts":
        """Read one entry of the reply of `audit_schedulers.lua`."""
        name, wake, kind, values = reply
        found = zip(LOOKED_AT, values, strict=False)
        fields = {key: value for key, value in found if isinstance(value, bytes)}
        return cls(_text(name), _text(wake), _text(kind), fields)

    @property
    def next_ms(self) -> int | None:
        """Its next instant; None if it has no further one."""
        return number(self._field("next"))

    @property
    def is_held(self) -> bool:
        """Whether an occurrence waits for the job before."""
        return "held" in self.fields

    @property
    def rests(self) -> bool:
        """Whether it is not to wake by itself."""
        return "paused" in self.fields or (self.next_ms is None and not self.is_held)

    @property
    def trouble(self) -> str:
        """What is wrong with its bookkeeping; '' for nothing."""
        instant = self._field("next")
        if "next" not in self.fields or (instant and number(instant) is None):
            return "its next instant is no number"
        return "" if self._field("digest") else "it has no digest"

    def _field(self, key: str) -> str:
        return bytes_text(self.fields.get(key, b""))


def check_scheduler(notes: Notes, root: str, found: SchedulerFacts) -> None:
    """Run every check of a scheduler."""
    key = f"{root}scheduler:{found.name}"
    if found.kind == "none" and found.wake:
        notes.add(
            "scheduler-without-definition",
            f"the scheduler {found.name} has a time, but no definition",
            key=key,
            hint="declare it again",
            repair="take it out, with a note in quarantine",
            subject=found.name,
        )
    if found.kind != "hash":
        return
    _check_definition(notes, key, found)
    if not found.trouble:
        _check_wake(notes, key, found)


def _check_definition(notes: Notes, key: str, found: SchedulerFacts) -> None:
    problem = found.trouble
    try:
        read_spec(found.name, found.fields)
    except UnknownZoneError as error:
        notes.add(
            "scheduler-zone",
            f"the scheduler {found.name} cannot be read on this machine: {error}",
            key=key,
            hint="bring the time zone data of this machine up to date",
            severity=Severity.WARN,
            is_quiet=False,
        )
    except CorruptSchedulerError as error:
        problem = str(error)
    if problem:
        notes.add(
            "scheduler-unreadable",
            f"the scheduler {found.name} cannot be read: {problem}",
            key=key,
            hint="declare it again; a worker sets it aside when its time comes",
        )


def _check_wake(notes: Notes, key: str, found: SchedulerFacts) -> None:
    wake, check = score(found.wake), "scheduler-wrong-time"
    if not found.wake:
        check, problem = "scheduler-without-time", "has a definition, but is not in the index"
    elif found.rests and wake < math.inf:
        problem = "rests, but has a time to wake"
    elif not found.rests and wake == math.inf:
        check, problem = "scheduler-asleep", "has a next occurrence, but never wakes"
    elif _is_beside(found, wake):
        problem = f"is to fire at {found.next_ms}, but wakes at {found.wake}"
    else:
        return
    notes.add(
        check,
        f"the scheduler {found.name} {problem}",
        key=key,
        invariant="I3",
        repair=_REPAIR,
        subject=found.name,
    )


def _is_beside(found: SchedulerFacts, wake: float) -> bool:
    """Whether it wakes before its next instant, or later than its jitter allows."""
    if found.rests or found.is_held or found.next_ms is None:
        return False
    jitter_ms = number(bytes_text(found.fields.get("jitter", b""))) or 0
    return not found.next_ms <= wake <= found.next_ms + jitter_ms


def _text(value: bytes | Sequence[bytes | None]) -> str:
    return bytes_text(value) if isinstance(value, bytes) else ""
