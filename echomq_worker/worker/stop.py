"""What has been asked of the worker, and how much time that leaves."""

import asyncio
from dataclasses import dataclass
from enum import IntEnum

from echomq_worker.domain.clock import Clock
from echomq_worker.errors import (
    AccessError,
    HandlerError,
    SettingsError,
    UnavailableError,
    WireVersionError,
)

EXIT_OK = 0
EXIT_CRASH = 1
EXIT_UNREACHABLE = 69
EXIT_INCOMPLETE = 75
EXIT_DENIED = 77
EXIT_MISCONFIGURED = 78
EXIT_FORCED = 130


class Phase(IntEnum):
    """How far the stop has got."""

    RUNNING = 0
    DRAINING = 1
    """Nothing more is claimed; what runs may finish."""
    CANCELLING = 2
    """What still runs is cancelled and handed back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How long a stop may take, in ms."""

    total_ms: int = 25_000
    """From the stop signal to the exit."""
    cancel_ms: int = 5_000
    """The tail of it, in which jobs that still run are cancelled."""

    @property
    def finish_ms(self) -> int:
        """How long running jobs may take to finish by themselves."""
        return max(0, self.total_ms - self.cancel_ms)


class Stop:
    """The wish to stop. Lives on the loop; it only ever becomes more urgent.

    Args:
        clock: tells the time.
        budget: how long it may take.
    """

    def __init__(self, clock: Clock, budget: Budget) -> None:
        self.budget = budget
        self.phase = Phase.RUNNING
        self.reason = ""
        self.exit_code = EXIT_OK
        self.draining = asyncio.Event()
        """Set once nothing more may be claimed."""
        self.cancelling = asyncio.Event()
        """Set once it was asked to cancel what runs before its time."""
        self.began_at_ms = 0
        """When it was first asked to stop, by the monotonic clock."""
        self.cancel_at_ms = 0
        """When jobs that still run are cancelled, in ms of the monotonic clock."""
        self.end_at_ms = 0
        """When the process should be gone."""
        self._clock = clock

    def drain(self, reason: str, at_ms: int | None = None) -> None:
        """Claim nothing more, let running jobs finish, and exit. Asking again changes nothing.

        Args:
            reason: why, for the log.
            at_ms: when it was asked, by the monotonic clock; None: now. The budget runs from then.
        """
        if self.phase >= Phase.DRAINING:
            return
        at_ms = self._clock.monotonic_ms() if at_ms is None else at_ms
        self.phase = Phase.DRAINING
        self.reason = reason
        self.began_at_ms = at_ms
        self.cancel_at_ms = at_ms + self.budget.finish_ms
        self.end_at_ms = at_ms + self.budget.total_ms
        self.draining.set()

    def cancel(self, reason: str, at_ms: int | None = None) -> None:
        """Cancel what runs, hand it back, and exit."""
        at_ms = self._clock.monotonic_ms() if at_ms is None else at_ms
        self.drain(reason, at_ms)
        if self.phase >= Phase.CANCELLING:
            return
        self.phase = Phase.CANCELLING
        self.reason = reason
        self.cancel_at_ms = min(self.cancel_at_ms, at_ms)
        self.end_at_ms = min(self.end_at_ms, at_ms + self.budget.cancel_ms)
        self.cancelling.set()

    def fail(self, error: BaseException, reason: str) -> None:
        """Drain, and exit with the code that fits `error`."""
        if self.exit_code == EXIT_OK:
            self.exit_code = exit_code_of(error)
        self.drain(reason)


def exit_code_of(error: BaseException) -> int:
    """Return the exit code that tells whoever restarts us whether that can help."""
    match error:
        case WireVersionError() | HandlerError() | SettingsError():
            return EXIT_MISCONFIGURED
        case AccessError():
            return EXIT_DENIED
        case UnavailableError():
            return EXIT_UNREACHABLE
        case _:
            return EXIT_CRASH
