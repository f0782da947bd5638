"""Puts the parts of a worker together."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from echomq_worker.domain.backoff import Dice
from echomq_worker.domain.cadence import Cadence
from echomq_worker.domain.clock import Clock
from echomq_worker.domain.gates import DeclaredLimit
from echomq_worker.domain.job import Claimed, JobId
from echomq_worker.domain.outcome import Verdict
from echomq_worker.domain.picker import Picker, Strict, Weighted
from echomq_worker.domain.scheduling.declared import DeclaredScheduler
from echomq_worker.handlers.lifespan import Lifespan, no_lifespan
from echomq_worker.handlers.middleware import RunMiddleware
from echomq_worker.worker.burst import Burst
from echomq_worker.worker.desk import Desk
from echomq_worker.worker.firer import Firer
from echomq_worker.worker.hands import Hands
from echomq_worker.worker.journal import Journal
from echomq_worker.worker.judge import Judge
from echomq_worker.worker.leases import Leases
from echomq_worker.worker.listener import Listener
from echomq_worker.worker.loop_guard import LoopGuard
from echomq_worker.worker.options import WorkerOptions
from echomq_worker.worker.outage import Outage
from echomq_worker.worker.ports import BlockingExtends, Line, Queue, Registry
from echomq_worker.worker.presence import Heart, OnBeat, SelfPortrait
from echomq_worker.worker.pump import Pump
from echomq_worker.worker.recount import Recount
from echomq_worker.worker.registrar import Fleet, Registrar
from echomq_worker.worker.run import LEASE_LOST, Run
from echomq_worker.worker.runner import Runner
from echomq_worker.worker.schedule_lines import ScheduleLines
from echomq_worker.worker.settler import Settler
from echomq_worker.worker.slots import Slots
from echomq_worker.worker.stats import Stats
from echomq_worker.worker.stop import Stop
from echomq_worker.worker.supervisor import Service
from echomq_worker.worker.threads import Threads
from echomq_worker.worker.timeouts import Timeouts
from echomq_worker.worker.volley import Volley

WATCH_BEATS = 3
"""The watch of a queue is free again so many beats after its watcher was last heard of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """All that a worker needs from elsewhere."""

    queues: Sequence[Queue]
    """One for each queue of the options."""
    extender: BlockingExtends
    registry: Registry
    clock: Clock
    mint: Callable[[], JobId]
    """Gives the ids of the jobs that schedulers make."""
    scheduled: Sequence[DeclaredScheduler] = ()
    """The schedulers that the application declares."""
    limits: Sequence[DeclaredLimit] = ()
    """The limits that the application declares."""
    zone_data: str = ""
    """The version of the time zone data that rules are computed with; empty for none."""
    fleet: Fleet | None = None
    """Knows the other workers."""
    lifespan: Lifespan[Any] = no_lifespan
    middleware: Sequence[RunMiddleware] = ()
    dice: Dice = random.uniform
    on_ready: Callable[[], None] = lambda: None
    """Called when the first claim is about to be made."""
    on_beat: OnBeat | None = None


@dataclass(slots=True, kw_only=True)
class Parts:
    """The parts of one worker."""

    hands: Hands
    stats: Stats
    slots: Slots
    runner: Runner
    threads: Threads
    portrait: SelfPortrait
    registrar: Registrar
    support: list[Service]
    """What must outlive the running jobs."""
    intake: list[Service] = field(default_factory=list[Service])
    """What brings in new ones."""
    desks: list[Desk] = field(default_factory=list[Desk])
    firers: list[Firer] = field(default_factory=list[Firer])
    lines: list[Line] = field(default_factory=list[Line])


