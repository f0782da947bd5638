"""One queue on the server: everything a producer, a worker or an operator does to it."""

from collections.abc import Callable, Mapping, Sequence

from redis.asyncio import Redis

from echomq_worker.domain.job import Admission, Due, Held, JobId, NewJob
from echomq_worker.domain.limits import BATCH, PAUSE_REASON, PAUSED_BY
from echomq_worker.domain.outcome import Verdict
from echomq_worker.domain.replies import Reaped
from echomq_worker.domain.unique import Unique
from echomq_worker.domain.views import (
    Moved,
    Order,
    Places,
    Promoted,
    Removed,
    Reprioritized,
    Requeued,
)
from echomq_worker.protocol.keyspace import Keyspace
from echomq_worker.protocol.rows import held_operands, read_ms, read_verdicts
from echomq_worker.protocol.scripts import BoundScript, Operand, script
from echomq_worker.store.calls import Caller
from echomq_worker.store.extension import ExtensionCheck
from echomq_worker.store.gates import GateStore
from echomq_worker.store.hints import Hints
from echomq_worker.store.inspect import Inspector
from echomq_worker.store.lanes import LaneStore
from echomq_worker.store.line import Line, LineScripts, Trouble
from echomq_worker.store.moving import Mover
from echomq_worker.store.operator import OperatorStore
from echomq_worker.store.options import ServerOptions
from echomq_worker.store.producer import Producer
from echomq_worker.store.reads import QueueReads
from echomq_worker.store.repeats import RepeatStore
from echomq_worker.store.schedulers import SchedulerStore
from echomq_worker.store.unique import enqueue_unique, patient
from echomq_worker.store.wire import PooledWire, PrivateWire, Reply, Wire, ask_again, run_script


