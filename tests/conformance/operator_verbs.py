"""The verbs of the golden vectors for operators, and of lock markers, in calls of the store."""

from typing import Any

from echomq_worker.domain.job import JobId
from echomq_worker.errors import ActiveJobsError, NotPausedError
from tests.conformance.server_verbs import ServerVerbs, refusal, refused


class OperatorVerbs(ServerVerbs):
    """A peer that empties queues, edits jobs by hand, and asks about limits."""

    async def drain(self, queue: str, include_scheduled: bool = False) -> int:  # noqa: FBT001, FBT002 - the vectors' word
        return await self.queue(queue).operator.drain(scheduled=include_scheduled)

    async def obliterate(self, queue: str, force: bool = False, budget: int = 1_000) -> Any:  # noqa: FBT001, FBT002 - the vectors' word
        try:
            done = await refused(self.queue(queue).operator.obliterate(force=force, budget=budget))
        except NotPausedError:
            return refusal("not_paused")
        except ActiveJobsError:
            return refusal("active")
        return {True: "done", False: "more"}.get(done, done)

    async def update_data(self, queue: str, id: str, payload: str | bytes) -> Any:  # noqa: A002
        body = payload.encode() if isinstance(payload, str) else payload
        done = await self.queue(queue).operator.update_data(JobId(id), body)
        return "ok" if done else refusal("gone")

    async def update_progress(self, queue: str, id: str, progress: str) -> Any:  # noqa: A002
        done = await self.queue(queue).operator.update_progress(JobId(id), progress)
        return "ok" if done else refusal("gone")

    async def add_log(self, queue: str, id: str, line: str, keep: int = 1_000) -> Any:  # noqa: A002
        count = await self.queue(queue).operator.add_log(JobId(id), line, keep)
        return refusal("gone") if count is None else count

    async def get_logs(self, queue: str, id: str) -> Any:  # noqa: A002
        notes = await self.queue(queue).operator.notes(JobId(id))
        return refusal("gone") if notes is None else list(notes.lines)

    async def get_dedup_job(self, queue: str, dedup_id: str) -> str | None:
        return await self.queue(queue).operator.holder(dedup_id)

    async def is_maxed(self, queue: str) -> Any:
        _, is_full = await self.queue(queue).operator.base_limits()
        return refusal("rate") if is_full else "ok"

    async def rate_ttl(self, queue: str, max: int) -> int:  # noqa: A002
        ms, _ = await self.queue(queue).operator.base_limits(max)
        return ms

    async def lock_track(self, queue: str, id: str, token: int, marker_ms: int) -> Any:  # noqa: A002
        verdict = await self.queue(queue).operator.lock(JobId(id), token, marker_ms)
        return {1: "ok", 0: refusal("gone"), 3: refusal("stale")}[verdict]

    async def lock_untrack(self, queue: str, id: str) -> str:  # noqa: A002
        await self.queue(queue).operator.unlock(JobId(id))
        return "ok"
