"""What each scenario may cost, and what it costs now."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

TOLERANCE = 1.10
"""More than this many times the baseline is a regression."""
_DIGITS = 3


@dataclass(frozen=True, slots=True)
class Cost:
    """Commands for one unit of work."""

    per: str
    """What is counted: a job, a second, a start."""
    sent: float
    """Commands that clients send: round trips."""
    inside: float
    """Commands that scripts run."""

    @classmethod
    def of(cls, per: str, units: float, *, sent: int, inside: int) -> "Cost":
        """Divide what was counted by how much was done."""
        return cls(per, round(sent / units, _DIGITS), round(inside / units, _DIGITS))


def read_baseline(path: Path) -> dict[str, Cost]:
    """Return what is checked in; nothing if there is no such file."""
    if not path.exists():
        return {}
    return {name: Cost(**cost) for name, cost in json.loads(path.read_text()).items()}


def write_baseline(path: Path, costs: Mapping[str, Cost]) -> None:
    """Check in what was measured."""
    plain = {
        name: {"per": cost.per, "sent": cost.sent, "inside": cost.inside}
        for name, cost in costs.items()
    }
    path.write_text(json.dumps(plain, indent=2) + "\n", encoding="utf-8")


def regressions(baseline: Mapping[str, Cost], measured: Mapping[str, Cost]) -> list[str]:
    """Return what costs more than 10 % more than it did, and where the lists differ."""
    problems = [f"{name}: in the baseline, but not measured" for name in baseline.keys() - measured]
    for name, now in measured.items():
        if (before := baseline.get(name)) is None:
            problems.append(f"{name}: not in the baseline: run `python -m checks --write traffic`")
            continue
        for kind, was, is_now in (
            ("sent", before.sent, now.sent),
            ("run inside scripts", before.inside, now.inside),
        ):
            if is_now > was * TOLERANCE:
                problems.append(f"{name}: {is_now} commands {kind} per {now.per}, was {was}")
    return sorted(problems)


def told(name: str, cost: Cost) -> str:
    """Say what a scenario costs, in a line."""
    return f"{name:<22} {cost.sent:>8} sent {cost.inside:>9} inside  per {cost.per}"