class Assembly:
    """Builds a worker from its options and from what it needs from elsewhere."""

    def __init__(self, options: WorkerOptions, outside: Outside, stop: Stop) -> None:
        self._options = options
        self._outside = outside
        self._clock = outside.clock
        self._stop = stop
        self._hands = Hands()
        self._stats = Stats()
        self._journal = Journal(self._clock)
        self._timeouts = Timeouts(self._clock, self._journal, grace_ms=options.cancel_grace_ms)
        self._threads = Threads(options.thread_count)
        names = [queue.name for queue in options.queues]
        self._slots = Slots(options.concurrency, names, _picker(options))
        self._lines_outage = Outage(self._clock, "server", outside.dice)
        self._portrait = SelfPortrait(
            options,
            self._hands,
            self._stats,
            stop,
            self._clock,
            away=lambda: self._lines_outage.under_way,
            zone_data=outside.zone_data,
        )
        self._schedule_lines = ScheduleLines()
        self._hints_outage = Outage(self._clock, "wakeups", outside.dice)
        self._runner = self._new_runner()
        self._listeners: list[Listener] = []
        self._leases = Leases(
            self._hands,
            outside.extender,
            self._lost,
            self._clock,
            lease_ms=options.lease_ms,
            every_ms=options.renew_every_ms,
            stuck_ms=options.stuck_after_ms,
        )

    def build(self, *, burst: bool) -> Parts:
        """Build all parts; with `burst` one that stops the worker when nothing is left to do."""
        options, clock = self._options, self._clock
        guard = LoopGuard(self._hands, clock, self._stats.loop_lag)
        heart = Heart(self._portrait, self._outside.on_beat, clock, beat_ms=options.beat_ms)
        parts = Parts(
            hands=self._hands,
            stats=self._stats,
            slots=self._slots,
            runner=self._runner,
            threads=self._threads,
            portrait=self._portrait,
            registrar=self._new_registrar(),
            support=[self._leases, self._timeouts, heart, guard],
        )
        parts.intake.append(parts.registrar)
        for index, queue in enumerate(self._outside.queues):
            self._serve(parts, queue, options.beat_ms * index // len(self._outside.queues))
        if burst:
            parts.intake.append(Burst(parts.desks, parts.firers, self._hands, self._stop))
        return parts

    def _serve(self, parts: Parts, queue: Queue, offset_ms: int) -> None:
        line = queue.line(
            trouble=self._lines_outage.trouble,
            worker_id=self._options.worker_id,
            watch_ms=WATCH_BEATS * self._options.beat_ms,
        )
        desk = self._new_desk(queue.name, line)
        cadence = Cadence(beat_ms=self._options.beat_ms)
        pump = Pump(queue.name, desk, self._clock, cadence, offset_ms=offset_ms)
        listener = Listener(
            queue,
            slots=self._slots,
            pump=pump,
            rung=desk.ask_look,
            clock=self._clock,
            outage=self._hints_outage,
            beat_ms=self._options.beat_ms,
        )
        self._listeners.append(listener)
        firer = self._new_firer(queue, desk, parts.registrar)
        recount = Recount(queue.name, queue.gates, self._clock)

        desk.on_reply(partial(self._learn, pump, firer, recount))
        parts.lines.append(line)
        parts.desks.append(desk)
        parts.firers.append(firer)
        parts.support += (desk, pump)
        parts.intake += (listener, firer, recount)

    def _learn(
        self, pump: Pump, firer: Firer, recount: Recount, claimed: Claimed, *, watching: bool | None
    ) -> None:
        self._lines_outage.answered()
        self._portrait.answered()
        pump.learn(claimed, watching=watching)
        recount.watching = pump.watching
        firer.learn(claimed, watching=watching)
        for listener in self._listeners:
            listener.update()

    def _new_desk(self, name: str, line: Line) -> Desk:
        return Desk(
            name,
            line,
            slots=self._slots,
            settler=Settler(self._hands, self._stats, self._journal),
            runner=self._runner,
            journal=self._journal,
            stats=self._stats,
            options=self._options,
            presence=self._portrait.presence,
            clock=self._clock,
            answered_late=self._leases.hurry,
        )

    def _new_firer(self, queue: Queue, desk: Desk, registrar: Registrar) -> Firer:
        volley = Volley(
            queue,
            mint=self._outside.mint,
            zone_data=self._outside.zone_data,
            repeats=self._options.fire_repeats,
            clock=self._clock,
            lines=self._schedule_lines,
            stats=self._stats,
        )
        return Firer(
            volley,
            claim=desk.ask_look,
            clock=self._clock,
            beat_ms=self._options.beat_ms,
            outage=self._lines_outage,
            aside=partial(registrar.declare_again, queue.name),
        )

    def _new_registrar(self) -> Registrar:
        return Registrar(
            self._outside.queues,
            self._outside.scheduled,
            worker_id=self._options.worker_id,
            zone_data=self._outside.zone_data,
            fleet=self._outside.fleet,
            clock=self._clock,
            outage=self._lines_outage,
            lines=self._schedule_lines,
            limits=self._outside.limits,
        )

    def _new_runner(self) -> Runner:
        return Runner(
            registry=self._outside.registry,
            notes={queue.name: queue.operator for queue in self._outside.queues}.get,
            middleware=self._outside.middleware,
            options=self._options,
            hands=self._hands,
            judge=Judge(self._options, self._clock, self._outside.dice, self._journal),
            threads=self._threads,
            timeouts=self._timeouts,
            journal=self._journal,
            clock=self._clock,
            freed=self._share_slot,
        )

    def _share_slot(self) -> None:
        self._slots.share()
        for listener in self._listeners:
            listener.update()

    def _lost(self, run: Run, verdict: Verdict) -> None:
        # With its outcome decided a job may well be gone: then the settlement has been there.
        if run in self._hands.running and run.cancel_reason != LEASE_LOST:
            self._journal.lease_lost(run, verdict)
            run.cancel(LEASE_LOST)
            self._timeouts.remind(run)


def _picker(options: WorkerOptions) -> Picker:
    return Strict(options.queues) if options.order == "strict" else Weighted(options.queues)
