"""The life of a worker: from its first claim to its last word."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio
import structlog
from anyio.abc import TaskGroup

from echomq_worker.domain.job import JobId
from echomq_worker.errors import ServerError
from echomq_worker.worker.assembly import Assembly, Outside, Parts
from echomq_worker.worker.dump import running_jobs
from echomq_worker.worker.hands import Hands
from echomq_worker.worker.living import Living
from echomq_worker.worker.options import WorkerOptions
from echomq_worker.worker.signals import Signals
from echomq_worker.worker.stats import Stats
from echomq_worker.worker.stop import EXIT_INCOMPLETE, EXIT_OK, Stop
from echomq_worker.worker.supervisor import Service, keep_running
from echomq_worker.worker.waiting import until, wait_until
from echomq_worker.worker.wind_down import WindDown

FAREWELL_MS = 1_000
MOST_NAMED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitStatus:
    """How a worker ended."""

    code: int
    """The exit code of the process."""
    reason: str
    """Why it stopped."""
    seconds: float
    """How long the stop took."""
    stats: Stats
    """What it did."""
    unsettled: tuple[JobId, ...] = ()
    """Jobs that run again once their lease has run out: the server does not know their outcome."""
    must_force: bool = False
    """True if code of the application goes on running: only `os._exit` ends the process."""


async def run_daemon(
    options: WorkerOptions,
    outside: Outside,
    stop: Stop,
    *,
    burst: bool = False,
    signals: Signals | None = None,
) -> ExitStatus:
    """Run a worker until it is asked to stop, then stop it from the inside out.

    Args:
        options: how it is set up.
        outside: what it needs from elsewhere.
        stop: asks it to stop, and says how much time that may take.
        burst: stop when nothing is ready and nothing runs.
        signals: installed before; reported to `stop` from now on.

    Returns:
        How it ended. If `must_force` is set, leave the process by `os._exit` from inside the loop:
        what would close the loop waits for tasks that do not end.
    """
    daemon = Daemon(options, outside, stop, burst=burst)
    if signals is not None:
        signals.attach(stop, daemon.dump, daemon.hands)
    life = asyncio.create_task(daemon.run())
    try:
        return await asyncio.shield(life)
    except asyncio.CancelledError:
        # Whoever embeds the worker takes it down: nothing is left behind all the same.
        stop.cancel("cancelled")
        with anyio.CancelScope(shield=True):
            await asyncio.wait((life,))
        raise


class Daemon:
    """One worker.

    Args:
        options: how it is set up.
        outside: what it needs from elsewhere.
        stop: asks it to stop.
        burst: whether it stops when nothing is left to do.
    """

    def __init__(
        self, options: WorkerOptions, outside: Outside, stop: Stop, *, burst: bool
    ) -> None:
        self._options = options
        self._outside = outside
        self._stop = stop
        self._burst = burst
        self._clock = outside.clock
        self._parts: Parts = Assembly(options, outside, stop).build(burst=burst)
        self._living = Living(outside.lifespan, outside.registry, stop, self._clock)
        self._log: Any = structlog.get_logger("echomq.worker")

    @property
    def hands(self) -> Hands:
        """The jobs that it holds."""
        return self._parts.hands

    def dump(self) -> None:
        """Log what is running, and where it waits."""
        self._log.warning(
            "worker.dump",
            jobs=running_jobs(self._parts.hands),
            did=str(self._parts.stats),
            loop_lag=self._parts.stats.loop_lag.by_bound(),
        )

    async def run(self) -> ExitStatus:
        """Live. The nesting is the shutdown order.

        Intake (listeners) stops at once; running jobs get their time; support (desks, leases,
        beats) outlives them, so that a job which is finishing keeps its lease and is settled.
        """
        async with anyio.create_task_group() as support:
            if await self._living.enter():
                await self._parts.registrar.begin(self._stop.draining)
                self._start(support, self._parts.support)
                self._parts.runner.state = self._living.state
                async with anyio.create_task_group() as intake:
                    self._start(intake, self._parts.intake)
                    self._say_started()
                    await self._stop.draining.wait()
                    self._parts.slots.close()
                    intake.cancel_scope.cancel()
                self._leave_watch(support)
            await self._wind_down()
            support.cancel_scope.cancel()
        return await self._leave()

    def _start(self, group: TaskGroup, services: list[Service]) -> None:
        for service in services:
            keep = partial(
                keep_running, service, self._clock, self._gave_up, patient=not self._burst
            )
            group.start_soon(keep, name=service.name)

    def _gave_up(self, name: str, error: Exception) -> None:
        self._stop.fail(error, f"{name} cannot go on")

    def _say_started(self) -> None:
        self._log.info(
            "worker.started",
            worker=self._options.worker_name,
            queues=[str(queue) for queue in self._options.queues],
            slots=self._options.concurrency,
            handlers=len(self._outside.registry.names()),
        )
        self._outside.on_ready()

    def _leave_watch(self, support: TaskGroup) -> None:
        """Let others watch: a queue whose watcher claims nothing would be late for its jobs."""
        for line in self._parts.lines:
            line.watch_ms = 0
        if not self._parts.hands.quiet.is_set():  # if nothing runs, the goodbye is near
            support.start_soon(self._give_up_watch)

    async def _give_up_watch(self) -> None:
        for queue, desk in zip(self._outside.queues, self._parts.desks, strict=True):
            with suppress(ServerError):
                await queue.leave(self._options.worker_id)
                desk.ask_beat()  # we are still there

    async def _wind_down(self) -> None:
        wind_down = WindDown(self._parts.hands, self._parts.desks, self._stop, self._clock)
        self._log.info(
            "worker.draining",
            reason=self._stop.reason,
            running=len(self._parts.hands.running),
            job_names=self._parts.hands.names(),
            budget=(self._stop.end_at_ms - self._clock.monotonic_ms()) / 1_000,
        )
        await wind_down.finish()
        await wind_down.cancel()
        async with anyio.create_task_group() as both:
            # Apart, since a server that is away must not take the application its time to close.
            both.start_soon(self._close_application)
            await wind_down.hand_over()
        if self._parts.hands.quiet.is_set():
            await self._say_goodbye()

    async def _close_application(self) -> None:
        quiet = self._parts.hands.quiet
        await wait_until(self._clock, self._stop.end_at_ms, quiet)
        if quiet.is_set():
            await self._living.leave()

    async def _say_goodbye(self) -> None:
        ends_ms = min(self._stop.end_at_ms, self._clock.monotonic_ms() + FAREWELL_MS)
        async with until(self._clock, ends_ms):
            for queue in self._outside.queues:
                with suppress(ServerError):
                    await queue.leave(self._options.worker_id)

    async def _leave(self) -> ExitStatus:
        parts, stop = self._parts, self._stop
        for line in parts.lines:
            await line.aclose()
        parts.threads.close()
        incomplete = bool(parts.hands.held) or self._living.late
        status = ExitStatus(
            code=stop.exit_code or (EXIT_INCOMPLETE if incomplete else EXIT_OK),
            reason=stop.reason,
            seconds=(self._clock.monotonic_ms() - stop.began_at_ms) / 1_000,
            stats=parts.stats,
            unsettled=tuple(run.held.id for run in parts.hands.held),
            must_force=not (parts.hands.quiet.is_set() and self._living.over),
        )
        if status.unsettled:
            self._log.error(
                "worker.shutdown_incomplete",
                jobs=list(status.unsettled[:MOST_NAMED]),
                count=len(status.unsettled),
                still_running=parts.hands.names(),
                hint="these jobs run again when their leases have run out",
            )
        self._log.info(
            "worker.stopped",
            reason=status.reason,
            after=status.seconds,
            exit_code=status.code,
            did=str(status.stats),
            loop_lag_max=status.stats.loop_lag.longest_ms / 1_000,
        )
        return status
