"""Schedulers on a server whose clock a test moves, and with timers that wake too early."""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from echomq_worker import INJECTED, EchoMQ, JobContext
from echomq_worker.domain.job import Claimed
from echomq_worker.store import QueueStore, Server, ServerOptions
from echomq_worker.system_clock import SystemClock
from echomq_worker.worker.firer import Firer
from echomq_worker.worker.outage import Outage
from echomq_worker.worker.schedule_lines import ScheduleLines
from echomq_worker.worker.stats import Stats
from echomq_worker.worker.volley import Volley
from tests.support.crew import crew, wait_for
from tests.support.moved_clock import MovedClock, server_with_a_clock
from tests.support.schedulers import Timetable, cron, every

CHANGE = datetime(2026, 10, 25, 1, tzinfo=UTC)
"""When clocks are set back in Berlin: 03:00 becomes 02:00."""


def set_clock(clock: MovedClock, to: datetime) -> None:
    """Let the server believe that it is some time."""
    clock.move(int((to - datetime.now(UTC)).total_seconds()))


@pytest.mark.case("CDS-12")
async def test_half_past_two_comes_twice_that_night_and_fires_once(tmp_path: Path):
    with server_with_a_clock(tmp_path) as (embedded, clock):
        at = CHANGE - timedelta(hours=1)
        set_clock(clock, at)
        app = EchoMQ(redis_url=embedded.url)
        ran: list[int] = []

        @app.cron("30 2 * * *", tz="Europe/Berlin")
        async def half_past(*, context: JobContext = INJECTED) -> None:
            ran.append(context.instant_ms or 0)

        async with app, crew(app, embedded.url, 2, BEAT="20ms"):
            while at < CHANGE + timedelta(hours=2):
                at += timedelta(minutes=10)
                set_clock(clock, at)
                await asyncio.sleep(0.1)
            view = await app.schedulers.get("half_past")

    # A jump while the job runs would let its lease run out, and the one job run again.
    assert set(ran) == {int((CHANGE - timedelta(minutes=30)).timestamp() * 1_000)}
    assert view is not None
    assert view.count == 1


@pytest.mark.case("CDS-15")
async def test_a_schedule_that_is_removed_and_put_again_around_a_change_is_due_once(
    tmp_path: Path,
):
    spec = cron("30 2 * * *", tz="Europe/Berlin")
    with server_with_a_clock(tmp_path) as (embedded, clock):
        at = CHANGE - timedelta(minutes=90)
        set_clock(clock, at)
        async with Server(ServerOptions(url=embedded.url)) as server:
            store = server.queue("q").schedulers
            for _ in range(20):
                await store.put(spec, force=False, source="code", tz="")
                await store.remove(spec.name)
                await store.put(spec, force=False, source="code", tz="")
                view = await store.get(spec.name)
                assert view is not None
                assert view.next_ms == spec.rule.next_ms(await store.now_ms())
                assert await store.count() == 1
                at += timedelta(minutes=10)
                set_clock(clock, at)


class HastyClock(SystemClock):
    """Wakes its sleepers too early, and says that the whole time has passed."""

    def __init__(self, early_ms: int) -> None:
        self._early_ms = early_ms
        self._skipped_ms = 0

    def monotonic_ms(self) -> int:
        """Return a clock that is ahead by what was not slept."""
        return super().monotonic_ms() + self._skipped_ms

    async def sleep_ms(self, ms: int) -> None:
        """Sleep, but not long enough."""
        early_ms = min(ms, self._early_ms)
        self._early_ms -= early_ms
        await super().sleep_ms(ms - early_ms)
        self._skipped_ms += early_ms


@pytest.mark.case("CPA-10")
async def test_a_timer_that_wakes_too_early_fires_nothing_before_its_time(
    times: Timetable, queue: QueueStore
):
    await times.put(every(period_ms=100))
    now_ms = await times.store.now_ms()
    instant = now_ms // 100 * 100 + 1_000
    await times.set_next("s1", instant)
    clock = HastyClock(800)
    made: list[int] = []
    firer = new_firer(queue, times, clock, made)
    firer.watching = True
    firer.learn(
        Claimed(now_ms=now_ms, next_due_ms=None, left=0, next_fire_ms=instant), watching=True
    )
    task = asyncio.create_task(firer.run())
    await wait_for(lambda: made)
    task.cancel()
    view = await times.view()

    assert clock.monotonic_ms() - time.monotonic_ns() // 1_000_000 > 700  # it did wake early
    assert [note.instant_ms for note in view.runs][:1] == [instant]
    assert view.runs[0].at_ms >= instant
    assert view.count == len({note.instant_ms for note in view.runs})


def new_firer(queue: QueueStore, times: Timetable, clock: SystemClock, made: list[int]) -> Firer:
    """Make the firer of a worker; it says when it has made jobs."""
    volley = Volley(
        queue,
        mint=times.mint,
        zone_data="",
        repeats=False,
        clock=clock,
        lines=ScheduleLines(),
        stats=Stats(),
    )
    return Firer(
        volley,
        claim=lambda: made.append(clock.now_ms()),
        clock=clock,
        beat_ms=1_000,
        outage=Outage(clock, "server", Random(1).uniform),
    )
