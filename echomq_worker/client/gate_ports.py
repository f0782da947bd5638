"""What the client needs of what keeps jobs back."""

from typing import Protocol

from echomq_worker.domain.gates import Gates, Rate
from echomq_worker.domain.job import JobId


class GateStore(Protocol):
    """The limits of one queue, and what has been stopped there."""

    async def limit_rate(self, scope: str, rate: Rate | None) -> bool:
        """Set how often jobs of a scope may start; None takes the limit away."""
        ...

    async def limit_concurrency(self, scope: str, most: int | None) -> bool:
        """Set how many jobs of a scope may be active at once; None takes the limit away."""
        ...

    async def strike(
        self,
        scope: str,
        *,
        for_ms: int | None = None,
        at_least: bool = False,
        reason: str = "",
        by: str = "",
    ) -> int | None:
        """Stop jobs of a scope before they start; return when they go on, in Unix ms."""
        ...

    async def lift(self, scope: str) -> bool:
        """Let stopped jobs go on; False if they were not stopped."""
        ...

    async def expected_ms(self, job_id: JobId) -> int | None:
        """Return when a job may start, in Unix ms, as far as clocks and rates tell."""
        ...

    async def read(self) -> Gates:
        """Return all gates."""
        ...
