"""Keeps the leases of held jobs alive, from a thread that no handler can hold up."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from itertools import groupby
from operator import attrgetter
from typing import Any

import structlog

from echomq_worker.domain.clock import Clock
from echomq_worker.domain.limits import BATCH
from echomq_worker.domain.outcome import Verdict
from echomq_worker.errors import UnavailableError
from echomq_worker.worker.alarm import Alarm
from echomq_worker.worker.hands import Hands
from echomq_worker.worker.ports import BlockingExtends
from echomq_worker.worker.pulse import Pulse
from echomq_worker.worker.run import Run

FAILURES_LIMIT = 5
AGAIN_MS = 200
"""Soon, since the lease is running out; connections have a backoff of their own."""
MOST_NAMED = 20
_by_queue = attrgetter("held.queue")

Lost = Callable[[Run, Verdict], None]
"""Told that a held job is no longer ours."""


class Leases:
    """Extends all leases three times over their length, so that two misses do no harm.

    A loop that is held up costs no lease, until it has been for so long that it may never turn
    again: then other workers are to have its jobs.

    Args:
        hands: the jobs that this worker holds.
        extender: extends them, over a connection of its own.
        lost: told, on the loop, of each job that is no longer ours.
        clock: tells for how long the loop has not turned.
        lease_ms: how long a lease is.
        every_ms: how often leases are extended.
        stuck_ms: no lease is extended while the loop has not turned for so long.
    """

    name = "leases"

    def __init__(  # noqa: PLR0913 - three parts and three times
        self,
        hands: Hands,
        extender: BlockingExtends,
        lost: Lost,
        clock: Clock,
        *,
        lease_ms: int,
        every_ms: int,
        stuck_ms: int,
    ) -> None:
        self._hands = hands
        self._extender = extender
        self._lost = lost
        self._clock = clock
        self._lease_ms = lease_ms
        self._every_ms = every_ms
        self._stuck_ms = stuck_ms
        self._log: Any = structlog.get_logger("echomq.worker")
        self._alarm = Alarm()
        self._failing = False
        self._stuck = False

    async def run(self) -> None:
        """Extend for ever."""
        loop = asyncio.get_running_loop()
        self._alarm = alarm = Alarm()
        broken: asyncio.Future[None] = loop.create_future()
        thread = threading.Thread(
            target=self._keep, args=(alarm, loop, broken), name="echomq-leases", daemon=True
        )
        thread.start()
        try:
            await broken
        finally:
            alarm.end()

    def hurry(self) -> None:
        """Extend at once: what is held has been held for some time already."""
        self._alarm.ring()

    def extend(self, report: Lost) -> None:
        """Extend each lease once; `report` those that are lost. Called in the thread.

        Raises:
            UnavailableError: nothing is known about the rest then.
            Exception: the first of those that single queues have raised, after all were tried.
        """
        errors: list[Exception] = []
        # A copy made in one step: the loop adds and removes meanwhile.
        held = sorted(self._hands.held, key=_by_queue)
        for queue, group in groupby(held, key=_by_queue):
            try:
                self._extend(queue, list(group), report)
            except UnavailableError:  # as for the other queues of the server
                raise
            except Exception as error:  # noqa: BLE001 - a broken queue must not cost the others
                errors.append(error)
        if errors:
            raise errors[0]

    def _extend(self, queue: str, runs: list[Run], report: Lost) -> None:
        for first in range(0, len(runs), BATCH):
            part = runs[first : first + BATCH]
            verdicts = self._extender.extend(queue, [run.held for run in part], self._lease_ms)
            for run, verdict in zip(part, verdicts, strict=True):
                if verdict is not Verdict.OK:
                    report(run, verdict)

    def _keep(
        self,
        alarm: Alarm,
        loop: asyncio.AbstractEventLoop,
        broken: asyncio.Future[None],
    ) -> None:
        def report(run: Run, verdict: Verdict) -> None:
            loop.call_soon_threadsafe(self._lost, run, verdict)

        pulse = Pulse(loop, self._clock, self._turned)
        failures = 0
        with suppress(Exception):  # what is wrong is told when there are leases to extend
            self._extender.open()
        while alarm.sleep(self._wait_ms(failures)):
            if self._is_stuck(pulse):
                continue
            try:
                self.extend(report)
            except UnavailableError as error:
                failures += 1
                self._noticed(error)
            except Exception as error:  # noqa: BLE001 - the service that keeps us decides
                failures += 1
                if failures >= FAILURES_LIMIT:
                    with suppress(RuntimeError):
                        loop.call_soon_threadsafe(_break, broken, error)
                    break
            else:
                failures = 0
                self._recovered()
        self._extender.close()

    def _is_stuck(self, pulse: Pulse) -> bool:
        silent_ms = pulse.silent_ms()
        pulse.ask()
        before, self._stuck = self._stuck, silent_ms >= self._stuck_ms
        if self._stuck and not before:
            self._say_let_go(silent_ms)
        elif before and not self._stuck:
            self._log.warning("leases.extended_again")
        return self._stuck

    def _turned(self) -> None:
        if self._stuck:
            self.hurry()

    def _say_let_go(self, silent_ms: int) -> None:
        held = list(self._hands.held)
        self._log.error(
            "leases.let_go",
            lag=silent_ms / 1_000,
            jobs=[run.held.id for run in held[:MOST_NAMED]],
            job_names=sorted({run.name for run in held}),
            count=len(held),
            hint="the event loop has not turned for so long that other workers are to run these "
            "jobs: a handler that blocks must not be async (then it runs in a thread)",
        )

    def _wait_ms(self, failures: int) -> int:
        return min(self._every_ms, AGAIN_MS) if failures else self._every_ms

    def _noticed(self, error: Exception) -> None:
        if not self._failing:
            self._failing = True
            self._log.warning(
                "leases.not_extended",
                error_message=str(error),
                hint="it is tried again; if it takes longer than the lease, other workers may "
                "run the jobs again",
            )

    def _recovered(self) -> None:
        if self._failing:
            self._failing = False
            self._log.warning("leases.extended_again")


def _break(broken: asyncio.Future[None], error: Exception) -> None:
    if not broken.done():
        broken.set_exception(error)
