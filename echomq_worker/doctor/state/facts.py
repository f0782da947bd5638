"""What is known about one job at one moment."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from echomq_worker.domain.priority import HIGHEST

JOB_PLACES = ("pending", "active", "schedule", "dead", "prioritized")
_NUMBER = re.compile(r"[0-9]{1,15}")
_PRIORITY = re.compile(r"-?[0-9]{1,15}")


@dataclass(frozen=True, slots=True)
class JobFacts:
    """One job: its row, and where its id lies. Scores and texts are '' where there is none."""

    id: str
    lane: str
    """The lane where it was seen."""
    kind: str
    ttl_ms: int
    has_payload: bool
    pending: str
    active: str
    schedule: str
    dead: str
    dead_at: str
    own_lane: str
    seen_lane: str
    dependencies: str
    prioritized: str
    parked: str
    state: str
    attempts: str
    group: str
    parent: str
    parent_queue: str
    max: str
    returned: str
    held: str
    """The gate where it is parked."""
    priority: str
    arrival: str

    @classmethod
    def read(cls, reply: Sequence[bytes | int]) -> "JobFacts":
        """Read one entry of a script's reply."""
        id_, lane, kind, ttl, payload, *others = reply
        return cls(
            _text(id_), _text(lane), _text(kind), int(ttl), payload == 1, *map(_text, others)
        )

    @property
    def is_there(self) -> bool:
        """Whether it has a row."""
        return self.kind == "hash"

    @property
    def places(self) -> list[str]:
        """Return the places where the id lies."""
        found = [name for name in JOB_PLACES if getattr(self, name)]
        if self.parked:
            found.append(f"parked {self.held}")
        if self.own_lane:
            found.append(f"lane {self.group}")
        if self.seen_lane and self.lane != self.group:
            found.append(f"lane {self.lane}")
        return found

    @property
    def counted(self) -> int | None:
        """Return the attempts that count; None if they are no number."""
        if not _NUMBER.fullmatch(self.attempts):
            return None
        return int(self.attempts) - (number(self.returned) or 0)

    @property
    def rung(self) -> int | None:
        """Return the priority that its row names; None if it is none that has a tier."""
        if self.group or not _PRIORITY.fullmatch(self.priority):
            return None
        priority = int(self.priority)
        return priority if priority and abs(priority) <= HIGHEST else None

    @property
    def is_set_aside(self) -> bool:
        """Whether it has been set aside: kept for a while, in no place."""
        return self.ttl_ms >= 0 and not self.places


def number(text: str) -> int | None:
    """Return a whole number, or None."""
    return int(text) if _NUMBER.fullmatch(text) else None


def score(text: str) -> float:
    """Return a score; NaN if there is none."""
    return float(text) if text else math.nan


def _text(value: bytes | int) -> str:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)
