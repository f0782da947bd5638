"""The verbs of the golden vectors about lanes, in calls of the store."""

from collections.abc import Awaitable
from typing import Any

from echomq_worker.domain.ids import parse_group
from echomq_worker.domain.job import Held, JobId
from echomq_worker.domain.lanes import Reassigned, Turn
from echomq_worker.errors import InvalidIdError
from tests.conformance.server_verbs import (
    REAP_LIMIT,
    ServerVerbs,
    as_job,
    is_branded,
    is_refusal,
    refusal,
    refused,
)

MOST = 1_000


class LaneVerbs(ServerVerbs):
    """A peer that puts jobs into lanes, serves them, and looks after them."""

    async def lane_enqueue(self, queue: str, group: str, id: str, payload: str | bytes) -> Any:  # noqa: A002
        if not is_branded(group):
            return refusal("invalid_id")
        return await self._admit(queue, id, payload, None, group=group)

    async def lane_claim(self, queue: str, lease_ms: Any) -> Any:
        claimed = await self._claim_lane(queue, lease_ms, MOST, Turn.SINGLE)
        return claimed if is_refusal(claimed) else (claimed[0] if claimed else None)

    async def lane_wclaim(self, queue: str, lease_ms: Any) -> Any:
        return await self._claim_lane(queue, lease_ms, MOST, Turn.WEIGHTED)

    async def lane_bclaim(self, queue: str, lease_ms: Any, size: Any = MOST) -> Any:
        return await self._claim_lane(queue, lease_ms, size, Turn.BATCH)

    async def lane_pause(self, queue: str, group: str) -> Any:
        return await self._told(group, self.queue(queue).lanes.pause(group))

    async def lane_resume(self, queue: str, group: str) -> Any:
        return await self._told(group, self.queue(queue).lanes.resume(group))

    async def lane_limit(self, queue: str, group: str, limit: Any) -> Any:
        return await self._told(group, self.queue(queue).lanes.limit(group, limit))

    async def lane_weight(self, queue: str, group: str, weight: Any) -> Any:
        return await self._told(group, self.queue(queue).lanes.weight(group, weight))

    async def lane_reassign(self, queue: str, id: str, group: str) -> Any:  # noqa: A002
        reassigned = await self.queue(queue).lanes.reassign(JobId(id), group)
        done = {Reassigned.OK, Reassigned.NOOP}
        return reassigned.value if reassigned in done else refusal(reassigned.value)

    async def lane_drain(self, queue: str, group: str) -> int:
        return await self.queue(queue).lanes.drain(group)

    async def lane_reap_group(self, queue: str, group: str, limit: Any = REAP_LIMIT) -> Any:
        if not isinstance(limit, int) or limit < 1:
            return refusal("invalid_argument")
        reaped = await self.queue(queue).lanes.reap(group, limit)
        return len(reaped.recovered) + len(reaped.buried)

    async def lane_depth(self, queue: str, group: str) -> Any:
        if not is_branded(group):
            return refusal("invalid_id")
        return await self.queue(queue).lanes.depth(group)

    async def lane_depths(self, queue: str, groups: list[str]) -> dict[str, int]:
        return await self.queue(queue).lanes.depths(groups)

    async def _claim_lane(self, queue: str, lease_ms: Any, limit: Any, turn: Turn) -> Any:
        line = self.line(queue)
        claimed = await refused(line.claim_lane(limit=limit, lease_ms=lease_ms, turn=turn))
        return claimed if is_refusal(claimed) else [_lane_job(job) for job in claimed.jobs]

    async def _told(self, group: str, call: Awaitable[Any]) -> Any:
        # The wire knows lanes by their groups only.
        try:
            parse_group(group)
        except InvalidIdError:
            call.close()  # type: ignore[attr-defined]
            return refusal("invalid_id")
        told = await refused(call)
        return told if is_refusal(told) else "ok"


def _lane_job(job: Held) -> dict[str, Any]:
    return {**as_job(job), "group": job.group}
