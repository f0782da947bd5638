"""Keys of uniqueness in memory: who holds one, and what becomes of the next."""

from dataclasses import dataclass, replace

from echomq_worker.domain.job import Admission, After, JobId, NewJob, State
from echomq_worker.domain.unique import Mode, Release, Unique
from echomq_worker.testing.places import MemoryQueue


@dataclass(slots=True)
class Holding:
    """A key that is held."""

    job_id: JobId
    release: Release
    first_ms: int
    until_ms: int | None = None
    """For a key that is held for a time: when it is free again, in Unix ms."""
    kept: NewJob | None = None
    """What starts when the holder has ended."""


class InlineKeys:
    """The keys of one queue in memory."""

    def __init__(self, memory: MemoryQueue) -> None:
        self._memory = memory
        self._held: dict[str, Holding] = {}
        memory.before_claim = self.wake_kept

    def holder(self, key: str) -> JobId | None:
        """Return the job that holds a key; None if none does."""
        found = self._held.get(key)
        return found.job_id if found and self._holds(found) else None

    def admit(self, job: NewJob, unique: Unique) -> tuple[Admission, JobId]:
        """Admit a job unless its key is held."""
        memory, mode = self._memory, unique.conflict.mode
        if job.id in memory.rows:
            return Admission.DUPLICATE, job.id
        held = self._held.get(unique.key)
        if held is None or not self._holds(held):
            return self._hold(job, unique), job.id
        row = memory.rows.get(held.job_id)
        begun = row is None or row.state is State.ACTIVE
        if mode is Mode.KEEP_LATEST and row is not None and begun:
            return self._keep(held, job)
        if row is None or mode is Mode.REJECT or begun:
            return Admission.HELD, held.job_id
        row.payload = job.payload
        if mode is Mode.DEBOUNCE and row.state is State.SCHEDULED:
            due_ms = memory.now() + unique.conflict.wait_ms
            if most_ms := unique.conflict.most_ms:
                due_ms = min(due_ms, max(memory.now(), held.first_ms + most_ms))
            memory.schedule[row.id] = due_ms
            return Admission.POSTPONED, row.id
        return Admission.REPLACED, row.id

    def wake_kept(self) -> None:
        """Let what was kept until a holder has ended wait to be claimed."""
        for held in self._held.values():
            if held.kept is not None and not self._holds(held):
                job, held.kept = held.kept, None
                held.job_id = job.id
                self._memory.admit(job)

    def _hold(self, job: NewJob, unique: Unique) -> Admission:
        conflict, now_ms = unique.conflict, self._memory.now()
        until_ms = now_ms + conflict.ttl_ms if conflict.release is Release.TTL else None
        self._held[unique.key] = Holding(job.id, conflict.release, now_ms, until_ms)
        if conflict.mode is Mode.DEBOUNCE:
            job = replace(job, due=After(conflict.wait_ms))
        return self._memory.admit(job)

    def _keep(self, held: Holding, job: NewJob) -> tuple[Admission, JobId]:
        if held.kept is None:
            held.kept = job
            return Admission.KEPT, job.id
        held.kept = replace(held.kept, payload=job.payload)
        return Admission.REPLACED, held.kept.id

    def _holds(self, held: Holding) -> bool:
        row = self._memory.rows.get(held.job_id)
        if held.until_ms is not None:
            return self._memory.now() < held.until_ms
        if row is None or row.state is State.DEAD:
            return False
        return held.release is not Release.START or row.token == 0
