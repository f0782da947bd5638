"""A scheduler that stands in an application's code."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from echomq_worker.domain.scheduling.spec import SchedulerSpec


@dataclass(frozen=True, slots=True)
class DeclaredScheduler:
    """What `@app.cron` or `@app.every` declares; a worker of its queue puts it on the server."""

    queue: str
    """Where the scheduler is, and its jobs go."""
    spec: "SchedulerSpec"
    place: str = ""
    """The function that it is declared at, for messages."""
