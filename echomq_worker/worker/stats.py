"""Counts what a worker did."""

from dataclasses import dataclass, field

from echomq_worker.domain.histogram import Histogram
from echomq_worker.domain.outcome import (
    Buried,
    Completed,
    HandedBack,
    Outcome,
    Retried,
    Snoozed,
)

LOOP_LAG_BOUNDS_MS = (1, 5, 10, 50, 100, 500, 1_000, 5_000)


@dataclass(slots=True)
class Stats:
    """What became of the jobs of this worker. An outcome counts once the server has accepted it."""

    completed: int = 0
    retried: int = 0
    buried: int = 0
    expired: int = 0
    """Buried without a run: not started in time."""
    fired: int = 0
    """Jobs that this worker made for schedulers and registrations of the base wire."""
    snoozed: int = 0
    """Put off by their handlers."""
    unknown: int = 0
    """Put back because no handler is known here."""
    returned: int = 0
    """Handed back because this worker stopped."""
    lost: int = 0
    """Runs whose lease was lost before they ended."""
    refused: int = 0
    """Outcomes that the server refused: the job was somebody else's by then."""
    recovered: int = 0
    """Jobs of workers that died, made claimable again by this one."""
    loop_lag: Histogram = field(default_factory=lambda: Histogram(LOOP_LAG_BOUNDS_MS))
    """By how much the event loop turned too late (later: `echomq_event_loop_lag_seconds`)."""

    def count(self, outcome: Outcome) -> None:
        """Count an outcome that the server has accepted."""
        match outcome:
            case Completed():
                self.completed += 1
            case Retried():
                self.retried += 1
            case Buried(expired=True):
                self.expired += 1
            case Buried():
                self.buried += 1
            case Snoozed(unknown=True):
                self.unknown += 1
            case Snoozed():
                self.snoozed += 1
            case HandedBack():
                self.returned += 1

    @property
    def processed(self) -> int:
        """How many runs ended with an outcome of their own."""
        return self.completed + self.retried + self.buried + self.snoozed

    def __str__(self) -> str:
        words = {
            "completed": self.completed,
            "retried": self.retried,
            "buried": self.buried,
            "expired": self.expired,
            "snoozed": self.snoozed,
            "without handler": self.unknown,
            "handed back": self.returned,
            "lost": self.lost,
            "refused": self.refused,
            "fired": self.fired,
        }
        said = [f"{count} {word}" for word, count in words.items() if count]
        return ", ".join(said) or "no jobs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """How a worker is doing, told once a beat."""

    state: str
    """`starting`, `running`, `draining` or `cancelling`."""
    running: int
    """How many jobs run now."""
    slots: int
    """How many may run at once."""
    answered_ms: int | None
    """How long ago the server last answered a claim, in ms; None if it never did."""
    server_up: bool
    """False from the first call that was not answered until one is."""
    stats: Stats
