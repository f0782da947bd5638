"""Which dead jobs a command is about, and doing something to all of them."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from echomq_worker.cli.find import find_queues
from echomq_worker.domain.job import JobId
from echomq_worker.domain.queue_name import QueueWeight
from echomq_worker.domain.views import Places
from echomq_worker.store import QueueStore, Server

BATCH = 1_000
AT_ONCE = 16
DONE = "ok"
NOT_DEAD = "not_dead"


@dataclass(frozen=True, slots=True)
class Picked:
    """Dead jobs of one queue."""

    queue: str
    ids: Sequence[JobId]


@dataclass(frozen=True, slots=True)
class Choice:
    """What a command is about."""

    picked: Sequence[Picked]
    strangers: Sequence[JobId]
    """Ids that no queue has among its dead."""

    @property
    def count(self) -> int:
        """How many dead jobs were found."""
        return sum(len(picked.ids) for picked in self.picked)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one of them."""

    id: JobId
    queue: str | None
    outcome: str
    """`ok`, or why not."""


async def choose(
    server: Server,
    ids: Sequence[JobId] | None,
    queue: str | None,
    configured: Iterable[QueueWeight],
) -> Choice:
    """Find dead jobs.

    Args:
        server: where to look.
        ids: those that are meant; None means all that are dead now.
        queue: the only queue to look into; None looks into all.
        configured: the queues of the settings.

    Raises:
        CommandError: if there is no such queue.
    """
    names = await find_queues(server, [queue] if queue else [], configured)
    picked: list[Picked] = []
    left = list(dict.fromkeys(ids or ()))
    for name in names:
        store = server.queue(name)
        found = await (_all_dead(store) if ids is None else _among(store, left))
        here = set(found)
        left = [job_id for job_id in left if job_id not in here]
        if found:
            picked.append(Picked(name, found))
    return Choice(picked, left)


async def requeue_all(server: Server, choice: Choice) -> list[Outcome]:
    """Bring them back; return what became of each."""
    outcomes: list[Outcome] = []
    for picked in choice.picked:
        store = server.queue(picked.queue)
        for batch in _batches(picked.ids, BATCH):
            for job_id, verdict in zip(batch, await store.requeue(batch), strict=True):
                outcomes.append(Outcome(job_id, picked.queue, verdict.value))
    return outcomes + _strangers(choice)


async def remove_all(server: Server, choice: Choice) -> list[Outcome]:
    """Remove them for good; return what became of each."""
    outcomes: list[Outcome] = []
    for picked in choice.picked:
        store = server.queue(picked.queue)
        for batch in _batches(picked.ids, AT_ONCE):
            removals = [store.remove(job_id, Places.DEAD) for job_id in batch]
            for job_id, verdict in zip(batch, await asyncio.gather(*removals), strict=True):
                outcomes.append(Outcome(job_id, picked.queue, verdict.value))
    return outcomes + _strangers(choice)


async def _all_dead(store: QueueStore) -> list[JobId]:
    # Only as many as there are now: some may die again while they are brought back.
    total = (await store.counts()).dead
    found: list[JobId] = []
    for offset in range(0, total, BATCH):
        found += await store.dead_ids(BATCH, offset=offset)
    return list(dict.fromkeys(found))


async def _among(store: QueueStore, ids: Sequence[JobId]) -> list[JobId]:
    found: list[JobId] = []
    for batch in _batches(ids, BATCH):
        found += await store.dead_among(batch)
    return found


def _strangers(choice: Choice) -> list[Outcome]:
    return [Outcome(job_id, None, NOT_DEAD) for job_id in choice.strangers]


def _batches(ids: Sequence[JobId], size: int) -> Iterator[Sequence[JobId]]:
    for first in range(0, len(ids), size):
        yield ids[first : first + size]
