"""Whether everything in a queue is where it belongs."""

from collections.abc import Sequence

from echomq_worker.domain.finding import Finding
from echomq_worker.store import Server


async def audit(server: Server, queue: str) -> list[Finding]:
    """Return what is out of place in a queue."""
    _ = server, queue
    return []


async def repair(server: Server, queue: str, findings: Sequence[Finding]) -> list[Finding]:
    """Repair what can be repaired; return what was done."""
    _ = server, queue, findings
    return []
