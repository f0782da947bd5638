"""What operators do to a queue as a whole, and to a job by hand."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

from echomq_worker.domain.job import JobId
from echomq_worker.domain.readings import LaneReading, QueueReading, read_set
from echomq_worker.domain.views import JobNotes
from echomq_worker.errors import ActiveJobsError, InvalidArgumentError, NotPausedError
from echomq_worker.protocol.keyspace import Keyspace, check_dedup_id
from echomq_worker.protocol.rows import read_text
from echomq_worker.protocol.scripts import Operand
from echomq_worker.store.wire import Reply

SLICE = 500
"""So many jobs a call removes."""
BUDGET = 1_000
LOG_LINES = 1_000
"""A job keeps so many lines of its log."""
LINE_CHARACTERS = 4_096

Change = Callable[[str, Mapping[str, Operand], Sequence[Operand]], Awaitable[Reply]]
"""Runs a script of the queue, by name; asked again if it was not answered."""
Scan = Callable[[int, str], Awaitable[tuple[int, Sequence[bytes]]]]
"""Looks through a slice of the server's keys for those of a pattern."""
_MORE, _NOT_PAUSED, _ACTIVE = 1, 2, 3


class OperatorStore:
    """The verbs of operators on one queue. Reached as `QueueStore.operator`.

    Every method raises `ServerError` (or one of its kinds) if the server refuses or is silent.
    """

    def __init__(self, keys: Keyspace, change: Change, scan: Scan, log_size: int) -> None:
        self._keys = keys
        self._change = change
        self._scan = scan
        self._log_size = log_size

    async def drain(self, *, scheduled: bool = False) -> int:
        """Remove the jobs that wait, but for lanes; return how many.

        What is enqueued while this runs may go too, and may stay. Safe to repeat.

        Args:
            scheduled: whether to remove what is due later as well.
        """
        args: dict[str, Operand] = {
            "limit": SLICE,
            "scheduled": "1" if scheduled else "0",
            "log_size": self._log_size,
        }
        total, rest = 0, None
        while rest is None or rest > 0:
            removed, left = await self._change("drain", args, ())
            total += removed
            # No more than waited at the first look: a busy producer must not keep this going.
            rest = left if rest is None else min(left, rest - removed)
            if not removed:
                break
        return total

    async def obliterate(self, *, force: bool = False, budget: int = BUDGET) -> bool:
        """Remove part of a paused queue for good; True once it is gone, jobs first, then its keys.

        Nobody is told: parents in other queues wait on. Safe to repeat, to be repeated until done.

        Args:
            force: whether to go on though jobs are active.
            budget: how many jobs to remove at most.

        Raises:
            NotPausedError: if the queue is not paused.
            ActiveJobsError: if jobs are active, without `force`.
            InvalidArgumentError: if the budget is no number from 1.
        """
        if type(budget) is not int or budget < 1:
            msg = f"the budget is {budget!r}: expected a whole number of jobs, from 1"
            raise InvalidArgumentError(msg)
        if await self._remove_jobs(force=force, budget=budget, last=False):
            return False
        async for suffixes in self._leftovers():
            if await self._change("sweep_keys", {}, suffixes) < 0:
                raise NotPausedError(self._not_paused())
        return not await self._remove_jobs(force=force, budget=budget, last=True)

    async def update_data(self, job_id: JobId, payload: bytes) -> bool:
        """Replace the payload of a job; False if there is none. A run goes on with the old one."""
        return await self._change("update_data", {"id": job_id, "payload": payload}, ()) == 1

    async def update_progress(self, job_id: JobId, progress: str) -> bool:
        """Write down how far a job has come, and publish it; False if there is no such job."""
        told = progress[:LINE_CHARACTERS]
        event = json.dumps({"event": "progress", "job": job_id, "progress": told})
        args: dict[str, Operand] = {"id": job_id, "progress": told, "event": event}
        return await self._change("update_progress", args, ()) == 1

    async def add_log(self, job_id: JobId, line: str, keep: int = LOG_LINES) -> int | None:
        """Add a line to a job's log; return how many there are, None if there is no such job."""
        args: dict[str, Operand] = {"id": job_id, "line": line[:LINE_CHARACTERS], "keep": keep}
        count: int = await self._change("add_log", args, ())
        return None if count < 0 else count

    async def notes(self, job_id: JobId) -> JobNotes | None:
        """Return progress and log of a job; None if there is no such job."""
        args: dict[str, Operand] = {"id": job_id, "most": LOG_LINES}
        there, progress, lines = await self._change("read_job", args, ())
        if not there:
            return None
        told = tuple(read_text(line) or "" for line in lines)
        return JobNotes(read_text(progress) or None, told)

    async def publish(self, events: Sequence[tuple[str, JobId]]) -> None:
        """Tell those who listen to the queue what has become of jobs: the event, and the job."""
        texts: list[Operand] = [
            json.dumps({"event": event, "job": job_id}) for event, job_id in events
        ]
        await self._change("publish", {}, texts)

    async def base_limits(self, most: int = 0) -> tuple[int, bool]:
        """Return what the base wire tells of limits: ms to wait, and whether no more may be active.

        Args:
            most: how many a window of `limiter` may have; 0 for what `meta` says.
        """
        ms, is_full = await self._change("base_limits", {"most": most}, ())
        return ms, is_full == 1

    async def reading(self, head: int) -> QueueReading:
        """Return the sets of the queue with the first members of each, decoded.

        Args:
            head: how many members of each, 1 to 100.
        """
        now_ms, paused, sets, lane_count, lanes = await self._change(
            "read_queue", {"head": head}, ()
        )
        return QueueReading(
            now_ms=now_ms,
            is_paused=paused == 1,
            sets=tuple(
                read_set(suffix.decode(), count, [_text(each) for each in flat])
                for suffix, count, flat in sets
            ),
            lanes=tuple(
                LaneReading(
                    _text(group),
                    _text(name),
                    waiting,
                    int(active or 0),
                    int(limit) if limit else None,
                )
                for group, name, waiting, active, limit in lanes
            ),
            lane_count=lane_count,
        )

    async def holder(self, key: str) -> JobId | None:
        """Return the job that holds a key of uniqueness; None if none does."""
        found: bytes = await self._change("unique_holder", {"dedup": check_dedup_id(key)}, ())
        return JobId(found.decode()) if found else None

    async def release(self, key: str) -> bool:
        """Set a key of uniqueness free, whoever holds it; False if it was."""
        return await self._change("release_key", {"dedup": check_dedup_id(key)}, ()) == 1

    async def lock(self, job_id: JobId, token: int, ms: int) -> int:
        """Mark a held job, so that nobody removes it; 1, or 0 for gone, 3 for not held."""
        return await self._change("lock_track", {"id": job_id, "token": token, "ms": ms}, ())

    async def unlock(self, job_id: JobId) -> None:
        """Let go of the mark of a job."""
        await self._change("lock_track", {"id": job_id, "token": 0, "ms": 0}, ())

    async def _remove_jobs(self, *, force: bool, budget: int, last: bool) -> bool:
        while budget > 0:
            some = min(budget, SLICE)
            args: dict[str, Operand] = {"force": int(force), "budget": some, "last": int(last)}
            verdict = await self._change("obliterate", args, ())
            if verdict == _NOT_PAUSED:
                raise NotPausedError(self._not_paused())
            if verdict == _ACTIVE:
                msg = f"jobs of queue {self._keys.queue} are active: wait for them, or force it"
                raise ActiveJobsError(msg)
            if verdict != _MORE:
                return False
            budget -= some
        return True

    async def _leftovers(self) -> AsyncIterator[list[bytes]]:
        root, cursor = self._keys.root.encode(), 0
        while True:
            cursor, names = await self._scan(cursor, f"{self._keys.root}*")
            if names:
                yield [name.removeprefix(root) for name in names]
            if cursor == 0:
                return
            await asyncio.sleep(0)

    def _not_paused(self) -> str:
        return f"queue {self._keys.queue} is not paused: pause it first, so that nobody works on it"


def _text(value: bytes) -> str:
    return value.decode("utf-8", "backslashreplace")
