"""The verbs of the golden vectors that need a server, spelled in calls of the store."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from echomq_worker.domain.ids import parse_id
from echomq_worker.domain.job import Admission, After, At, Held, JobId, NewJob
from echomq_worker.domain.outcome import Buried, Completed, Outcome, Retried, Snoozed, Verdict
from echomq_worker.errors import (
    InvalidArgumentError,
    InvalidIdError,
    WireVersionError,
)
from echomq_worker.store import Places, Removed, Requeued, Server, ServerOptions
from echomq_worker.store.calls import Caller
from echomq_worker.store.line import Line
from echomq_worker.store.queue import QueueStore
from tests.support.least_rights import ANY_QUEUE, least

Refusal = dict[str, str]
REAP_LIMIT = 100
COUNTED = {
    "pending": "pending",
    "active": "active",
    "schedule": "scheduled",
    "dead": "dead",
    "completed": "completed",
    "failed": "failed",
}


def refusal(word: str) -> Refusal:
    """Spell a refusal as the vectors do."""
    return {"error": word}


def is_refusal(answer: Any) -> bool:
    """Tell whether an answer is a refusal."""
    return isinstance(answer, dict)


def is_branded(text: str) -> bool:
    """Tell whether a text is a branded id of any namespace."""
    try:
        parse_id(text, None)
    except InvalidIdError:
        return False
    return True


def new_job(
    job_id: str, payload: str | bytes, due: After | At | None = None, group: str | None = None
) -> NewJob:
    """Make a raw job, as a producer of the base wire would."""
    body = payload if isinstance(payload, bytes) else payload.encode()
    return NewJob(JobId(parse_id(job_id).text), body, due, group=group)


def held(queue: str, job_id: str, token: object) -> Held:
    """Make what a caller without a claim id holds."""
    return Held(queue=queue, id=JobId(job_id), payload=b"", token=token, claim="")  # type: ignore[arg-type]


def as_job(job: Held) -> dict[str, Any]:
    """Spell a claimed job as the vectors do."""
    return {"id": job.id, "payload": job.payload, "attempts": job.token}


async def never_again(error: Exception, tries: int) -> None:
    """A vector runs on a healthy server: whatever goes wrong is a failure."""
    msg = f"try {tries}: {error}"
    raise AssertionError(msg)


class ServerVerbs:
    """A peer of the base wire: no receipts, no claim ids, no extension claim."""

    def __init__(self, url: str) -> None:
        self._url = least(url, queues=ANY_QUEUE)
        self._server = Server(ServerOptions(url=self._url, extension=None))
        self._lines: dict[str, Line] = {}

    async def close(self) -> None:
        """Close what the adapter opened."""
        for line in self._lines.values():
            await line.aclose()
        await self._server.aclose()

    def queue(self, name: str) -> QueueStore:
        """Return the queue, enqueued to by a caller without a name."""
        queue = self._server.queue(name)
        queue.use_caller(Caller(name=""))
        return queue

    def line(self, name: str) -> Line:
        """Return the line to a queue of a caller without a name."""
        if name not in self._lines:
            line = self.queue(name).line(trouble=never_again, caller=Caller(name=""))
            line.lanes = False  # the wire has verbs of their own for these
            self._lines[name] = line
        return self._lines[name]

    # --- admission -----------------------------------------------------------------------

    async def enqueue(self, queue: str, id: str, payload: str | bytes) -> Any:  # noqa: A002
        return (await self.enqueue_many(queue, [{"id": id, "payload": payload}]))[0]

    async def enqueue_many(self, queue: str, jobs: Sequence[dict[str, Any]]) -> list[Any]:
        return [await self._admit(queue, job["id"], job["payload"], None) for job in jobs]

    async def enqueue_at(self, queue: str, id: str, payload: str | bytes, at_ms: Any) -> Any:  # noqa: A002
        return await self._admit(queue, id, payload, At(at_ms))

    async def enqueue_in(self, queue: str, id: str, payload: str | bytes, delay_ms: Any) -> Any:  # noqa: A002
        return await self._admit(queue, id, payload, After(delay_ms))

    async def _admit(
        self,
        queue: str,
        job_id: str,
        payload: str | bytes,
        due: After | At | None,
        group: str | None = None,
    ) -> Any:
        try:
            job = new_job(job_id, payload, due, group)
        except InvalidIdError:
            return refusal("kind" if is_branded(job_id) else "invalid_id")
        admissions = await refused(self.queue(queue).enqueue([job]))
        return admissions if is_refusal(admissions) else admissions[0].value

    # --- claim and settle ----------------------------------------------------------------

    async def claim(self, queue: str, lease_ms: Any) -> Any:
        jobs = await self.claim_batch(queue, 1, lease_ms)
        return jobs if is_refusal(jobs) else (jobs[0] if jobs else None)

    async def claim_gated(
        self, queue: str, lease_ms: Any, between: Callable[[], Awaitable[None]]
    ) -> Any:
        await between()
        return await self.claim(queue, lease_ms)

    async def claim_batch(self, queue: str, size: Any, lease_ms: Any) -> Any:
        if not isinstance(size, int) or size < 1:
            return refusal("invalid_argument")
        claimed = await refused(self.line(queue).claim(limit=size, lease_ms=lease_ms, promote=0))
        return claimed if is_refusal(claimed) else [as_job(job) for job in claimed.jobs]

    async def complete(self, queue: str, id: str, token: Any, result: str | None = None) -> Any:  # noqa: A002
        outcome = Completed(None if result is None else result.encode())
        return await self._settle(queue, id, token, outcome, "ok", gone="gone")

    async def retry(
        self,
        queue: str,
        id: str,  # noqa: A002
        token: Any,
        delay_ms: Any,
        max_attempts: Any,
        error: str,
    ) -> Any:
        if not isinstance(max_attempts, int) or max_attempts < 1:
            return refusal("invalid_argument")
        if not isinstance(delay_ms, int) or delay_ms < 0:
            return refusal("invalid_argument")
        if token >= max_attempts:
            return await self._settle(queue, id, token, Buried(error), "dead", gone="stale")
        outcome = Retried(delay_ms, error)
        return await self._settle(queue, id, token, outcome, "scheduled", gone="stale")

    async def delay(self, queue: str, id: str, token: Any, delay_ms: Any) -> Any:  # noqa: A002
        if is_branded(id) and not id.startswith("JOB"):
            return refusal("kind")
        return await self._settle(queue, id, token, Snoozed(delay_ms), "ok", gone="gone")

    async def _settle(
        self, queue: str, job_id: str, token: Any, outcome: Outcome, done: str, *, gone: str
    ) -> Any:
        if not is_branded(job_id):
            return refusal("invalid_id")
        job = held(queue, job_id, token)
        settled = await refused(self.line(queue).settle([(job, outcome)]))
        if is_refusal(settled):
            return settled
        verdict = settled.verdicts[0]
        if verdict is Verdict.OK:
            return done
        return refusal(gone if verdict is Verdict.GONE else "stale")

    # --- leases and time -----------------------------------------------------------------

    async def promote(self, queue: str, limit: Any) -> Any:
        promoted = await refused(self.queue(queue).promote(limit))
        return promoted if is_refusal(promoted) else promoted.moved

    async def reap(self, queue: str, max_attempts: int = 0) -> int:
        reaped = await self.queue(queue).reap(REAP_LIMIT, max_attempts=max_attempts)
        return len(reaped.recovered) + len(reaped.buried)

    async def sweep_stalled(self, queue: str, max_stalled: int, limit: int) -> dict[str, list[str]]:
        swept = await self.queue(queue).sweep_stalled(limit, max_stalled)
        return {"recovered": list(swept.recovered), "dead": list(swept.buried)}

    async def job_stalled(self, queue: str, id: str) -> bool:  # noqa: A002
        view = await self.queue(queue).inspect(JobId(id))
        return view is not None and int(view.fields.get("stalled", b"0")) > 0

    async def extend_lock(self, queue: str, id: str, token: Any, lease_ms: Any) -> Any:  # noqa: A002
        verdicts = await refused(self.queue(queue).extend([held(queue, id, token)], lease_ms))
        if is_refusal(verdicts):
            return verdicts
        return "ok" if verdicts[0] is Verdict.OK else refusal(verdicts[0].value)

    async def extend_locks(self, queue: str, lease_ms: int, locks: list[list[Any]]) -> Any:
        jobs = [held(queue, job_id, token) for job_id, token in locks]
        verdicts = await refused(self.queue(queue).extend(jobs, lease_ms))
        if is_refusal(verdicts):
            return verdicts
        return [
            job.id for job, verdict in zip(jobs, verdicts, strict=True) if verdict is not Verdict.OK
        ]

    # --- operators -----------------------------------------------------------------------

    async def pause_queue(self, queue: str) -> str:
        await self.queue(queue).pause()
        return "ok"

    async def resume_queue(self, queue: str) -> str:
        await self.queue(queue).resume()
        return "ok"

    async def reprocess_job(self, queue: str, id: str) -> Any:  # noqa: A002
        (requeued,) = await self.queue(queue).requeue([JobId(id)])
        return "ok" if requeued is Requeued.OK else refusal(requeued.value)

    async def remove_job(self, queue: str, id: str, dedup_id: str = "") -> Any:  # noqa: A002
        removed = await self.queue(queue).remove(JobId(id), Places.ANY, dedup_id=dedup_id)
        if removed is Removed.OK:
            return "ok"
        return refusal("gone" if removed is Removed.GONE else "locked")

    async def get_counts(self, queue: str, names: list[str]) -> Any:
        if any(name not in COUNTED for name in names):
            return refusal("unknown_state")
        counts = await self.queue(queue).counts()
        return {name: getattr(counts, COUNTED[name]) for name in names}

    async def get_metrics(self, queue: str, name: str) -> dict[str, int]:
        counts = await self.queue(queue).counts()
        return {"count": getattr(counts, name), "data_points": 0}

    async def get_state(self, queue: str, id: str) -> str:  # noqa: A002
        view = await self.queue(queue).inspect(JobId(id))
        return "absent" if view is None else view.state.value

    async def get_job(self, queue: str, id: str) -> Any:  # noqa: A002
        view = await self.queue(queue).inspect(JobId(id))
        return None if view is None else dict(view.fields)

    async def browse_pending(self, queue: str, count: int) -> list[str]:
        return list(await self.queue(queue).pending_ids(count, newest_first=True))

    async def fence_check(self, own: str) -> Any:
        server = Server(ServerOptions(url=self._url, wire_version=own))
        try:
            await server.open()
        except WireVersionError as error:
            return {"error": "version_fence", "found": error.found}
        finally:
            await server.aclose()
        return "ok"


async def refused(call: Awaitable[Any]) -> Any:
    """Await a call; spell a refusal of its arguments as the vectors do."""
    try:
        return await call
    except InvalidIdError:
        return refusal("kind")
    except InvalidArgumentError:
        return refusal("invalid_argument")
    except (TypeError, ValueError):
        return refusal("invalid_argument")


__all__ = ["Admission", "ServerVerbs"]