class QueueStore(QueueReads):
    """The operations on one queue. Made by `Server.queue`.

    Every method raises `ServerError` (or one of its kinds) if the server refuses or is silent.
    """

    def __init__(
        self, name: str, client: Redis, options: ServerOptions, epoch: Callable[[], int]
    ) -> None:
        self.name = name
        self.keys = Keyspace(name)
        self._client = client
        self._options = options
        self._wire = PooledWire(client)
        self._extension = self._new_check(self._wire, epoch)
        super().__init__(Inspector(name, self.keys, self._wire))
        self._enqueue_wire = PrivateWire(client, "enqueue")
        self._producer = self._new_producer(Caller())
        self._hints = Hints(client, self.keys)
        self._mover = Mover(self._run, options.log_size)
        self.repeats = RepeatStore(self._change, options.log_size)
        self.gates = GateStore(self._change)
        self.lanes = LaneStore(self._change, options.log_size)
        self.operator = OperatorStore(self.keys, self._change, self._scan, options.log_size)
        verify = self._extension.verify
        self.schedulers = SchedulerStore(self.keys, self._wire, verify, log_size=options.log_size)

    async def enqueue(self, jobs: Sequence[NewJob]) -> list[Admission]:
        """Admit jobs, due at once or later; return what became of each, in order.

        What several tasks enqueue at the same time goes in one round trip per thousand. A call that
        was not answered is asked again under its number, so that nothing goes in twice.

        Raises:
            UnavailableError: no answer for `give_up_ms`; asking again with the same ids is safe.
            OutOfMemoryError: the server is full; nothing was changed.
        """
        return await self._producer.enqueue(jobs)

    async def enqueue_unique(self, job: NewJob, unique: Unique) -> tuple[Admission, JobId]:
        """Admit a job unless its key is held; return what became, and whose job. As `enqueue`."""
        once = patient(self._run, self._extension.verify, self._options)
        return await enqueue_unique(once, job, unique)

    def line(
        self,
        *,
        trouble: Trouble,
        worker_id: str = "",
        watch_ms: int = 0,
        caller: Caller | None = None,
    ) -> Line:
        """Open a line: the claims, settlements and beats of one worker.

        Args:
            trouble: awaited between two tries of an unanswered call.
            worker_id: who may become the watcher of this queue.
            watch_ms: how long the watch is held without a sign of life; 0 never takes it.
            caller: numbers the calls; a new one by default.
        """
        wire = PrivateWire(self._client, "claims")
        scripts = LineScripts(
            self._bind("claim"),
            self._bind("settle"),
            self._bind_beat(worker_id),
            self._bind("claim_lane"),
        )
        return Line(
            queue=self.name,
            wire=wire,
            scripts=scripts,
            trouble=trouble,
            prepare=self._new_check(wire, lambda: wire.epoch).verify,
            marks=self._options.extension is not None,
            worker_id=worker_id,
            watch_ms=watch_ms,
            log_size=self._options.log_size,
            keep_results=self._options.keep_results,
            caller=caller or Caller(),
        )

    async def promote(self, limit: int, *, worker_id: str = "", watch_ms: int = 0) -> Promoted:
        """Move at most `limit` due jobs to where they may be claimed; renew the watch if asked.

        One call moves no more than 1,000.
        """
        args = {"limit": min(limit, BATCH), "worker_id": worker_id, "watch_ms": watch_ms}
        moved, next_due, now_ms, watching = await self._change("promote", self._logged(args))
        return Promoted(moved, read_ms(next_due), now_ms, watching == 1)

    async def reap(self, limit: int, *, crash_limit: int = 0, max_attempts: int = 0) -> Reaped:
        """Take back at most `limit` jobs whose lease has run out; bury those over a limit.

        One call takes back no more than 1,000.
        """
        return await self._reap(limit, "crashes", crash_limit, max_attempts, "")

    async def sweep_stalled(self, limit: int, max_stalled: int) -> Reaped:
        """Do the same by the base wire's rule: bury at the `max_stalled`-th lost lease."""
        return await self._reap(limit, "stalled", max_stalled, 0, "stalled")

    async def extend(self, held: Sequence[Held], lease_ms: int) -> list[Verdict]:
        """Push the leases of held jobs back to `lease_ms` from now."""
        args: dict[str, Operand] = {"lease_ms": lease_ms}
        return read_verdicts(await self._change("extend", args, held_operands(held)))

    async def pause(self, *, reason: str = "", by: str = "") -> None:
        """Stop handing out jobs; running ones go on."""
        await self._change("pause", {"reason": reason[:PAUSE_REASON], "by": by[:PAUSED_BY]})

    async def resume(self) -> None:
        """Hand out jobs again, and wake workers for what has gathered."""
        await self._change("resume", {})

    async def requeue(self, ids: Sequence[JobId]) -> list[Requeued]:
        """Bring dead jobs back with all their attempts before them again.

        Raises `InvalidIdError` before anything is sent if one of them is no id.
        """
        return await self._mover.requeue(ids)

    async def remove(self, job_id: JobId, places: Places, *, dedup_id: str = "") -> Removed:
        """Remove a job for good from one of `places`; a job that is held is not removed."""
        return await self._mover.remove(job_id, places, dedup_id)

    async def reschedule(self, ids: Sequence[JobId], due: Due) -> list[Moved]:
        """Let jobs that wait for their time be due at another, by the server's clock.

        A delay counts from now; an instant that is past means at once. Retries wait for their time
        too. A call that was not answered is asked again, and moves nothing twice.

        Returns:
            What became of each, in order.
        """
        return await self._mover.reschedule(ids, due)

    async def promote_now(self, ids: Sequence[JobId]) -> list[Moved]:
        """Let jobs that wait for their time be claimed now; return what became of each, in order.

        A call that was not answered is asked again, and lets no job skip a later wait.
        """
        return await self._mover.promote(ids)

    async def reprioritize(self, ids: Sequence[JobId], priority: int) -> list[Reprioritized]:
        """Let jobs have another priority; return what became of each, in order.

        One that waits keeps its arrival number; 0 puts it back into mint order.

        Raises:
            InvalidArgumentError: if it is no priority.
        """
        return await self._mover.reprioritize(ids, priority)

    async def put_order(self, order: Order) -> None:
        """Say what decides among jobs of one priority; jobs that wait are put in order too."""
        cursor: Reply = "0"
        while True:
            args = {"order": order.value, "cursor": cursor, "size": BATCH}
            cursor = await self._change("put_order", args)
            if cursor == b"0":
                return

    async def forget(self) -> bool:
        """Forget a queue without jobs and schedulers: counters, log, marks. False if it has any."""
        return await self._change("forget", {}) == 1

    async def wait_hint(self, *, bell: bool, clock: bool, timeout_ms: int) -> bool:
        """Sleep on the server until told of work (`bell`) or of a nearer due time (`clock`).

        Only a hint is taken, never a job, so that a lost reply loses nothing. One wait at a time.

        Returns:
            True if told, False when `timeout_ms` has passed or `end_wait` was called.
        """
        return await self._hints.wait(bell=bell, clock=clock, timeout_ms=timeout_ms)

    async def end_wait(self) -> bool:
        """End the wait that is under way as if its time were over; return whether one was."""
        return await self._hints.end_wait()

    async def leave(self, worker_id: str) -> None:
        """Say that a worker has gone: its presence and its hold on the watch end."""
        bound = script("leave").bind(
            {
                "workers": self.keys.workers,
                "worker": self.keys.worker(worker_id),
                "pump": self.keys.pump,
                "bell": self.keys.bell,
            }
        )
        await run_script(self._wire, bound, {"worker_id": worker_id})

    async def aclose(self) -> None:
        """Close the connections of this queue's own."""
        await self._enqueue_wire.aclose()
        await self._hints.aclose()

    def use_caller(self, caller: Caller) -> None:
        """Enqueue as this caller from now on (the base wire has callers without a name)."""
        self._producer = self._new_producer(caller)

    def _new_check(self, wire: Wire, epoch: Callable[[], int]) -> ExtensionCheck:
        return ExtensionCheck(wire, self.keys, self._options.extension, epoch)

    def _new_producer(self, caller: Caller) -> Producer:
        wire = self._enqueue_wire
        return Producer(
            wire=wire,
            enqueue_script=self._bind("enqueue"),
            schedule_script=self._bind("schedule"),
            prepare=self._new_check(wire, lambda: wire.epoch).verify,
            give_up_ms=self._options.give_up_ms,
            log_size=self._options.log_size,
            caller=caller,
        )

    async def _reap(
        self, limit: int, counter: str, bury_at: int, max_attempts: int, reason: str
    ) -> Reaped:
        args: dict[str, Operand] = {
            "limit": min(limit, BATCH),
            "counter": counter,
            "bury_at": bury_at,
            "max_attempts": max_attempts,
            "reason": reason,
        }
        recovered, buried = await self._change("reap", self._logged(args))
        return Reaped(
            tuple(JobId(text.decode()) for text in recovered),
            tuple(JobId(text.decode()) for text in buried),
        )

    def _bind(self, name: str) -> BoundScript:
        found = script(name)
        return found.bind({key: getattr(self.keys, key) for key in found.keys})

    def _bind_beat(self, worker_id: str) -> BoundScript:
        found = script("beat")
        keys = {key: getattr(self.keys, key) for key in found.keys if key != "worker"}
        return found.bind(keys | {"worker": self.keys.worker(worker_id or "-")})

    async def _change(
        self, name: str, args: Mapping[str, Operand], rest: Sequence[Operand] = ()
    ) -> Reply:
        return await ask_again(lambda: self._run(name, args, rest))

    async def _run(
        self, name: str, args: Mapping[str, Operand], rest: Sequence[Operand] = ()
    ) -> Reply:
        await self._extension.verify(claim=False)
        return await run_script(self._wire, self._bind(name), args, rest)

    async def _scan(self, cursor: int, pattern: str) -> tuple[int, Sequence[bytes]]:
        found, names = await self._wire.command("SCAN", cursor, "MATCH", pattern, "COUNT", 500)
        return int(found), names

    def _logged(self, args: Mapping[str, Operand]) -> dict[str, Operand]:
        return {**args, "log_size": self._options.log_size}
