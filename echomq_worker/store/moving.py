"""What people and producers move: waiting jobs to another time, dead ones back, any one away."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

from echomq_worker.domain.ids import parse_id
from echomq_worker.domain.job import After, Due, JobId
from echomq_worker.domain.limits import BATCH
from echomq_worker.domain.priority import checked_priority
from echomq_worker.domain.views import Moved, Places, Removed, Reprioritized, Requeued
from echomq_worker.errors import UnavailableError
from echomq_worker.protocol.scripts import Operand
from echomq_worker.store.calls import random_name
from echomq_worker.store.wire import Reply, ask_again

_REMOVED = (Removed.GONE, Removed.OK, Removed.ELSEWHERE, Removed.ACTIVE, Removed.LOCKED)
_REQUEUED = {"0": Requeued.GONE, "1": Requeued.OK, "3": Requeued.NOT_DEAD}
_REPRIORITIZED = {
    "0": Reprioritized.GONE,
    "1": Reprioritized.OK,
    "2": Reprioritized.NOT_WAITING,
    "3": Reprioritized.LANE,
}
_MOVED = {"0": Moved.GONE, "1": Moved.OK, "3": Moved.NOT_SCHEDULED}

Run = Callable[[str, Mapping[str, Operand], Sequence[Operand]], Awaitable[Reply]]
"""Runs a script of the queue, by name, once."""


class Mover:
    """Moves jobs of one queue. `QueueStore` passes on to it.

    Args:
        run: runs a script of the queue.
        log_size: about how many events the queue's log keeps; 0 for none.
        new_caller: names the caller of one call; nobody else has the name.
    """

    def __init__(
        self, run: Run, log_size: int, new_caller: Callable[[], str] = random_name
    ) -> None:
        self._run = run
        self._log_size = log_size
        self._new_caller = new_caller

    async def reschedule(self, ids: Sequence[JobId], due: Due) -> list[Moved]:
        """Let jobs that wait in `schedule` be due at another time; return what became of each."""
        mode, ms = ("in", due.delay_ms) if isinstance(due, After) else ("at", due.unix_ms)
        return await self._move("reschedule", {"mode": mode, "ms": ms}, ids)

    async def promote(self, ids: Sequence[JobId]) -> list[Moved]:
        """Let jobs that wait in `schedule` be claimed now; return what became of each."""
        return await self._move("promote_job", {}, ids)

    async def reprioritize(self, ids: Sequence[JobId], priority: int) -> list[Reprioritized]:
        """Let jobs have another priority; return what became of each."""
        checked_priority(priority)
        verdicts: list[Reprioritized] = []
        for part in _parts(ids):
            reply = await self.once("reprioritize", {"priority": priority}, part)
            verdicts += (_REPRIORITIZED[character] for character in reply.decode())
        return verdicts

    async def requeue(self, ids: Sequence[JobId]) -> list[Requeued]:
        """Bring dead jobs back; return what became of each."""
        verdicts: list[Requeued] = []
        for part in _parts(ids):
            reply = await self.once("requeue", {}, part)
            verdicts += (_REQUEUED[character] for character in reply.decode())
        return verdicts

    async def remove(self, job_id: JobId, places: Places, dedup_id: str) -> Removed:
        """Remove a job from one of `places`; return what became of it."""
        parse_id(job_id)
        args = {"id": job_id, "dedup": dedup_id, "places": places.value}
        verdict: int = await self.once("remove", args, ())
        return _REMOVED[verdict]

    async def _move(
        self, script: str, args: Mapping[str, Operand], ids: Sequence[JobId]
    ) -> list[Moved]:
        verdicts: list[Moved] = []
        for part in _parts(ids):
            reply = await self.once(script, args, part)
            verdicts += (_MOVED[character] for character in reply.decode())
        return verdicts

    async def once(self, script: str, args: Mapping[str, Operand], ids: Sequence[Operand]) -> Reply:
        """Run a script that takes receipts, and ask until there is an answer: it is done once.

        Without one, a call that is asked again, or comes late, would count a delay anew, and move
        the retry of a job that has meanwhile run.
        """
        call: dict[str, Operand] = {
            **args,
            "caller": self._new_caller(),
            "call_number": 1,
            "again": "0",
            "log_size": self._log_size,
        }

        async def ask() -> Reply:
            try:
                return await self._run(script, call, ids)
            except UnavailableError:
                call["again"] = "1"
                raise

        return await ask_again(ask)


def _parts(ids: Sequence[JobId]) -> Iterator[Sequence[JobId]]:
    for job_id in ids:
        parse_id(job_id)
    for first in range(0, len(ids), BATCH):
        yield ids[first : first + BATCH]
