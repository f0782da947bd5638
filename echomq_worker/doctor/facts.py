"""What the checks of the environment look at; gathered once, judged without I/O."""

from dataclasses import dataclass, field

from echomq_worker.config import Settings
from echomq_worker.domain.server_facts import ServerFacts
from echomq_worker.errors import EchoMQError
from echomq_worker.store.rights import Missing, Needs


@dataclass(frozen=True, slots=True, kw_only=True)
class Zones:
    """Which time zone data there is, such as `2026b`; None where there is none."""

    system: str | None = None
    """What Python uses first."""
    package: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """What the user of the server may do."""

    needs: Needs
    missing: Missing | None = None
    """What it lacks; None if the server cannot tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """How the client library was set up by us."""

    library: str
    """Its version."""
    protocol: int = 2
    retries: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything that is known when the checks begin."""

    settings: Settings
    warnings: tuple[str, ...] = ()
    """What reading the settings has warned of."""
    server: ServerFacts | None = None
    """None if it could not be asked; then `trouble` says why."""
    trouble: EchoMQError | None = None
    location: str = ""
    """Where the server is, without secrets."""
    rights: Rights | None = None
    """None if nobody could be asked."""
    client: Client = field(default_factory=lambda: Client(library="unknown"))
    zones: Zones = field(default_factory=Zones)
