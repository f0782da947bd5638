"""What happens to running jobs when the worker stops."""

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol

import structlog

from echomq_worker.domain.clock import Clock
from echomq_worker.worker.hands import Hands
from echomq_worker.worker.run import SHUTDOWN
from echomq_worker.worker.stop import Stop
from echomq_worker.worker.waiting import wait_until

TELL_EVERY_MS = 5_000
ANSWER_MS = 1_000
"""So long the answer of a call that is on its way is waited for, if the budget allows."""
MOST_NAMED = 20


class HasCalls(Protocol):
    """Makes the calls of one queue."""

    queue: str
    """The queue's name."""
    idle: asyncio.Event
    """Set while no call is on its way."""
    ailing: bool
    """True while its calls fail for good."""


class WindDown:
    """Lets running jobs finish, then cancels them, then leaves them behind.

    Args:
        hands: the jobs that this worker holds.
        desks: one for each queue.
        stop: how much time there is.
        clock: waits.
    """

    def __init__(self, hands: Hands, desks: Sequence[HasCalls], stop: Stop, clock: Clock) -> None:
        self._hands = hands
        self._desks = tuple(desks)
        self._idle = tuple(desk.idle for desk in desks)
        self._stop = stop
        self._clock = clock
        self._log: Any = structlog.get_logger("echomq.worker")

    @property
    def _cancel_end_ms(self) -> int:
        """When cancelled handlers must have ended, so that time is left to hand their jobs back."""
        stop = self._stop
        cancel_ms = stop.end_at_ms - stop.cancel_at_ms
        return stop.end_at_ms - min(1_000, cancel_ms // 5)

    async def finish(self) -> None:
        """Let running jobs finish until it is time to cancel them."""
        stop = self._stop
        while not self._hands.quiet.is_set() and not stop.cancelling.is_set():
            now_ms = self._clock.monotonic_ms()
            if now_ms >= stop.cancel_at_ms:
                return
            next_ms = min(stop.cancel_at_ms, now_ms + TELL_EVERY_MS)
            await wait_until(self._clock, next_ms, self._hands.quiet, stop.cancelling)
            if self._clock.monotonic_ms() >= next_ms and not self._hands.quiet.is_set():
                self._log.info("worker.still_draining", **self._left())

    async def cancel(self) -> None:
        """Cancel what still runs; return when all has ended or the time for it is up."""
        if self._hands.quiet.is_set():
            return
        self._log.warning("worker.cancelling", **self._left())
        for run in tuple(self._hands.running):
            run.cancel(SHUTDOWN)
        await wait_until(self._clock, self._cancel_end_ms, self._hands.quiet)

    async def hand_over(self) -> None:
        """Wait until the server has all outcomes, or the time is up.

        A call that is still on its way may bring jobs, which are then handed back. If nothing is
        held, and so nothing is known to be at stake, its answer is not waited for as long; nor is
        an outcome whose queue refuses all calls.
        """
        stop = self._stop
        began_ms = self._clock.monotonic_ms()
        while any(not event.is_set() for event in (self._hands.empty, *self._idle)):
            end_ms = stop.end_at_ms
            if not self._deliverable():
                end_ms = min(end_ms, began_ms + max(ANSWER_MS, stop.budget.cancel_ms))
            if self._clock.monotonic_ms() >= end_ms:
                return
            for event in (self._hands.empty, *self._idle):
                await wait_until(self._clock, end_ms, event)

    def _deliverable(self) -> bool:
        ailing = {desk.queue for desk in self._desks if desk.ailing}
        return any(run.held.queue not in ailing for run in self._hands.held)

    def _left(self) -> dict[str, object]:
        running = self._hands.running
        left_ms = max(0, self._stop.end_at_ms - self._clock.monotonic_ms())
        return {
            "running": len(running),
            "jobs": [run.held.id for run in running][:MOST_NAMED],
            "job_names": self._hands.names(),
            "time_left": left_ms / 1_000,
        }
