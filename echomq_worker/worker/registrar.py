"""Declares the schedulers that stand in the code, and keeps their instants up to date."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Protocol

from echomq_worker.domain.clock import Clock
from echomq_worker.domain.cron import CronRule, clock_changes
from echomq_worker.domain.gates import DeclaredLimit
from echomq_worker.domain.scheduling.declared import DeclaredScheduler
from echomq_worker.domain.scheduling.firing import next_by_newer_data, zone_data_of
from echomq_worker.domain.scheduling.plan import wake_ms
from echomq_worker.domain.scheduling.records import SchedulerState, SchedulerView
from echomq_worker.errors import EchoMQError, OutOfMemoryError, UnavailableError
from echomq_worker.worker.outage import Outage
from echomq_worker.worker.ports import Queue, Schedulers
from echomq_worker.worker.schedule_lines import ScheduleLines
from echomq_worker.worker.waiting import Nap, until
from echomq_worker.zones import newer_data

BEGIN_MS = 2_000
"""The first claim waits for the declarations no longer than this."""
AGAIN_MS = 3_600_000
PAGE = 50
BETWEEN_PAGES_MS = 20
AHEAD_MS = 366 * 86_400_000


class Fleet(Protocol):
    """Knows who else works on a queue."""

    async def zone_data(self, queue: str) -> Mapping[str, str]:
        """Return the version of the time zone data of each living worker, by its id."""
        ...


class Registrar:
    """Sees to the schedulers of the queues that a worker serves.

    At the start, before the first claim if the server answers, it declares what the code declares:
    to do so again changes nothing, and of two versions of the code the higher revision decides.
    From then on, once an hour, one worker of those with the newest time zone data computes the
    instants anew that rest on older data.

    Args:
        queues: the queues that this worker serves.
        declared: what the application declares, also for other queues.
        worker_id: who this worker is.
        zone_data: the version of its time zone data.
        fleet: knows the other workers; None if there are none to know.
        clock: waits, and tells from when on to look for clock changes.
        outage: waits while the server is away or full.
        lines: writes what came of it.
        limits: what the application declares about limits, also for other queues.
    """

    name = "registrar"

    def __init__(  # noqa: PLR0913 - all that it brings together
        self,
        queues: Sequence[Queue],
        declared: Sequence[DeclaredScheduler],
        *,
        worker_id: str,
        zone_data: str,
        fleet: Fleet | None,
        clock: Clock,
        outage: Outage,
        lines: ScheduleLines,
        limits: Sequence[DeclaredLimit] = (),
    ) -> None:
        self._queues = {queue.name: queue for queue in queues}
        self._declared = [one for one in declared if one.queue in self._queues]
        self._waiting = list(self._declared)
        self._limits = [one for one in limits if one.queue in self._queues]
        self._refused: list[DeclaredScheduler] = []
        self._worker_id = worker_id
        self._zone_data = zone_data
        self._fleet = fleet
        self._clock = clock
        self._outage = outage
        self._lines = lines
        self._nap = Nap(clock)

    async def begin(self, draining: asyncio.Event) -> None:
        """Declare what can be declared in a moment, unless the worker stops meanwhile.

        `run` goes on with the rest.
        """
        if not (self._waiting or self._limits):
            return
        async with until(self._clock, self._clock.monotonic_ms() + BEGIN_MS, draining):
            try:
                await self._declare()
            except (UnavailableError, OutOfMemoryError):
                return

    async def run(self) -> None:
        """Declare, and look after the instants for ever."""
        await self._outage.patiently(self._declare)
        self.tell_clock_changes()
        while True:
            for queue in self._queues.values():
                if await self._outage.patiently(lambda queue=queue: self._is_elected(queue.name)):
                    await self._recompute(queue)
            again_ms = self._clock.monotonic_ms() + AGAIN_MS
            while (left_ms := again_ms - self._clock.monotonic_ms()) > 0:
                await self._nap.sleep(left_ms)
                if self._waiting:
                    await self._outage.patiently(self._declare)
            self._waiting, self._refused = self._waiting + self._refused, []
            await self._outage.patiently(self._declare)

    def declare_again(self, queue: str, names: Sequence[str]) -> None:
        """Declare soon what was set aside, as far as the code declares it."""
        missing = [one for one in self._declared if one.queue == queue and one.spec.name in names]
        self._waiting += missing
        self._refused = [one for one in self._refused if one not in missing]
        if missing:
            self._nap.cut()

    def tell_clock_changes(self) -> None:
        """Say of each rule what it does at the next clock change that touches it."""
        now_ms = self._clock.now_ms()
        for one in self._declared:
            if not isinstance(one.spec.rule, CronRule):
                continue
            # What it says is good to know, and no reason to stop a worker.
            with suppress(Exception):
                changes = clock_changes(one.spec.rule, after_ms=now_ms, until_ms=now_ms + AHEAD_MS)
                if changes:
                    self._lines.clock_change(one.queue, one.spec, changes[0].text)

    async def _declare(self) -> None:
        await self._declare_limits()
        while self._waiting:
            one = self._waiting[0]
            spec, queue = one.spec, self._queues[one.queue]
            tz = zone_data_of(spec, self._zone_data)
            try:
                verdict = await queue.schedulers.put(spec, force=False, source="code", tz=tz)
            except (UnavailableError, OutOfMemoryError):
                raise
            except EchoMQError as error:
                self._lines.refused(one.queue, spec, error)
                self._refused.append(one)
            else:
                self._lines.declared(one.queue, spec, verdict)
            del self._waiting[0]

    async def _declare_limits(self) -> None:
        while self._limits:
            one = self._limits[0]
            gates = self._queues[one.queue].gates
            try:
                if one.rate is not None:
                    await gates.limit_rate(one.scope, one.rate)
                if one.concurrency is not None:
                    await gates.limit_concurrency(one.scope, one.concurrency)
            except (UnavailableError, OutOfMemoryError):
                raise
            except EchoMQError as error:
                self._lines.limit_refused(one.queue, one.scope, error)
            del self._limits[0]

    async def _is_elected(self, queue: str) -> bool:
        """Return whether it is on this worker to compute anew, and say if their data differ."""
        if self._fleet is None:
            return bool(self._zone_data)
        told = {**await self._fleet.zone_data(queue), self._worker_id: self._zone_data}
        versions = Counter(told.values())
        if len(versions) > 1:
            self._lines.zone_data_differ(queue, versions, self._zone_data)
        if any(newer_data(version, self._zone_data) for version in versions):
            return False
        peers = [who for who, version in told.items() if not newer_data(self._zone_data, version)]
        return bool(self._zone_data) and self._worker_id == min(peers)

    async def _recompute(self, queue: Queue) -> None:
        schedulers, done = queue.schedulers, 0
        stale = await self._stale(schedulers)
        for view in stale:
            done += await self._outage.patiently(lambda view=view: self._retime(schedulers, view))
        self._lines.recomputed(queue.name, done, self._zone_data)

    async def _stale(self, schedulers: Schedulers) -> list[SchedulerView]:
        stale: list[SchedulerView] = []
        seen = 0
        while True:
            page = await self._outage.patiently(partial(schedulers.list, PAGE, offset=seen))
            stale += [view for view in page if self._is_stale(view)]
            if len(page) < PAGE:
                return stale
            seen += len(page)
            await self._clock.sleep_ms(BETWEEN_PAGES_MS)

    def _is_stale(self, view: SchedulerView) -> bool:
        return (
            view.spec is not None
            and view.state is SchedulerState.WAITING
            and bool(zone_data_of(view.spec, self._zone_data))
            and newer_data(self._zone_data, view.tz)
        )

    async def _retime(self, schedulers: Schedulers, view: SchedulerView) -> bool:
        now_ms = await schedulers.now_ms()
        if view.spec is None or view.next_ms is None or view.next_ms <= now_ms:
            return False  # who fires it goes on with the newest data
        next_ms = next_by_newer_data(
            view.spec, now_ms=now_ms, last_ms=view.last_ms, since_ms=view.since_ms
        )
        if next_ms is None:
            return False
        return await schedulers.retime(
            view.name,
            expected_ms=view.next_ms,
            digest=view.digest,
            next_ms=next_ms,
            wake_ms=wake_ms(view.spec, next_ms),
            tz=self._zone_data,
        )
