"""All checks of the environment, in the order in which they are told."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from echomq_worker.doctor.access import rights, scripts
from echomq_worker.doctor.clocks import clock, zones
from echomq_worker.doctor.connection import connects, role
from echomq_worker.doctor.facts import Facts
from echomq_worker.doctor.memory import eviction, memory, rows
from echomq_worker.doctor.persistence import persistence
from echomq_worker.doctor.release import known_flaws, version
from echomq_worker.doctor.setup import client, encryption, settings
from echomq_worker.domain.finding import Finding


@dataclass(frozen=True, slots=True)
class Check:
    """A check of the environment."""

    name: str
    look: Callable[[Facts], list[Finding]]

    @property
    def holds(self) -> str:
        """What is so when it finds nothing: one sentence."""
        return " ".join((self.look.__doc__ or "").split())


ENVIRONMENT: Sequence[Check] = (
    Check("settings", settings),
    Check("client", client),
    Check("encryption", encryption),
    Check("time-zones", zones),
    Check("connects", connects),
    Check("version", version),
    Check("known-flaws", known_flaws),
    Check("role", role),
    Check("eviction", eviction),
    Check("persistence", persistence),
    Check("memory", memory),
    Check("rows", rows),
    Check("scripts", scripts),
    Check("rights", rights),
    Check("clock", clock),
)


def judge(facts: Facts) -> list[Finding]:
    """Return what every check says; those that need an answer of the server may say nothing."""
    return [finding for check in ENVIRONMENT for finding in check.look(facts)]
