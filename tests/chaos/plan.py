"""What is broken, and when: decided by the dice before a run begins."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

CALM_START_S = 3.0
CALM_END_S = 3.0
LEASE_S = 2.0
KILL_WORKER, KILL_SERVER = "kill worker", "kill server"

OTHERS: dict[str, tuple[int, float, float]] = {
    "stop worker (SIGTERM)": (3, 0, 0),
    "freeze worker": (3, 0.5, 3 * LEASE_S),
    "black hole": (2, 0.5, 3 * LEASE_S),
    "refuse connections": (2, 0.3, 2),
    "cut connections": (3, 0, 0),
    "slow link": (2, 1, 4),
    "kill producer": (2, 0, 0),
    "freeze server": (2, 0.3, 2.5),
    "kick all clients": (2, 0, 0),
    "flush scripts": (2, 0, 0),
    "memory full": (2, 0.5, 2.5),
    "skew clock": (1, 0, 0),
    "block event loop": (1, 0, 0),
}
"""All faults but kills, which are planned by number: weight, shortest and longest (s)."""


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One thing that is broken."""

    at_s: float
    """When, counted from the start."""
    name: str
    lasts_s: float = 0.0
    pick: int = 0
    """Decides whom it hits."""


def plan(
    seed: int, duration_s: float, *, worker_kills: int, server_kills: int, every_s: float = 4.0
) -> list[Fault]:
    """Roll the dice.

    Args:
        seed: the same seed and numbers give the same plan.
        duration_s: how long the run is, without the quiet time at its end.
        worker_kills: how often a worker is killed.
        server_kills: how often the server is.
        every_s: how much time there is, on average, between two other faults.
    """
    dice = random.Random(seed)
    span_s = max(0.0, duration_s - CALM_START_S - CALM_END_S)
    names = list(OTHERS)
    weights = [OTHERS[name][0] for name in names]
    # Every kind once before chance decides.
    others = dice.sample(names, len(names))
    count = round(span_s / every_s)
    others = (others + dice.choices(names, weights, k=count))[:count]
    wanted = [
        *_spread(dice, KILL_WORKER, worker_kills, span_s),
        *_spread(dice, KILL_SERVER, server_kills, span_s),
        *(
            Fault(at_s, name, dice.uniform(*OTHERS[name][1:]), dice.randrange(1 << 16))
            for at_s, name in zip(_times(dice, len(others), span_s), others, strict=True)
        ),
    ]
    return sorted(wanted)


def _spread(dice: random.Random, name: str, count: int, span_s: float) -> Iterator[Fault]:
    for at_s in _times(dice, count, span_s):
        yield Fault(at_s, name, dice.uniform(0, 0.5), dice.randrange(1 << 16))


def _times(dice: random.Random, count: int, span_s: float) -> Iterator[float]:
    """Spread some times over a span: evenly, but for the dice."""
    for number in range(count):
        yield CALM_START_S + (number + dice.random()) * span_s / count
