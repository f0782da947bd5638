"""How a test waits for a job's result: by having the jobs run."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from echomq_worker.domain.clock import Clock
from echomq_worker.errors import NotIdleError
from echomq_worker.testing.bench import Bench
from echomq_worker.testing.report import Report


class WaitingClock:
    """The clock of handles on jobs: to wait for a result is to run what could bring it.

    Args:
        clock: tells the time.
        bench: says if jobs are running.
        run: runs them, in the loop in which this object was made.
    """

    def __init__(self, clock: Clock, bench: Bench, run: Callable[[], Awaitable[Report]]) -> None:
        self._clock = clock
        self._bench = bench
        self._run = run
        self._loop = asyncio.get_running_loop()

    def now_ms(self) -> int:
        """Return the test's time, in Unix milliseconds."""
        return self._clock.now_ms()

    def monotonic_ms(self) -> int:
        """Return real milliseconds: a time-out on a result goes by them."""
        return time.monotonic_ns() // 1_000_000

    async def sleep_ms(self, ms: int) -> None:
        """Run what is pending or due. While jobs run already, wait for `ms` real milliseconds.

        Raises:
            NotIdleError: if there is nothing to run, so that nothing would ever change.
        """
        if self._bench.busy:
            await asyncio.sleep(ms / 1_000)
            return
        if not (await self._have_them_run()).runs:
            msg = (
                "the job whose result is waited for is neither pending nor due, and the clock "
                "stands still: move it on by kit.advance(...), or resume its queue"
            )
            raise NotIdleError(msg)

    async def _have_them_run(self) -> Report:
        if asyncio.get_running_loop() is self._loop:
            return await self._run()
        running = asyncio.run_coroutine_threadsafe(_awaited(self._run), self._loop)
        return await asyncio.wrap_future(running)


async def _awaited(run: Callable[[], Awaitable[Report]]) -> Report:
    return await run()
