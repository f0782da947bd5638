"""How outcomes are written to a queue in memory: the fence first, then the move."""

from collections.abc import Sequence

from echomq_worker.domain.job import Held, JobId
from echomq_worker.domain.outcome import (
    Buried,
    Completed,
    HandedBack,
    Outcome,
    Retried,
    Snoozed,
    Verdict,
)
from echomq_worker.domain.scheduling.records import RunOutcome
from echomq_worker.domain.views import KeptResult
from echomq_worker.testing.places import MemoryQueue
from echomq_worker.testing.rows import OVER, Row


def settle(queue: MemoryQueue, settlements: Sequence[tuple[Held, Outcome]]) -> list[Verdict]:
    """Write the outcomes whose writers still hold their jobs; return the verdict on each."""
    verdicts: list[Verdict] = []
    settled: set[JobId] = set()
    for held, outcome in settlements:
        verdict = Verdict.ALREADY if held.id in settled else _verdict(queue, held)
        if verdict is Verdict.OK:
            settled.add(held.id)
            row = queue.rows[held.id]
            queue.active.pop(held.id, None)
            queue.pending.discard(held.id)
            _write(queue, row, held, outcome)
        verdicts.append(verdict)
    return verdicts


def _verdict(queue: MemoryQueue, held: Held) -> Verdict:
    if (row := queue.rows.get(held.id)) is None:
        return Verdict.GONE
    if row.claim == held.claim + OVER:
        return Verdict.ALREADY
    if (row.token, row.claim) != (held.token, held.claim):
        return Verdict.STALE
    # Reaped, but claimed by nobody since: the work that was done counts.
    return Verdict.OK if held.id in queue.active or held.id in queue.pending else Verdict.STALE


def _write(queue: MemoryQueue, row: Row, held: Held, outcome: Outcome) -> None:
    row.claim = held.claim + OVER
    row.crashes = 0
    match outcome:
        case Completed(result, keep_ms):
            _complete(queue, row, result, keep_ms)
        case Retried(delay_ms, error, failures, counted):
            _remember(row, error, failures)
            row.returned += not counted
            queue.put_off(row, queue.now() + delay_ms)
        case Buried(error, failures, pauses):
            _remember(row, error, failures)
            queue.bury(row, error)
            if pauses:
                queue.on_unknown(row, error)
        case Snoozed(delay_ms, unknown, until_ms):
            since_ms = queue.now() if row.unknown_since_ms is None else row.unknown_since_ms
            row.unknown_since_ms = since_ms if unknown else None
            if not unknown:
                row.expires_no_more()
            row.returned += 1
            queue.put_off(row, queue.now() + delay_ms if until_ms is None else until_ms)
        case HandedBack(started):
            if started:
                row.expires_no_more()
            row.returned += 1
            queue.wait(row)


def _complete(queue: MemoryQueue, row: Row, result: bytes | None, keep_ms: int) -> None:
    if keep_ms > 0:
        now_ms = queue.now()
        kept = KeptResult("completed", result or b"", now_ms)
        queue.results[row.id] = (kept, now_ms + keep_ms)
    queue.ended(row, RunOutcome.COMPLETED)
    queue.forget(row.id)
    queue.completed += 1


def _remember(row: Row, error: str, failures: bytes) -> None:
    row.last_error = error
    row.failures = failures or row.failures
    row.unknown_since_ms = None
