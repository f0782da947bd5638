"""Occurrences that nobody fired in time, made up for by a real worker that comes back."""

import asyncio
from datetime import timedelta

import pytest

from echomq_worker import INJECTED, EchoMQ, JobContext
from echomq_worker.domain.scheduling.template import Template
from tests.support.crew import crew, wait_for
from tests.support.schedulers import Timetable, every

PERIOD_MS = 600_000
DAY_MS = 144 * PERIOD_MS
LATE_MS = 5_000
"""How long ago the newest occurrence was: its successor is minutes away."""


@pytest.mark.case("MIS-02", "MIS-05")
@pytest.mark.parametrize(
    ("misfire", "runs"), [("latest", 1), ("none", 1), ("all(max=3)", 3), ("all(max=100)", 100)]
)
async def test_after_a_day_without_workers_as_many_runs_are_made_up_for_as_were_asked_for(
    server_url: str, queue_name: str, times: Timetable, misfire: str, runs: int
):
    app = EchoMQ(redis_url=server_url, default_queue=queue_name)
    ran: list[int] = []

    @app.job("report")
    async def report(*, context: JobContext = INJECTED) -> None:
        ran.append(context.instant_ms or 0)

    made = Template(name="report", payload=b"{}")
    newest = await times.store.now_ms() - LATE_MS
    offset = timedelta(milliseconds=newest % PERIOD_MS)
    await times.put(every(period_ms=PERIOD_MS, offset=offset, misfire=misfire, template=made))
    await times.set_next("s1", newest - DAY_MS)
    async with crew(app, server_url, 3, BEAT="50ms"):
        await wait_for(lambda: len(ran) >= runs)
        await asyncio.sleep(0.2)

    view = await times.view()
    assert sorted(ran) == [newest - n * PERIOD_MS for n in reversed(range(runs))]
    assert (view.count, view.missed) == (runs, DAY_MS // PERIOD_MS + 1 - runs)
    assert view.next_ms == newest + PERIOD_MS
