"""What stands on a server while something is measured: jobs and schedulers that are not yet due."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice

from redis.asyncio import Redis

from bench.jobs import app
from echomq_worker.domain.job import At, JobId, NewJob
from echomq_worker.domain.scheduling.spec import scheduler_spec
from echomq_worker.domain.scheduling.template import Template
from echomq_worker.protocol.keyspace import Keyspace
from echomq_worker.store import QueueStore

BATCH = 5_000
AT_ONCE = 50
HOUR_MS = 3_600_000


def ids() -> Iterator[JobId]:
    """Mint ids without end."""
    while True:
        yield app.new_job_id()


async def add_members(client: Redis, queue: str, count: int, now_ms: int) -> None:
    """Put ids into `schedule` that are due in an hour and later.

    They have no rows: nothing that is measured looks at a row before its job is due.
    """
    key = Keyspace(queue).schedule
    for first in range(0, count, BATCH):
        size = min(BATCH, count - first)
        due = {job_id: now_ms + HOUR_MS + first + i for i, job_id in enumerate(islice(ids(), size))}
        await client.zadd(key, due)  # pyright: ignore[reportArgumentType, reportUnknownMemberType]


async def add_jobs(queue: QueueStore, dues: Sequence[int], name: str, payload: bytes) -> None:
    """Enqueue jobs, rows and all, each due at an instant (Unix ms)."""
    made = (NewJob(app.new_job_id(), payload, At(due), name) for due in dues)
    while batch := list(islice(made, BATCH)):
        await queue.enqueue(batch)


async def add_schedulers(
    queue: QueueStore, names: Iterable[str], *, job: str, first: datetime | None = None
) -> None:
    """Declare schedulers that fire once a year.

    Args:
        queue: where.
        names: what they are called.
        job: what they call.
        first: the instant of all their first occurrences; None for a day some months away.
    """
    template = Template(name=job, payload=b"{}")
    start = first or datetime.now(UTC) + timedelta(days=180)
    waiting = iter(names)

    async def put() -> None:
        for name in waiting:
            spec = scheduler_spec(name, template=template, every="365d", start=start)
            await queue.schedulers.put(spec, force=False, source="api", tz="")

    await asyncio.gather(*(put() for _ in range(AT_ONCE)))
