"""The application's lifespan: entered before the first claim, left after the last job."""

import asyncio
from typing import Any

import structlog

from echomq_worker.domain.clock import Clock
from echomq_worker.handlers.lifespan import Lifespan
from echomq_worker.worker.ports import Registry
from echomq_worker.worker.postmortem import for_log
from echomq_worker.worker.stop import Stop
from echomq_worker.worker.waiting import wait_until

TURNS = 3
"""Turns of the loop in which a lifespan that has nothing to wait for is left."""


class Living:
    """Holds the lifespan open, in a task of its own, in which it is both entered and left.

    Args:
        lifespan: makes the context manager.
        registry: checks that the state is what handlers ask for.
        stop: asked to drain if the lifespan ends by itself.
        clock: bounds how long it may take to leave.
    """

    def __init__(
        self, lifespan: Lifespan[Any], registry: Registry, stop: Stop, clock: Clock
    ) -> None:
        self.late = False
        """True if it could not be left in time."""
        self.state: object | None = None
        """What the lifespan has yielded."""
        self._lifespan = lifespan
        self._registry = registry
        self._stop = stop
        self._clock = clock
        self._entered = asyncio.Event()
        self._leave = asyncio.Event()
        self._left = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._log: Any = structlog.get_logger("echomq.worker")

    @property
    def over(self) -> bool:
        """True once it has been left."""
        return self._left.is_set()

    async def enter(self) -> bool:
        """Enter; return False if that failed, or if the worker was asked to stop meanwhile."""
        self._task = asyncio.create_task(self._live())
        for_ever_ms = self._clock.monotonic_ms() + 10**12
        await wait_until(self._clock, for_ever_ms, self._entered, self._left, self._stop.draining)
        return self._entered.is_set() and not self._stop.draining.is_set()

    async def leave(self) -> None:
        """Leave, or give up when the budget of the stop is used up."""
        if self._task is None:
            return
        self._leave.set()
        if not self._entered.is_set():
            self._task.cancel()
        await wait_until(self._clock, self._stop.end_at_ms, self._left)
        for _ in range(TURNS):
            await asyncio.sleep(0)
        if not self._left.is_set():
            self.late = True
            self._log.error("lifespan.not_left", hint="it took longer than the stop may take")
            self._task.cancel()

    async def _live(self) -> None:
        try:
            async with self._lifespan() as state:
                self._registry.check_state(state)
                self.state = state
                self._entered.set()
                await self._leave.wait()
        except (Exception, SystemExit, KeyboardInterrupt) as error:  # noqa: BLE001 - not our code
            self._failed(error)
        except asyncio.CancelledError as error:
            if self._leave.is_set():  # by us, or by the end of the application
                raise
            self._failed(error)
        finally:
            self._left.set()

    def _failed(self, error: BaseException) -> None:
        moment = "stop" if self._leave.is_set() else "run" if self._entered.is_set() else "start"
        self._log.critical("lifespan.failed", moment=moment, **for_log(error))
        self._stop.fail(error, "the application's lifespan failed")
