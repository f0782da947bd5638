"""Workers with other time zone data than those that have timed a scheduler, on a real server."""

import asyncio

import pytest
from structlog.testing import capture_logs

from echomq_worker import EchoMQ
from echomq_worker.domain.cron import CronRule
from echomq_worker.domain.scheduling.records import SchedulerView
from echomq_worker.domain.scheduling.spec import scheduler_spec
from echomq_worker.domain.scheduling.template import Template
from echomq_worker.store import QueueStore
from echomq_worker.store.rights import Role
from echomq_worker.zones import zone_data_version
from tests.support.crew import crew
from tests.support.least_rights import least
from tests.support.look import Look

HOUR_MS = 3_600_000


async def timed_by(queue: QueueStore, look: Look, version: str) -> SchedulerView:
    """Put 09:00 in Vancouver, an hour too late by the data of `version`."""
    template = Template(name="open", payload=b"{}")
    spec = scheduler_spec("shop", template=template, cron="0 9 * * *", tz="America/Vancouver")
    await queue.schedulers.put(spec, force=True, source="api", tz=zone_data_version())
    right = await queue.schedulers.get("shop")
    assert right is not None
    assert right.next_ms is not None
    wrong_ms = right.next_ms + HOUR_MS
    await look.do("HSET", queue.keys.scheduler("shop"), "next", wrong_ms, "tz", version)
    await look.do("ZADD", queue.keys.schedulers, wrong_ms, "shop")
    return right


async def told_by(url: str, queue: QueueStore, event: str) -> list[str]:
    """Let a worker run until a line is logged; return all lines about zone data."""
    app = EchoMQ(redis_url=url, default_queue=queue.name)
    with capture_logs() as logs:
        async with crew(app, url, 1, queues=[queue.name], BEAT="50ms"):
            async with asyncio.timeout(10):
                while event not in [line["event"] for line in logs]:  # noqa: ASYNC110 - logs set none
                    await asyncio.sleep(0.01)
            await asyncio.sleep(0.2)
    return [line["event"] for line in logs if "tz_data" in repr(line)]


@pytest.mark.case("CTZ-02")
async def test_an_instant_of_older_data_is_computed_anew_with_the_newer_data_of_a_worker(
    server_url: str, queue: QueueStore, look: Look
):
    right = await timed_by(queue, look, "2020a")
    lines = await told_by(least(server_url, Role.WORKER), queue, "schedules.recomputed")

    view = await queue.schedulers.get("shop")
    assert view is not None
    assert (view.next_ms, view.wake_ms, view.tz) == (
        right.next_ms,
        right.next_ms,
        zone_data_version(),
    )
    assert "schedules.recomputed" in lines
    assert isinstance(view.spec and view.spec.rule, CronRule)


@pytest.mark.case("CTZ-02")
async def test_a_worker_with_older_data_changes_nothing_and_says_so(
    server_url: str, queue: QueueStore, look: Look
):
    right = await timed_by(queue, look, "9999z")
    # Whoever has timed it still works here.
    await look.do("ZADD", queue.keys.workers, 10**13, "newer")
    await look.do("HSET", queue.keys.worker("newer"), "tz", "9999z")
    await look.do("PEXPIRE", queue.keys.worker("newer"), HOUR_MS)
    lines = await told_by(least(server_url, Role.WORKER), queue, "tz_data.differ")

    view = await queue.schedulers.get("shop")
    assert view is not None
    assert right.next_ms is not None
    assert (view.next_ms, view.tz) == (right.next_ms + HOUR_MS, "9999z")
    assert "schedules.recomputed" not in lines
    await look.do("DEL", queue.keys.worker("newer"))
    await look.do("ZREM", queue.keys.workers, "newer")
