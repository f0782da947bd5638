"""Watches the time limits of running jobs."""

from typing import Protocol

from echomq_worker.domain.clock import Clock
from echomq_worker.worker.run import TIMEOUT, Run
from echomq_worker.worker.waiting import Nap

LONGEST_NAP_MS = 3_600_000


class TellsOfOverruns(Protocol):
    """Writes the lines about handlers that do not end in time."""

    def timed_out(self, run: Run) -> None:
        """Say that a run has reached its time limit."""
        ...

    def ignores_cancellation(self, run: Run) -> None:
        """Say that a handler was asked to stop and goes on."""
        ...


class Timeouts:
    """Cancels runs that take too long, and reminds those that do not stop.

    One sleeper serves all: a job with a time limit costs no timer of its own.

    Args:
        clock: tells the time.
        journal: writes the lines.
        grace_ms: how long a cancelled handler may take before it is reminded.
    """

    name = "timeouts"

    def __init__(self, clock: Clock, journal: TellsOfOverruns, *, grace_ms: int) -> None:
        self._clock = clock
        self._journal = journal
        self._grace_ms = max(1_000, grace_ms)
        self._limits: dict[Run, int] = {}
        self._nap = Nap(clock)
        self._wakes_at_ms = 0

    def arm(self, run: Run, ms: int) -> None:
        """Cancel `run` in `ms` milliseconds, unless it is disarmed before."""
        limit_ms = self._clock.monotonic_ms() + ms
        self._limits[run] = limit_ms
        if limit_ms < self._wakes_at_ms:
            self._nap.cut()

    def remind(self, run: Run) -> None:
        """Look after a run that has been cancelled for another reason."""
        self.arm(run, self._grace_ms)

    def disarm(self, run: Run) -> None:
        """Forget about `run`."""
        self._limits.pop(run, None)

    async def run(self) -> None:
        """Watch for ever."""
        while True:
            await self._nap.sleep(self.step())

    def step(self) -> int:
        """Cancel what is over its limit; return how long to sleep, in ms."""
        now_ms = self._clock.monotonic_ms()
        for run, limit_ms in tuple(self._limits.items()):
            if limit_ms <= now_ms:
                self._limits[run] = now_ms + self._grace_ms
                self._overrun(run)
        next_ms = min(self._limits.values(), default=now_ms + LONGEST_NAP_MS)
        self._wakes_at_ms = next_ms
        return next_ms - now_ms

    def _overrun(self, run: Run) -> None:
        if run.cancel_reason is None:
            self._journal.timed_out(run)
        else:
            self._journal.ignores_cancellation(run)
        run.cancel(TIMEOUT)
