"""Keys of uniqueness in memory: who holds one, and what becomes of the next."""

from dataclasses import dataclass, replace

from echomq_worker.domain.job import Admission, After, JobId, NewJob, State
from echomq_worker.domain.scheduling.records import RunOutcome
from echomq_worker.domain.unique import Conflict, Mode, Release, Unique
from echomq_worker.testing.places import MemoryQueue
from echomq_worker.testing.rows import Row

_NEW = frozenset({Admission.ENQUEUED, Admission.SCHEDULED})


@dataclass(slots=True)
class Holding:
    """A key that is held."""

    job_id: JobId
    conflict: Conflict
    first_ms: int
    kept: JobId | None = None
    """The job that starts when the holder has ended."""


class InlineKeys:
    """The keys of one queue in memory."""

    def __init__(self, memory: MemoryQueue) -> None:
        self._memory = memory
        self._held: dict[str, Holding] = {}
        self._key_of: dict[JobId, Unique] = {}
        memory.on_free, memory.on_back = self._ended, self._brought_back

    def holder(self, key: str) -> JobId | None:
        """Return the job that holds a key; None if none does, or it is gone."""
        found = self._holding(key)
        return found.job_id if found and found.job_id in self._memory.rows else None

    def admit(self, job: NewJob, unique: Unique) -> tuple[Admission, JobId]:
        """Admit a job unless its key is held; return what became of it, and whose job that is."""
        if job.id in self._memory.rows:
            return Admission.DUPLICATE, job.id
        if (held := self._holding(unique.key)) is None:
            return self._take(job, unique), job.id
        row, mode = self._memory.rows.get(held.job_id), unique.conflict.mode
        kept = None if held.kept is None else self._memory.rows.get(held.kept)
        if kept is not None and mode is not Mode.REJECT:
            row, mode = kept, Mode.REPLACE
        if row is not None and row.state is State.ACTIVE and mode is Mode.KEEP_LATEST:
            return self._keep(held, job, unique)
        if row is None or row.state is State.ACTIVE or mode is Mode.REJECT:
            return Admission.HELD, held.job_id
        _replace(row, job)
        if mode is Mode.DEBOUNCE and row.state is State.SCHEDULED:
            self._postpone(row, held, unique.conflict)
            return Admission.POSTPONED, row.id
        return Admission.REPLACED, row.id

    def release(self, key: str) -> bool:
        """Set a key free, whoever holds it; False if it was."""
        if (held := self._holding(key)) is None:
            return False
        del self._held[key]
        self._pass_on(held)
        return True

    def clear(self) -> None:
        """Forget all keys."""
        self._held.clear()
        self._key_of.clear()

    def _take(self, job: NewJob, unique: Unique) -> Admission:
        if unique.conflict.mode is Mode.DEBOUNCE:
            job = replace(job, due=After(unique.conflict.wait_ms))
        admission = self._memory.admit(job)
        if admission in _NEW:
            self._hold(job.id, unique)
        return admission

    def _hold(self, job_id: JobId, unique: Unique) -> None:
        self._key_of[job_id] = unique
        self._held[unique.key] = Holding(job_id, unique.conflict, self._memory.now())

    def _keep(self, held: Holding, job: NewJob, unique: Unique) -> tuple[Admission, JobId]:
        held.kept = job.id
        row = self._memory.rows[job.id] = Row.of(job)
        row.gate = f"unique:{unique.key}"
        self._key_of[job.id] = unique
        return Admission.KEPT, job.id

    def _postpone(self, row: Row, held: Holding, conflict: Conflict) -> None:
        now_ms = self._memory.now()
        due_ms = now_ms + conflict.wait_ms
        if conflict.most_ms and held.conflict.mode is Mode.DEBOUNCE:
            due_ms = min(due_ms, max(now_ms, held.first_ms + conflict.most_ms))
        row.is_due(due_ms)
        self._memory.schedule[row.id] = due_ms

    def _holding(self, key: str) -> Holding | None:
        if (held := self._held.get(key)) is None:
            return None
        if held.conflict.release is Release.TTL:
            return held if self._memory.now() < held.first_ms + held.conflict.ttl_ms else None
        row = self._memory.rows.get(held.job_id)
        if row is None or row.state is State.DEAD:
            return None
        return None if held.conflict.release is Release.START and row.token else held

    def _ended(self, row: Row, outcome: RunOutcome) -> None:
        """A job has completed, died or was removed."""
        if (unique := self._key_of.get(row.id)) is None:
            return
        if outcome is not RunOutcome.DEAD:
            del self._key_of[row.id]
        held = self._held.get(unique.key)
        if held is None or held.job_id != row.id:
            return
        if held.conflict.release is not Release.TTL or outcome is RunOutcome.REMOVED:
            del self._held[unique.key]
        self._pass_on(held)

    def _pass_on(self, held: Holding) -> None:
        heir = None if held.kept is None else self._memory.rows.get(held.kept)
        if heir is not None:
            self._hold(heir.id, self._key_of[heir.id])
            heir.gate = None
            self._memory.wait(heir)

    def _brought_back(self, row: Row) -> None:
        """A dead job waits again: it holds its key if nobody else does."""
        unique = self._key_of.get(row.id)
        if unique is None or unique.conflict.release is not Release.FINISH:
            return
        if self._holding(unique.key) is None:
            self._hold(row.id, unique)


def _replace(row: Row, job: NewJob) -> None:
    row.payload, row.name = job.payload, job.name
