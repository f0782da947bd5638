"""What one seed decides: jobs, how their handlers behave, and how the world treats the workers."""

from dataclasses import dataclass, field
from random import Random

from echomq_worker.domain.ids import BrandedId
from echomq_worker.domain.job import JobId
from tests.simulation.network import EPOCH_MS
from tests.simulation.schedules import PlannedScheduler, schedulers_of

LEASE_MS = 1_500
BEAT_MS = 500
TIMEOUT_MS = 4_000
"""Longer than two leases, so that a job lives by their extension."""
MAX_ATTEMPTS = 4
CRASH_LIMIT = 3
STORM_MS = 5_000
KINDS = ("ok",) * 6 + ("fail", "fail", "retry", "snooze", "hang", "discard")


@dataclass(frozen=True, slots=True)
class Step:
    """What a handler does in one run."""

    kind: str
    ms: int
    after_ms: int = 0


@dataclass(frozen=True, slots=True)
class PlannedJob:
    """One job of a producer."""

    id: JobId
    number: int
    at_ms: int
    delay_ms: int | None
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that the world does."""

    at_ms: int
    kind: str
    ms: int = 0


@dataclass(slots=True)
class Plan:
    """Everything that is decided beforehand."""

    seed: int
    workers: int
    fault_rate: float
    is_calm: bool = False
    """Nothing happens that may cost anybody a lease."""
    jobs: list[PlannedJob] = field(default_factory=list[PlannedJob])
    events: list[Event] = field(default_factory=list[Event])
    schedulers: list[PlannedScheduler] = field(default_factory=list[PlannedScheduler])


EVENTS = (
    "kill",
    "kill",
    *("pause",) * 5,  # a late finish is what puts the fence to the test
    "stop",
    "start",
    "down",
    "LOADING",
    "BUSY",
    "OOM",
    "cut off",
    "forget scripts",
    "pause queue",
)
HARMLESS = ("stop", "start", "forget scripts", "pause queue")
CALM_SHARE = 0.1


def plan_of(seed: int) -> Plan:
    """Draw the plan of a seed."""
    dice = Random(seed)
    plan = Plan(seed, dice.randint(2, 3), dice.choice([0.0, 0.03, 0.1, 0.25]))
    for number in range(dice.randint(8, 24)):
        at_ms = int(dice.random() * (STORM_MS - 1_000))
        id_ = BrandedId.pack("JOB", EPOCH_MS + at_ms, 1, number).text
        delay = dice.randint(1, 3_000) if dice.random() < 0.25 else None
        steps = tuple(_step(dice) for _ in range(dice.choice([1, 1, 1, 2, 3])))
        plan.jobs.append(PlannedJob(JobId(id_), number, at_ms, delay, steps))
    plan.jobs.sort(key=lambda job: job.at_ms)
    for _ in range(dice.randint(2, 7)):
        at_ms = dice.randint(200, STORM_MS)
        plan.events.append(Event(at_ms, dice.choice(EVENTS), dice.randint(100, 3 * LEASE_MS)))
    plan.events.sort(key=lambda event: event.at_ms)
    plan.schedulers = schedulers_of(seed, EPOCH_MS)
    if dice.random() < CALM_SHARE:
        plan.is_calm, plan.fault_rate = True, 0.0
        plan.events = [event for event in plan.events if event.kind in HARMLESS]
    return plan


def _step(dice: Random) -> Step:
    ms = dice.choice([0, 1, 20, 200, dice.randint(1, 3 * LEASE_MS)])
    return Step(dice.choice(KINDS), min(ms, TIMEOUT_MS - 100), dice.randint(1, 1_500))
