"""Lanes for tests: two of them, jobs in them, and the rotation."""

from typing import Any

from echomq_worker.domain.job import Admission, JobId, NewJob
from echomq_worker.domain.lanes import lane_group
from echomq_worker.store import QueueStore
from tests.support.look import Look

ACME, BOLT = lane_group("acme"), lane_group("bolt")


async def put(queue: QueueStore, lane: str, *ids: JobId, **fields: Any) -> list[Admission]:
    """Enqueue jobs to a lane; `fields` are those of `NewJob`."""
    group = lane_group(lane)
    jobs = [NewJob(id_, b"x", group=group, lane=lane, **fields) for id_ in ids]
    return await queue.enqueue(jobs)


async def ring(look: Look) -> list[str]:
    """Return the rotation."""
    return [lane.decode() for lane in await look.do("LRANGE", look.keys.ring, 0, -1)]
