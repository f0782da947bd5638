"""Work under way: producers enqueue and workers run jobs, while a test breaks things."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from echomq_worker.domain.job import Held, JobId
from echomq_worker.domain.outcome import Completed, HandedBack, Outcome, Retried, Verdict
from echomq_worker.store import QueueStore
from tests.support.jobs import LEASE_MS, job_id, new_job

GROUP = 10


@dataclass
class Load:
    """So many jobs of one queue. Every third is due a little later, every fifth fails once."""

    queue: QueueStore
    size: int
    completed: Counter[JobId] = field(default_factory=Counter[JobId])
    refused: list[Verdict] = field(default_factory=list[Verdict])
    troubles: int = 0
    is_under_way: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a third of the jobs have completed."""

    async def run(self, workers: int = 3) -> None:
        """Enqueue the jobs and run them all; at most half a minute."""
        async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
            tasks.create_task(self._produce())
            for _ in range(workers):
                tasks.create_task(self._work())

    def is_done(self) -> bool:
        """Tell whether every job has completed."""
        return len(self.completed) == self.size

    async def _produce(self) -> None:
        for first in range(0, self.size, GROUP):
            numbers = range(first, min(first + GROUP, self.size))
            await self.queue.enqueue(
                [new_job(job_id(n), after_ms=None if n % 3 else n % 7) for n in numbers]
            )
            await asyncio.sleep(0.001)

    async def _work(self) -> None:
        line = self.queue.line(trouble=self._trouble)
        settlements: list[tuple[Held, Outcome]] = []
        while not self.is_done():
            settled = await line.settle(settlements, limit=4, lease_ms=LEASE_MS, promote=50)
            for (held, outcome), verdict in zip(settlements, settled.verdicts, strict=True):
                if verdict is not Verdict.OK:
                    self.refused.append(verdict)
                elif isinstance(outcome, Completed):
                    self.completed[held.id] += 1
            if len(self.completed) >= self.size // 3:
                self.is_under_way.set()
            settlements = [(held, outcome_for(held)) for held in settled.claimed.jobs]
            await asyncio.sleep(0 if settlements else 0.002)
        await line.aclose()

    async def _trouble(self, error: Exception, tries: int) -> None:
        self.troubles += 1
        assert tries < 1_000, error
        await asyncio.sleep(0.002)


def outcome_for(held: Held) -> Outcome:
    """Complete a job, unless it is to fail or to be handed back once."""
    number = int.from_bytes(held.id.encode()[-2:])
    if held.token == 1 and number % 5 == 0:
        return Retried(1, "no")
    return HandedBack() if held.token == 1 and number % 11 == 0 else Completed()


@asynccontextmanager
async def meanwhile(
    disturb: Callable[[], Awaitable[object]], every_s: float, times: int = 20
) -> AsyncGenerator[None]:
    """Do something again and again inside a block."""

    async def again() -> None:
        for _ in range(times):
            await asyncio.sleep(every_s)
            await disturb()

    task = asyncio.create_task(again())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def ids(size: int) -> Sequence[JobId]:
    """Return the ids of a load of so many jobs."""
    return [job_id(number) for number in range(size)]
