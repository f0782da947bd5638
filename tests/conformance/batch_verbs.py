"""The verbs of the golden vectors about batches, in calls of the store."""

from dataclasses import asdict
from typing import Any

from echomq_worker.domain.batching import MISSING, enough_for_batch, partition
from echomq_worker.domain.outcome import Buried, Completed, Outcome, Retried, Snoozed, Verdict
from echomq_worker.errors import InvalidArgumentError
from tests.conformance.server_verbs import ServerVerbs, held, refusal

EVENTS: dict[type[Outcome], str] = {
    Completed: "completed",
    Buried: "failed",
    Retried: "failed",
    Snoozed: "delayed",
}


class BatchVerbs(ServerVerbs):
    """A peer that settles many jobs by the verdicts of one handler."""

    async def batch_decide(
        self, depth: int, elapsed_ms: int, min_size: int, timeout_ms: int
    ) -> Any:
        try:
            count = enough_for_batch(depth, elapsed_ms, size=min_size, wait_ms=timeout_ms)
        except InvalidArgumentError:
            return refusal("invalid_argument")
        return {"flush": count} if count else "wait"

    async def batch_settle(
        self,
        queue: str,
        members: list[dict[str, Any]],
        verdicts: dict[str, Any],
        retry_delay_ms: int,
        max_attempts: int,
    ) -> dict[str, Any]:
        jobs = [held(queue, member["id"], member["attempts"]) for member in members]
        outcomes = [
            _outcome(verdicts.get(job.id), job.token, retry_delay_ms, max_attempts) for job in jobs
        ]
        settled = await self.line(queue).settle(list(zip(jobs, outcomes, strict=True)))
        told = list(zip([job.id for job in jobs], outcomes, settled.verdicts, strict=True))
        events = [
            (EVENTS[type(outcome)], job_id)
            for job_id, outcome, verdict in told
            if verdict is Verdict.OK
        ]
        await self.queue(queue).operator.publish(events)
        return asdict(partition(told))


def _outcome(verdict: Any, token: int, retry_delay_ms: int, max_attempts: int) -> Outcome:
    if verdict == "ok":
        return Completed()
    said: dict[str, Any] = verdict or {"error": MISSING}
    if "delay_ms" in said:
        return Snoozed(said["delay_ms"])
    if token >= said.get("max_attempts", max_attempts):
        return Buried(said["error"])
    return Retried(retry_delay_ms, said["error"])
