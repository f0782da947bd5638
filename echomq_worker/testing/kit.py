"""Runs the jobs of a test."""

from collections import Counter
from collections.abc import Sequence

from echomq_worker.domain.backoff import Duration
from echomq_worker.domain.duration import format_duration, parse_duration_ms
from echomq_worker.errors import NotIdleError
from echomq_worker.handlers import Registry
from echomq_worker.testing.backend import InlineBackend
from echomq_worker.testing.base import KitBase
from echomq_worker.testing.bench import Bench
from echomq_worker.testing.report import Ran, Report

MOST_RUNS = 1_000
GIVE_UP: Duration = "10s"


class Kit(KitBase):
    """The jobs of an application, in the hands of an async test. Made by `inline`.

    Args:
        backend: where the jobs are.
        registry: the handlers of the application.
        bench: where they run.
    """

    def __init__(self, backend: InlineBackend, registry: Registry, bench: Bench) -> None:
        super().__init__(backend, registry)
        self._bench = bench

    async def run_until_idle(
        self, *, limit: int = MOST_RUNS, give_up: Duration = GIVE_UP
    ) -> Report:
        """Run what is pending or due, and what these jobs enqueue, until nothing is left.

        Delayed jobs and retries that are not due stay where they are: move the clock on, and call
        this again. Jobs of a paused queue stay as well.

        Args:
            limit: how many attempts may be made.
            give_up: how long to wait for a handler in real time, such as `"10s"`.

        Returns:
            What became of each attempt, in the order in which they ended.

        Raises:
            NotIdleError: if there is no end to it: `limit` attempts were made and there is still
                work although the clock stood still, or a handler does not end.
        """
        runs: list[Ran] = []
        patience_ms = parse_duration_ms(give_up)
        with self._bench.at_work():
            while await self._bench.fill(limit - len(runs)):
                if (ran := await self._bench.next_ended()) is not None:
                    runs.append(ran)
                elif self._bench.idle_ms() > patience_ms:
                    stuck = ", ".join(self._bench.running())
                    await self._bench.stop()
                    raise NotIdleError(_stuck(stuck, patience_ms))
            if self._bench.has_work():
                raise NotIdleError(_endless(runs))
        return Report(tuple(runs))

    async def run_for(
        self, duration: Duration, *, limit: int = MOST_RUNS, give_up: Duration = GIVE_UP
    ) -> Report:
        """Let time pass as if a worker were there all the while, and run what it would run.

        The clock goes from one thing that is due to the next: an occurrence of a scheduler, a
        delayed job, a retry. After `advance`, in contrast, all occurrences that fell into that time
        are due at once, as after an outage, and the misfire policy decides.

        Args:
            duration: how long, such as `"1d"`.
            limit: how many attempts may be made at one instant, while the clock stands still.
            give_up: how long to wait for a handler in real time, such as `"10s"`.

        Returns:
            What became of each attempt, in the order in which they ended.

        Raises:
            NotIdleError: as `run_until_idle`.
        """
        runs: list[Ran] = []
        end_ms = self.clock.now_ms() + parse_duration_ms(duration)
        next_ms: int | None = self.clock.now_ms()
        while next_ms is not None and next_ms <= end_ms:
            self.clock.move_to(next_ms)
            runs += (await self.run_until_idle(limit=limit, give_up=give_up)).runs
            next_ms = self.backend.next_ms()
        self.clock.move_to(end_ms)
        return Report(tuple(runs))


def _stuck(running: str, patience_ms: int) -> str:
    return (
        f"no handler ended within {format_duration(patience_ms)} of real time. "
        f"Running: {running}. Time limits go by the kit's clock, which stands still: what a "
        f"handler waits for can move it, by kit.advance(...). If handlers wait for each other, let "
        f"them run together: inline(app, concurrency=2). If they are only slow, raise give_up="
    )


def _endless(runs: Sequence[Ran]) -> str:
    (name, times), *_ = Counter(ran.name for ran in runs).most_common(1) or [("no job", 0)]
    return (
        f"{len(runs)} attempts were made, {times} of them of {name}, and there is still work, "
        f"although the clock stood still. A job that asks to run again at once (Retry(after=0), "
        f"Snooze(0), a backoff of 0) or that enqueues itself comes to no end: give it a delay, or "
        f"raise limit="
    )
