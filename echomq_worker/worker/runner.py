"""Runs handlers: each in a task of its own, within its limits, with its name in every log line."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from inspect import isawaitable, iscoroutine
from time import perf_counter
from typing import Any, cast

from structlog.contextvars import bind_contextvars

from echomq_worker.domain.clock import Clock
from echomq_worker.domain.job import Held
from echomq_worker.domain.outcome import Completed, HandedBack, Outcome
from echomq_worker.errors import ResultError
from echomq_worker.handlers.context import JobContext
from echomq_worker.handlers.middleware import RunMiddleware, around_run
from echomq_worker.worker.gathering import Gatherer
from echomq_worker.worker.hands import Hands
from echomq_worker.worker.journal import Journal
from echomq_worker.worker.judge import Judge
from echomq_worker.worker.options import WorkerOptions
from echomq_worker.worker.ports import Handler, Notes, Registry
from echomq_worker.worker.run import Run
from echomq_worker.worker.threads import Threads
from echomq_worker.worker.timeouts import Timeouts

Ended = Callable[[Run], None]
"""Told of a run that has ended; its `outcome` says how, or is None if it is no longer ours."""


class Runner:
    """Starts runs and sees to it that each ends with an outcome.

    Args:
        registry: finds the handlers.
        notes: gives the place where the jobs of a queue write what they tell.
        middleware: wraps each run, the outermost first.
        options: what holds where a handler says nothing.
        hands: the jobs that this worker holds.
        judge: turns the end of a run into an outcome.
        threads: where sync handlers run.
        timeouts: watches the time limits.
        journal: writes the lines.
        clock: tells the time.
        freed: told that a slot is free, since its job shares that of another.
        patient: whether batches wait for more jobs; a test's clock stands still.
    """

    def __init__(  # noqa: PLR0913 - where the parts of a run meet
        self,
        *,
        registry: Registry,
        notes: Callable[[str], Notes | None] = lambda _queue: None,
        middleware: Sequence[RunMiddleware],
        options: WorkerOptions,
        hands: Hands,
        judge: Judge,
        threads: Threads,
        timeouts: Timeouts,
        journal: Journal,
        clock: Clock,
        freed: Callable[[], None] = lambda: None,
        patient: bool = True,
    ) -> None:
        self.state: object | None = None
        """What the application's lifespan has yielded."""
        self._registry = registry
        self._notes = notes
        self._middleware = tuple(middleware)
        self._options = options
        self._hands = hands
        self._judge = judge
        self._threads = threads
        self._timeouts = timeouts
        self._journal = journal
        self._clock = clock
        self._gatherer = Gatherer(
            clock, threads.run, begun=self._limit, freed=freed, patient=patient
        )

    def start(self, held: Held, now_ms: int, ended: Ended) -> None:
        """Run a job in a task of its own.

        Args:
            held: the job.
            now_ms: the server's clock when it was claimed.
            ended: told when the run is over.
        """
        run = Run(held, now_ms)
        self._hands.take(run)
        run.task = asyncio.get_running_loop().create_task(self._work(run, ended))

    def refuse(self, held: Held, now_ms: int, ended: Ended) -> None:
        """Hand a job back without running it: it was claimed as this worker stopped."""
        run = Run(held, now_ms)
        self._hands.take(run)
        run.outcome = HandedBack()
        self._hands.end(run)
        ended(run)

    async def _work(self, run: Run, ended: Ended) -> None:
        try:
            outcome = await self._outcome(run)
        except BaseException as error:
            if _is_closed(run, error):
                raise
            # Our own failure: the lease will run out.
            self._journal.undecided(run, error)
            outcome = None
        run.seconds = perf_counter() - run.started
        run.outcome = outcome
        self._hands.end(run)
        ended(run)

    async def _outcome(self, run: Run) -> Outcome | None:
        try:
            value = await self._attempt(run)
        except BaseException as error:  # not even SystemExit ends the worker
            if _is_closed(run, error):
                raise
            if run.gave_up:
                return self._judge.interrupted(run, error)
            return self._judge.raised(run, error)
        finally:
            if run.timeout_ms or run.cancel_reason is not None:
                self._timeouts.disarm(run)
        if run.outcome is not None:
            return run.outcome
        if run.gave_up:
            self._journal.swallowed_cancellation(run)
            return self._judge.interrupted(run, None)
        try:
            return self._judge.returned(run, value)
        except ResultError as error:
            self._journal.result_dropped(run, error)
            return Completed()

    async def _attempt(self, run: Run) -> object:
        held = run.held
        if run.cancel_reason is not None:
            raise asyncio.CancelledError
        run.outcome = self._judge.too_late(run) or self._judge.stopped(run)
        if run.outcome is not None:
            return None
        handler = self._registry.find(held.queue, held.name, held.payload)
        if handler is None:
            self._journal.no_handler(run, self._registry.names())
            run.outcome = self._judge.unknown(run)
            return None
        context = self._begin(run, handler)
        bind_contextvars(
            queue=held.queue, job_name=context.name, job_id=held.id, attempt=context.attempt
        )
        self._journal.started(run)
        call = handler.bind(held.payload, context, self.state)
        if self._middleware:
            return await around_run(self._middleware, context, lambda: self._call(run, call))()
        if handler.is_async and handler.options.batch is None:
            return await call()
        return await self._call(run, call)

    def _begin(self, run: Run, handler: Handler) -> JobContext:
        held, said = run.held, handler.options
        timeout_ms = held.timeout_ms
        if timeout_ms is None:
            timeout_ms = said.timeout_ms
        if timeout_ms is None:
            timeout_ms = self._options.job_timeout_ms
        run.handler = handler
        run.context = context = JobContext(
            id=held.id,
            queue=held.queue,
            name=held.name or handler.name or held.queue,
            attempt=held.attempt,
            max_attempts=held.max_attempts or said.max_attempts or self._options.max_attempts,
            scheduler=held.scheduler,
            instant_ms=held.instant_ms,
            priority=held.priority,
            lane=held.lane or held.group,
            notes=self._notes(held.queue),
        )
        run.timeout_ms = timeout_ms or 0
        if said.batch is None:
            self._limit(run)
        return context

    def _limit(self, run: Run) -> None:
        """Let the time limit of a run begin, if it has one and is to go on."""
        if run.timeout_ms and run.cancel_reason is None and run.context is not None:
            run.context.deadline_ms = self._clock.now_ms() + run.timeout_ms
            self._timeouts.arm(run, run.timeout_ms)

    async def _call(self, run: Run, call: Callable[[], Any]) -> object:
        handler = run.handler
        if handler is not None and handler.options.batch and handler.together:
            return await self._gatherer.join(
                handler, handler.options.batch, handler.together, run, cast("partial[Any]", call)
            )
        if handler is None or handler.is_async:
            return await call()
        run.in_thread = True
        try:
            value = await self._threads.run(call)
        finally:
            run.in_thread = False
        return await _go_on(run, value) if isawaitable(value) else value


def _is_closed(run: Run, error: BaseException) -> bool:
    """Return whether the run's own coroutine is being closed: its loop is gone, as all is.

    A handler may raise `GeneratorExit` too, and that is a failed attempt like any other.
    """
    if not isinstance(error, GeneratorExit):
        return False
    try:
        return asyncio.current_task() is not run.task
    except RuntimeError:
        return True


async def _go_on(run: Run, rest: Awaitable[object]) -> object:
    """Do here what a plain wrapper around an async function has only begun in its thread."""
    run.on_loop = True
    if run.cancel_reason is None:
        return await rest
    if iscoroutine(rest):
        rest.close()
    raise asyncio.CancelledError
