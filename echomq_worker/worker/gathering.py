"""Gathers jobs of handlers that take many at once, and tells each what was said of it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from inspect import isawaitable
from typing import Any, cast

from echomq_worker.domain.batching import enough_for_batch
from echomq_worker.domain.clock import Clock
from echomq_worker.handlers.batches import Batch, BatchCall, verdicts_of
from echomq_worker.worker.ports import Handler
from echomq_worker.worker.run import Run

Call = Callable[[], Any]
InThread = Callable[[Call], Awaitable[object]]
"""Runs a call in a thread."""


@dataclass(slots=True, eq=False)
class Member:
    """One job of a batch: its run, its own call, and what will be said of it."""

    run: Run
    call: partial[Any]
    said: "asyncio.Future[object]"


@dataclass(slots=True, eq=False)
class Gathering:
    """Jobs that wait for a batch to begin, or are in one."""

    since_ms: int
    members: list[Member] = field(default_factory=list[Member])
    task: "asyncio.Task[None] | None" = None


class Gatherer:
    """Brings jobs together. A member is a run like any other: it may time out or be told to stop.

    One that leaves before the batch begins is left out; if all have left one that runs, it is told
    to stop as well. All of a batch share one slot, from the first to the last of them.

    Args:
        clock: waits.
        in_thread: runs plain functions.
        begun: told of each job whose batch begins.
        freed: told that a slot is free, since its job shares that of another.
        patient: whether to wait for more jobs; a test's clock stands still.
    """

    def __init__(
        self,
        clock: Clock,
        in_thread: InThread,
        *,
        begun: Callable[[Run], None],
        freed: Callable[[], None] = lambda: None,
        patient: bool = True,
    ) -> None:
        self._clock = clock
        self._in_thread = in_thread
        self._begun = begun
        self._freed = freed
        self._patient = patient
        self._open: dict[object, Gathering] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def join(
        self, handler: Handler, batch: Batch, together: BatchCall, run: Run, call: partial[Any]
    ) -> object:
        """Take part in the next batch of a handler; return what was said, or raise it.

        Args:
            handler: whose batch it is.
            batch: how large it gets, and how long it waits.
            together: makes one call of many.
            run: the job's run.
            call: the job's own call.
        """
        is_async = handler.is_async
        key = (handler, run.held.group if batch.by_lane else None)
        gathering = self._open.get(key)
        if gathering is None:
            gathering = self._open[key] = Gathering(self._clock.monotonic_ms())
            self._start(self._begin_in_time(key, gathering, batch, together, is_async=is_async))
        member = Member(run, call, asyncio.get_running_loop().create_future())
        if gathering.members:
            run.has_slot = False
            self._freed()
        gathering.members.append(member)
        if len(gathering.members) >= batch.size:
            self._begin(key, gathering, together, is_async=is_async)
        try:
            return await member.said
        finally:
            self._leave(key, gathering, member)

    async def _begin_in_time(
        self,
        key: object,
        gathering: Gathering,
        batch: Batch,
        together: BatchCall,
        *,
        is_async: bool,
    ) -> None:
        if self._patient:
            await self._clock.sleep_ms(batch.wait_ms)
        else:
            await asyncio.sleep(0)
        waited_ms = max(batch.wait_ms, self._clock.monotonic_ms() - gathering.since_ms)
        count = len(gathering.members)
        if self._open.get(key) is gathering and enough_for_batch(
            count, waited_ms, size=batch.size, wait_ms=batch.wait_ms
        ):
            self._begin(key, gathering, together, is_async=is_async)

    def _begin(
        self, key: object, gathering: Gathering, together: BatchCall, *, is_async: bool
    ) -> None:
        del self._open[key]
        for member in gathering.members:
            self._begun(member.run)
        gathering.task = self._start(_run(gathering.members[:], self._caller(together, is_async)))

    def _caller(
        self,
        together: BatchCall,
        is_async: bool,  # noqa: FBT001 - of the handler
    ) -> Callable[[list[Member]], Awaitable[object]]:
        async def call(members: list[Member]) -> object:
            whole = together.together([member.call for member in members])
            if is_async:
                return await whole()
            said = await self._in_thread(whole)
            # A plain wrapper around an async function has only begun it in the thread.
            return await said if isawaitable(said) else said

        return call

    def _leave(self, key: object, gathering: Gathering, member: Member) -> None:
        gathering.members.remove(member)
        if gathering.members:
            if member.run.has_slot:
                member.run.has_slot, gathering.members[0].run.has_slot = False, True
            return
        if self._open.get(key) is gathering:
            del self._open[key]
        if gathering.task is not None and not gathering.task.done():
            gathering.task.cancel()

    def _start(self, work: Any) -> "asyncio.Task[None]":  # noqa: ANN401 - a coroutine
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return cast("asyncio.Task[None]", task)


async def _run(members: list[Member], call: Callable[[list[Member]], Awaitable[object]]) -> None:
    try:
        said = verdicts_of(await call(members), len(members))
    except asyncio.CancelledError:
        for member in members:
            member.said.cancel()
        raise
    except BaseException as error:  # noqa: BLE001 - not even SystemExit ends the worker
        said = [error] * len(members)
    for member, verdict in zip(members, said, strict=True):
        if member.said.done():
            continue
        if isinstance(verdict, StopIteration):
            verdict = RuntimeError("the handler raised StopIteration")  # noqa: PLW2901
        if isinstance(verdict, BaseException):
            member.said.set_exception(verdict)
        else:
            member.said.set_result(verdict)
