"""What a run is told."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The numbers of a run."""

    minutes: float
    """How long faults happen."""
    seed: int
    jobs: int = 0
    """How many to enqueue; 0 for as many as go in."""
    workers: int = 3
    producers: int = 2
    rate: float = 0.0
    """Jobs a second; 0 for as many as go in, or for what `jobs` asks for."""
    half_rate: bool = False
    """Measure the top rate first, and work at half of it."""
    worker_kills: int
    server_kills: int
    concurrency: int = 50
    batch: int = 50
    backlog: int = 3_000
    lease_ms: int = 2_000
    fsync: str = "everysec"
    sabotage: str = ""
    """A fault of the product's own, put in on purpose; see `tests.chaos.sabotage`."""
    keeps_data: bool = True
    """False runs a server without persistence, which a kill empties."""
    keep: Path | None = None
    """Where all notes are left."""
