"""A worker on a server in memory, whose time the test moves."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from random import randrange
from typing import Any

from echomq_worker.domain.minter import Minter
from echomq_worker.domain.outcome import Outcome
from echomq_worker.domain.queue_name import QueueWeight
from echomq_worker.domain.scheduling.declared import DeclaredScheduler
from echomq_worker.handlers import (
    HandlerOptions,
    Registry,
    RunMiddleware,
    handler_options,
    named_handler,
    no_lifespan,
)
from echomq_worker.handlers.lifespan import Lifespan
from echomq_worker.worker import Budget, ExitStatus, Outside, Snapshot, Stop, WorkerOptions
from echomq_worker.worker.assembly import Parts
from echomq_worker.worker.daemon import Daemon
from tests.fakes import FakeClock, settled
from tests.unit.worker_fakes import FakeExtender, FakeQueue
from tests.unit.worker_schedules import FakeFleet


def no_dice(_low: float, high: float) -> float:
    """Always the longest wait, so that a test can tell when."""
    return high


_FEW_SLOTS: dict[str, Any] = {"concurrency": 4}


async def wait_for(holds: Callable[[], object]) -> None:
    """Wait, in real time, for what a thread does."""
    async with asyncio.timeout(5):
        while not holds():  # noqa: ASYNC110 - what threads do sets no event of ours
            await asyncio.sleep(0.001)


class Rig:
    """Everything around one worker."""

    def __init__(self, *queues: str, **options: Any) -> None:
        self.clock = FakeClock()
        names = queues or ("default",)
        weights = tuple(QueueWeight(*_weighed(name)) for name in names)
        self.queues = {weight.name: FakeQueue(self.clock, weight.name) for weight in weights}
        self.queue = self.queues[weights[0].name]
        self.options = WorkerOptions(queues=weights, worker_name="w", **(_FEW_SLOTS | options))
        self.extender = FakeExtender(tuple(self.queues.values()))
        self.registry = Registry()
        self.lifespan: Lifespan[Any] = no_lifespan
        self.middleware: Sequence[RunMiddleware] = ()
        self.minter = Minter(1, clock_ms=self.clock.now_ms, dice=randrange)
        self.scheduled: list[DeclaredScheduler] = []
        self.zone_data = "2026b"
        self.workers: dict[str, str] = {}
        """The time zone data of the other workers."""
        self.snapshots: list[Snapshot] = []
        self.ready = 0
        self.on_beat: Callable[[Snapshot], None] = self.snapshots.append
        budget = Budget(
            total_ms=self.options.shutdown_timeout_ms, cancel_ms=self.options.cancel_grace_ms
        )
        self.stop = Stop(self.clock, budget)
        self.daemon: Daemon | None = None
        self.life: asyncio.Task[ExitStatus] | None = None

    def handle(self, function: Callable[..., Any], name: str = "work", **options: Any) -> None:
        """Register a handler."""
        said = handler_options(**options) if options else HandlerOptions()
        self.registry.add(named_handler(function, name=name, queue="default", options=said))

    @property
    def parts(self) -> Parts:
        """The parts of the worker that runs."""
        assert self.daemon is not None
        return self.daemon._parts

    @asynccontextmanager
    async def running(self, *, burst: bool = False) -> AsyncGenerator[None]:
        """Run the worker inside a block, and take it down after it."""
        outside = Outside(
            queues=tuple(self.queues.values()),
            extender=self.extender,
            registry=self.registry,
            clock=self.clock,
            mint=self.minter.mint,
            scheduled=self.scheduled,
            zone_data=self.zone_data,
            fleet=FakeFleet(self.workers),
            lifespan=self.lifespan,
            middleware=self.middleware,
            dice=no_dice,
            on_ready=self._count_ready,
            on_beat=self.on_beat,
        )
        self.daemon = Daemon(self.options, outside, self.stop, burst=burst)
        self.life = asyncio.create_task(self.daemon.run())
        await settled()
        try:
            yield
        finally:
            if not self.life.done():
                self.stop.cancel("the test is over")
                await self.clock.advance(60_000)
            if not self.life.done():
                self.life.cancel()
                with suppress(asyncio.CancelledError):
                    await self.life

    async def ended(self) -> ExitStatus:
        """Return how the worker ended; fail if it has not."""
        await settled()
        assert self.life is not None
        assert self.life.done(), "the worker still runs"
        return self.life.result()

    def _count_ready(self) -> None:
        self.ready += 1


def _weighed(name: str) -> tuple[str, int]:
    bare, _, weight = name.partition(":")
    return bare, int(weight or 1)


async def outcome_in(rig: Rig, **fields: Any) -> Outcome | None:
    """Run one job, and return what became of it."""
    job = rig.queue.add(**fields)
    async with rig.running():
        return rig.queue.outcome_of(job)


def stamping(rig: Rig) -> list[int]:
    """Note when each job starts."""
    started: list[int] = []

    async def work() -> None:
        started.append(rig.clock.ms)

    rig.handle(work)
    return started
