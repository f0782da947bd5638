"""Where a test's jobs run: the parts of a real worker, one step at a time."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from time import monotonic
from typing import Any

from echomq_worker.domain.backoff import Dice
from echomq_worker.domain.duration import LONGEST_MS
from echomq_worker.domain.minter import Minter
from echomq_worker.domain.outcome import Outcome, Verdict
from echomq_worker.errors import EchoMQError, NotIdleError
from echomq_worker.handlers import Registry, RunMiddleware
from echomq_worker.testing.backend import InlineBackend
from echomq_worker.testing.hosting import in_a_task_of_its_own
from echomq_worker.testing.line import InlineLine
from echomq_worker.testing.report import Ran
from echomq_worker.worker.hands import Hands
from echomq_worker.worker.journal import Journal
from echomq_worker.worker.judge import Judge
from echomq_worker.worker.options import WorkerOptions
from echomq_worker.worker.run import SHUTDOWN, Run
from echomq_worker.worker.runner import Runner
from echomq_worker.worker.threads import Threads
from echomq_worker.worker.timeouts import Timeouts

PROMOTE = 1_000_000
"""Everything that is due."""
MOMENT_S = 0.01
PATIENCE_MS = 1_000
"""How long cancelled handlers may take to end, in real milliseconds."""


class QuietJournal(Journal):
    """Leaves out the lines that repeat what the test's report says."""

    def started(self, run: Run) -> None:
        """Write nothing."""

    def settled(self, run: Run, outcome: Outcome) -> None:
        """Write nothing."""


class Bench:
    """Claims, runs and settles as a worker does, but only when told.

    Args:
        backend: where the jobs are, and the clock that their time limits go by.
        registry: the handlers.
        middleware: what wraps each run, the outermost first.
        options: what holds where a handler says nothing.
        dice: draws the random part of backoffs.
    """

    def __init__(
        self,
        backend: InlineBackend,
        registry: Registry,
        middleware: Sequence[RunMiddleware],
        options: WorkerOptions,
        dice: Dice,
    ) -> None:
        clock, journal = backend.clock, QuietJournal(backend.clock)
        self.busy = False
        """True while a test has it run jobs."""
        self._hands = Hands()
        self._backend = backend
        self._registry = registry
        self._slots = options.concurrency
        self._threads = Threads(options.thread_count)
        self._timeouts = Timeouts(clock, journal, grace_ms=options.cancel_grace_ms)
        self._journal = journal
        self._runner = Runner(
            registry=registry,
            notes=lambda name: backend.queue(name).operator,
            middleware=middleware,
            options=options,
            hands=self._hands,
            judge=Judge(options, clock, dice, journal),
            threads=self._threads,
            timeouts=self._timeouts,
            journal=journal,
            clock=clock,
            patient=False,
        )
        self._minter = Minter(clock_ms=clock.now_ms, dice=secrets.randbelow)
        self._lines: dict[str, InlineLine] = {}
        self._ended: asyncio.Queue[Run] = asyncio.Queue()
        self._changed = monotonic()

    @asynccontextmanager
    async def open(self, lifespan: AbstractAsyncContextManager[Any]) -> AsyncGenerator[None]:
        """Be ready to run jobs inside a block, with what the lifespan yields.

        Raises:
            HandlerError: if a handler asks for another state than the lifespan yields.
        """
        async with in_a_task_of_its_own(lifespan) as state:
            self._registry.check_state(state)
            self._runner.state = state
            timekeeper = asyncio.create_task(self._timeouts.run())
            try:
                yield
            finally:
                await self.stop()
                timekeeper.cancel()
                await asyncio.wait((timekeeper,))
                self._threads.close()

    @contextmanager
    def at_work(self) -> Generator[None]:
        """Be busy inside a block. Raises `EchoMQError` if it is busy already."""
        if self.busy:
            msg = "run_until_idle() is running jobs already: await that call first"
            raise EchoMQError(msg)
        self.busy = True
        try:
            yield
        finally:
            self.busy = False

    async def fill(self, allowed: int) -> int:
        """Start jobs, the oldest of each queue in turn, while there are free slots.

        Args:
            allowed: how many to start at most.

        Returns:
            How many run.
        """
        self._fire_due()
        more = True
        while more:
            more = False
            for queue in self._backend.queues():
                if allowed <= 0 or len(self._hands.running) >= self._slots:
                    break
                line = self._line(queue.name)
                claimed = await line.claim(limit=1, lease_ms=LONGEST_MS, promote=PROMOTE)
                for held in claimed.jobs:
                    self._runner.start(held, claimed.now_ms, self._ended.put_nowait)
                    self._changed = monotonic()
                    allowed, more = allowed - 1, True
        return len(self._hands.held)

    def has_work(self) -> bool:
        """Return whether there are jobs that could run now."""
        return any(queue.memory.has_work() for queue in self._backend.queues())

    async def next_ended(self) -> Ran | None:
        """Wait a moment until a run has ended, and write its outcome; None if none has.

        A moment only: what runs may enqueue jobs for which there are free slots.
        """
        try:
            run = await asyncio.wait_for(self._ended.get(), MOMENT_S)
        except TimeoutError:
            return None
        self._changed = monotonic()
        self._hands.let_go(run)
        if run.outcome is None:
            msg = f"the run of {run.name} ({run.held.id}) came to no outcome: the log says why"
            raise NotIdleError(msg)
        settled = await self._line(run.held.queue).settle([(run.held, run.outcome)])
        (verdict,) = settled.verdicts
        if verdict is not Verdict.OK:
            self._journal.refused(run, verdict)
        return Ran(
            id=run.held.id,
            queue=run.held.queue,
            name=run.name,
            attempt=run.held.attempt,
            outcome=run.outcome,
            verdict=verdict,
            error=run.error,
        )

    def idle_ms(self) -> float:
        """Return for how long nothing has started or ended, in real milliseconds."""
        return (monotonic() - self._changed) * 1_000

    def running(self) -> list[str]:
        """Say which jobs run."""
        return [f"{run.name} ({run.held.id})" for run in self._hands.running]

    async def stop(self) -> None:
        """Cancel what runs, and hand it back."""
        for run in tuple(self._hands.running):
            run.cancel(SHUTDOWN)
        self._changed = monotonic()
        while self._hands.held and self.idle_ms() < PATIENCE_MS:
            await self.next_ended()

    def _fire_due(self) -> None:
        for queue in self._backend.queues():
            queue.fire_due(self._minter.mint)

    def _line(self, queue: str) -> InlineLine:
        if queue not in self._lines:
            self._lines[queue] = self._backend.queue(queue).line()
        return self._lines[queue]
