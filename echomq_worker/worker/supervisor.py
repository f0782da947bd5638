"""Keeps services running, and gives up on one that cannot."""

from collections.abc import Callable
from typing import Any, Protocol

import structlog

from echomq_worker.domain.clock import Clock
from echomq_worker.domain.failures import shorten
from echomq_worker.errors import OutOfMemoryError, WireVersionError, WrongTypeError
from echomq_worker.worker.postmortem import for_log, message_of

FIRST_WAIT_MS = 200
LONGEST_WAIT_MS = 5_000
FAILURES_LIMIT = 6
"""A service that fails so often in a row is given up."""
HEALTHY_MS = 60_000
"""A service that ran so long is not failing in a row."""
TELL_EVERY_MS = 30_000
"""A failure that waits for an operator is mentioned no more often."""
_MENDABLE = (WrongTypeError, OutOfMemoryError)

GaveUp = Callable[[str, Exception], None]
"""Told of a service that is given up, and of its last error."""


class Service(Protocol):
    """Something that runs until it is cancelled."""

    name: str
    """What logs call it."""

    async def run(self) -> None:
        """Run; called again after a failure."""
        ...


async def keep_running(
    service: Service, clock: Clock, gave_up: GaveUp, *, patient: bool = True
) -> None:
    """Run a service; after a failure run it again, waiting longer while it keeps failing.

    A service that fails again and again, or that finds another wire version, is given up: the
    worker must not live on idle. What an operator can mend in the server is no reason to, since
    it stops one queue and not the others.

    Args:
        service: what to run.
        clock: waits.
        gave_up: told of a service that is given up.
        patient: whether it waits for an operator; False if somebody waits for this worker to end.
    """
    failures = Failures(service.name, patient=patient)
    while True:
        started_ms = clock.monotonic_ms()
        try:
            await service.run()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is answered the same way
            now_ms = clock.monotonic_ms()
            if now_ms - started_ms >= HEALTHY_MS:
                failures.forget()
            wait_ms = failures.next_wait_ms(error, now_ms)
            if wait_ms is None:
                gave_up(service.name, error)
                return
            await clock.sleep_ms(wait_ms)
        else:
            return


class Failures:
    """The failures of one service in a row, and what is said about them.

    Args:
        service: its name.
        patient: whether what an operator can mend is waited for.
    """

    def __init__(self, service: str, *, patient: bool) -> None:
        self._service = service
        self._patient = patient
        self._count = 0
        self._mendable = 0
        self._told_ms: int | None = None
        self._log: Any = structlog.get_logger("echomq.worker")

    def forget(self) -> None:
        """Start counting anew."""
        self._count = self._mendable = 0

    def next_wait_ms(self, error: Exception, now_ms: int) -> int | None:
        """Return how long to wait before the next run; None if there is to be none."""
        if self._patient and isinstance(error, _MENDABLE):
            self._mendable += 1
            self._tell_mendable(error, now_ms)
            return _wait_ms(self._mendable)
        self._count += 1
        told = self._told(error, self._count)
        if self._count >= FAILURES_LIMIT or isinstance(error, WireVersionError):
            self._log.critical("service.given_up", **told, **for_log(error))
            return None
        wait_ms = _wait_ms(self._count)
        self._log.error("service.failed", **told, next_run_in=wait_ms / 1_000, **for_log(error))
        return wait_ms

    def _tell_mendable(self, error: Exception, now_ms: int) -> None:
        if self._told_ms is not None and now_ms - self._told_ms < TELL_EVERY_MS:
            return
        self._told_ms = now_ms
        self._log.error("service.failed", **self._told(error, self._mendable), hint=_hint(error))

    def _told(self, error: Exception, failures: int) -> dict[str, Any]:
        message = shorten(message_of(error)) or type(error).__qualname__
        return {"service": self._service, "failures": failures, "error_message": message}


def _wait_ms(failures: int) -> int:
    return min(LONGEST_WAIT_MS, FIRST_WAIT_MS << min(failures - 1, LONGEST_WAIT_MS.bit_length()))


def _hint(error: Exception) -> str:
    if isinstance(error, OutOfMemoryError):
        what = "the server has no memory left for writes: free some or raise maxmemory"
    else:
        what = (
            "a key of this queue is not of the type that belongs there: rename or delete it "
            "(redis-cli TYPE tells what it is)"
        )
    return f"{what}; it is tried again every few seconds, and other queues are served meanwhile"
