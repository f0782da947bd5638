"""Which dead jobs a command is about, and doing something to all of them."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from echomq_worker.cli.find import find_queues
from echomq_worker.domain.ids import parse_id
from echomq_worker.domain.job import JobId
from echomq_worker.domain.limits import BATCH
from echomq_worker.domain.queue_name import QueueWeight
from echomq_worker.domain.views import JobView, Places
from echomq_worker.errors import InvalidIdError
from echomq_worker.store import QueueStore, Server

AT_ONCE = 16
DONE = "ok"
NOT_DEAD = "not_dead"
MALFORMED = "malformed_id"
"""Among the dead is something that can be the id of no job."""


@dataclass(frozen=True, slots=True)
class Picked:
    """Dead jobs of one queue."""

    queue: str
    ids: Sequence[JobId]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one of them."""

    id: str
    queue: str | None
    outcome: str
    """`ok`, or why not."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What a command is about."""

    picked: Sequence[Picked]
    strangers: Sequence[JobId]
    """Ids that no queue has among its dead."""
    malformed: Sequence[Outcome] = ()
    """What is among the dead and can be no job."""

    @property
    def count(self) -> int:
        """How many dead jobs were found."""
        return sum(len(picked.ids) for picked in self.picked)


@dataclass(frozen=True, slots=True)
class Listing:
    """Dead jobs to be shown."""

    picked: Sequence[Picked]
    malformed: Sequence[Outcome]
    more: int
    """How many were left out because of the limit."""


async def list_dead(
    server: Server, queue: str | None, configured: Iterable[QueueWeight], limit: int | None
) -> Listing:
    """Find dead jobs, at most `limit` a queue (None for all), the latest enqueued first.

    Raises:
        CommandError: if there is no such queue.
    """
    picked: list[Picked] = []
    malformed: list[Outcome] = []
    more = 0
    for name in await find_queues(server, [queue] if queue else [], configured):
        store = server.queue(name)
        total = (await store.counts()).dead
        shown = total if limit is None else min(limit, total)
        ids, odd = _sorted_out(name, await _first_dead(store, shown))
        picked.append(Picked(name, ids))
        malformed += odd
        more += total - shown
    return Listing(picked, malformed, more)


async def view_all(server: Server, listing: Listing) -> list[JobView]:
    """Return all that is known of them."""
    views = [
        await server.queue(picked.queue).inspect(job_id)
        for picked in listing.picked
        for job_id in picked.ids
    ]
    return [view for view in views if view is not None]


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
    malformed: list[Outcome] = []
    left = list(dict.fromkeys(ids or ()))
    for name in names:
        store = server.queue(name)
        if ids is None:
            # Only as many as there are now: some may die again while they are brought back.
            found, odd = _sorted_out(name, await _first_dead(store, (await store.counts()).dead))
            malformed += odd
        else:
            found = await _among(store, left)
        here = set(found)
        left = [job_id for job_id in left if job_id not in here]
        if found:
            picked.append(Picked(name, found))
    return Choice(picked, left, malformed)


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


async def _first_dead(store: QueueStore, count: int) -> list[JobId]:
    found: list[JobId] = []
    for offset in range(0, count, BATCH):
        found += await store.dead_ids(min(BATCH, count - offset), offset=offset)
    return list(dict.fromkeys(found))


def _sorted_out(queue: str, members: Iterable[str]) -> tuple[list[JobId], list[Outcome]]:
    """Return the ids among members of the dead, and what is none."""
    ids: list[JobId] = []
    malformed: list[Outcome] = []
    for member in members:
        try:
            ids.append(JobId(parse_id(member).text))
        except InvalidIdError:
            malformed.append(Outcome(member, queue, MALFORMED))
    return ids, malformed


async def _among(store: QueueStore, ids: Sequence[JobId]) -> list[JobId]:
    found: list[JobId] = []
    for batch in _batches(ids, BATCH):
        found += await store.dead_among(batch)
    return found


def _strangers(choice: Choice) -> list[Outcome]:
    return [*choice.malformed, *(Outcome(each, None, NOT_DEAD) for each in choice.strangers)]


def _batches(ids: Sequence[JobId], size: int) -> Iterator[Sequence[JobId]]:
    for first in range(0, len(ids), size):
        yield ids[first : first + size]
