"""Keeps services running, and gives up on one that cannot."""

from collections.abc import Callable
from typing import Any, Protocol

import structlog

from echomq_worker.domain.clock import Clock
from echomq_worker.errors import WireVersionError
from echomq_worker.worker.postmortem import for_log

FIRST_WAIT_MS = 200
LONGEST_WAIT_MS = 5_000
FAILURES_LIMIT = 6
"""A service that fails so often in a row is given up."""
HEALTHY_MS = 60_000
"""A service that ran so long is not failing in a row."""

GaveUp = Callable[[str, Exception], None]
"""Told of a service that is given up, and of its last error."""


class Service(Protocol):
    """Something that runs until it is cancelled."""

    name: str
    """What logs call it."""

    async def run(self) -> None:
        """Run; called again after a failure."""
        ...


async def keep_running(service: Service, clock: Clock, gave_up: GaveUp) -> None:
    """Run a service; after a failure run it again, waiting longer while it keeps failing.

    A service that fails again and again, or that finds another wire version, is given up: the
    worker must not live on idle.
    """
    log: Any = structlog.get_logger("echomq.worker")
    failures = 0
    while True:
        started_ms = clock.monotonic_ms()
        try:
            await service.run()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is answered the same way
            healthy = clock.monotonic_ms() - started_ms >= HEALTHY_MS
            failures = 1 if healthy else failures + 1
            if failures >= FAILURES_LIMIT or isinstance(error, WireVersionError):
                log.critical(
                    "service.given_up", service=service.name, failures=failures, **for_log(error)
                )
                gave_up(service.name, error)
                return
            wait_ms = min(LONGEST_WAIT_MS, FIRST_WAIT_MS << failures - 1)
            log.error(  # noqa: TRY400 - for_log says what of it may be shown
                "service.failed",
                service=service.name,
                failures=failures,
                next_run_in=wait_ms / 1_000,
                **for_log(error),
            )
            await clock.sleep_ms(wait_ms)
        else:
            return
