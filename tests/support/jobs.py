"""Jobs for tests: ids whose order can be seen, and the calls that tests make all the time."""

from collections.abc import Sequence

from echomq_worker.domain.ids import BrandedId
from echomq_worker.domain.job import After, At, Claimed, Held, JobId, NewJob
from echomq_worker.domain.outcome import Outcome, Verdict
from echomq_worker.store import QueueStore, Settled
from echomq_worker.store.line import Line

_FIRST = 323_249_976_117_297_153
LEASE_MS = 60_000
"""Longer than any test."""


def job_id(number: int) -> JobId:
    """Return the id of the job with this number; a higher number was minted later."""
    return JobId(BrandedId.of("JOB", _FIRST + number).text)


A, B, C, D, E, F = (job_id(number) for number in range(6))
"""Six jobs in mint order."""


def new_job(
    id_: JobId,
    *,
    payload: bytes | None = None,
    after_ms: int | None = None,
    at_ms: int | None = None,
    name: str | None = None,
    max_attempts: int | None = None,
    keep_result_ms: int | None = None,
) -> NewJob:
    """Make a job whose payload is its own id, unless another is given."""
    due = At(at_ms) if at_ms is not None else None if after_ms is None else After(after_ms)
    body = id_.encode() if payload is None else payload
    return NewJob(id_, body, due, name, max_attempts, keep_result_ms)


async def enqueue(queue: QueueStore, *ids: JobId) -> None:
    """Put jobs into `pending`."""
    await queue.enqueue([new_job(id_) for id_ in ids])


async def claim(line: Line, limit: int = 1, *, promote: int = 0) -> Sequence[Held]:
    """Claim jobs for longer than a test lasts."""
    return (await handout(line, limit, promote=promote)).jobs


async def handout(line: Line, limit: int = 1, *, promote: int = 0) -> Claimed:
    """Claim jobs, and return all that the claim says."""
    return await line.claim(limit=limit, lease_ms=LEASE_MS, promote=promote)


async def claim_one(line: Line) -> Held:
    """Claim the one job that must be there."""
    (held,) = await claim(line)
    return held


async def settle(line: Line, held: Held, outcome: Outcome) -> Verdict:
    """Settle one job and claim nothing."""
    (verdict,) = (await line.settle([(held, outcome)])).verdicts
    return verdict


async def settle_and_claim(
    line: Line, settlements: Sequence[tuple[Held, Outcome]], limit: int, *, promote: int = 0
) -> Settled:
    """Settle jobs, and claim the next ones in the same call."""
    return await line.settle(settlements, limit=limit, lease_ms=LEASE_MS, promote=promote)
