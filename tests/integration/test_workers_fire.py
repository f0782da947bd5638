"""Real workers fire schedulers on a real server: once each, on time, whoever else is there."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from itertools import pairwise
from typing import Any, TypeVar

import pytest_asyncio
from structlog.testing import capture_logs

from echomq_worker import EchoMQ, JobContext
from echomq_worker.domain.scheduling.records import SchedulerState, SchedulerView
from echomq_worker.domain.scheduling.spec import SchedulerSpec, scheduler_spec
from echomq_worker.domain.scheduling.template import Template
from echomq_worker.handlers import INJECTED
from echomq_worker.store import QueueStore
from echomq_worker.store.rights import Role
from tests.support.crew import crew, wait_for
from tests.support.least_rights import least
from tests.support.look import Look

DEAD_WATCHER_MS = 600_000
T = TypeVar("T")


class Ran:
    """An application whose jobs note what they were made for."""

    def __init__(self, app: EchoMQ, url: str) -> None:
        self.app = app
        self.url = url
        self.instants: list[tuple[str | None, int | None]] = []

        @app.job("note")
        async def note(context: JobContext = INJECTED) -> None:
            self.instants.append((context.scheduler, context.instant_ms))

        self.note = note

    def of(self, name: str) -> list[int]:
        return sorted(at for scheduler, at in self.instants if scheduler == name and at is not None)


@pytest_asyncio.fixture
async def ran(server_url: str, queue_name: str) -> AsyncGenerator[Ran]:
    url = least(server_url, Role.WORKER)
    async with EchoMQ(redis_url=url, default_queue=queue_name) as app:
        yield Ran(app, url)


def ticking(name: str = "tick", ms: int = 100, **options: Any) -> SchedulerSpec:
    return scheduler_spec(
        name, template=Template(name="note", payload=b"{}"), every=ms / 1_000, **options
    )


async def answer_of(ask: Callable[[], Awaitable[T | None]]) -> T:
    """Ask until the answer says something."""
    async with asyncio.timeout(10):
        while not (answer := await ask()):  # noqa: ASYNC110 - what the workers do sets no event
            await asyncio.sleep(0.01)
    return answer


async def scripts_run(look: Look) -> int:
    """How many scripts the server has run so far."""
    stats: bytes = await look.do("INFO", "commandstats")
    return int(stats.partition(b"cmdstat_evalsha:calls=")[2].partition(b",")[0])


async def put(queue: QueueStore, spec: SchedulerSpec) -> None:
    await queue.schedulers.put(spec, force=True, source="api", tz="")


async def test_what_the_code_declares_is_fired_once_an_instant_by_any_number_of_workers(ran: Ran):
    ran.app.every("100ms", name="tick", misfire="all")(ran.note)
    async with crew(ran.app, ran.url, 3):
        await wait_for(lambda: len(ran.of("tick")) >= 12)

    instants = ran.of("tick")
    assert len(set(instants)) == len(instants), "an instant was fired twice"
    assert {later - sooner for sooner, later in pairwise(instants)} == {100}
    assert all(instant % 100 == 0 for instant in instants)


async def test_one_that_is_put_is_fired_at_once_though_the_next_beat_is_far(
    ran: Ran, queue: QueueStore
):
    await put(queue, ticking("far", 3_600_000))
    async with crew(ran.app, ran.url, 2, BEAT="30s"):
        await asyncio.sleep(0.3)  # until they listen, and sleep towards the far one
        await put(queue, ticking("near", 3_600_000, immediately=True))
        await wait_for(lambda: ran.of("near"))
        await put(queue, ticking("again", 100))
        await wait_for(lambda: len(ran.of("again")) >= 5)
    assert ran.of("far") == []


async def test_what_a_dead_watcher_leaves_is_fired_by_the_others(
    ran: Ran, queue: QueueStore, look: Look
):
    await look.do("SET", queue.keys.pump, "dead", "PX", DEAD_WATCHER_MS)
    await put(queue, ticking("tick", 500))
    async with crew(ran.app, ran.url, 2, BEAT="100ms"):
        await wait_for(lambda: len(ran.of("tick")) >= 3)
    instants = ran.of("tick")
    assert len(set(instants)) == len(instants)
    assert await look.do("GET", queue.keys.pump) == b"dead"


async def test_a_fleet_of_twenty_fires_a_hundred_schedulers_once_each(ran: Ran, queue: QueueStore):
    names = [f"s{number}" for number in range(100)]
    for name in names:
        await put(queue, ticking(name, 3_600_000, immediately=True))
    async with crew(ran.app, ran.url, 20, BEAT="200ms", CONCURRENCY="2"):
        await wait_for(lambda: len(ran.instants) >= 100)
        await asyncio.sleep(0.5)
    assert Counter(name for name, _ in ran.instants) == Counter(names)


async def test_a_scheduler_whose_handler_nobody_has_is_paused_with_that_reason(
    ran: Ran, queue: QueueStore, look: Look
):
    template = Template(name="gone", payload=b"{}")
    spec = scheduler_spec("lost", template=template, every=3_600, immediately=True)
    await put(queue, spec)

    async def paused() -> SchedulerView | None:
        view = await queue.schedulers.get("lost")
        assert view is not None
        return view if view.state is SchedulerState.PAUSED else None

    async with crew(ran.app, ran.url, 1, BEAT="50ms"):
        ids = await answer_of(lambda: look.members(queue.keys.schedule))
        # An hour ago nobody knew it either.
        await look.do("HSET", queue.keys.job(ids[0]), "unknown", 1)
        view = await answer_of(paused)
    assert view.paused is not None
    assert "no handler 'gone'" in str(view.paused.reason)
    assert [run.outcome for run in view.runs] == ["dead"]


async def test_a_corrupt_one_is_set_aside_and_the_others_fire(
    ran: Ran, queue: QueueStore, look: Look
):
    await put(queue, ticking("bad"))
    await put(queue, ticking("good"))
    await look.do("HSET", queue.keys.scheduler("bad"), "every", "often")
    with capture_logs() as logs:
        async with crew(ran.app, ran.url, 1):
            await wait_for(lambda: len(ran.of("good")) >= 3)
    assert [one.name for one in await queue.schedulers.list()] == ["good"]
    assert "schedule.set_aside" in [line["event"] for line in logs]
    await look.do("DEL", *await look.do("KEYS", f"{queue.keys.root}aside:*"))
    await look.do("DEL", queue.keys.quarantine)


async def test_an_occurrence_that_is_not_started_in_time_is_buried_unrun(
    ran: Ran, queue: QueueStore
):
    template = Template(name="note", payload=b"{}", ttl_ms=1)
    spec = scheduler_spec("late", template=template, every=3_600, immediately=True)
    await put(queue, spec)
    await queue.pause(reason="nobody runs anything")
    async with crew(ran.app, ran.url, 1, BEAT="50ms"):
        await answer_of(lambda: queue.pending_ids(1))
        await asyncio.sleep(0.01)
        await queue.resume()
        dead = await answer_of(lambda: queue.dead(1))
    assert ran.instants == []
    assert str(dead[0].last_error).startswith("Expired: it was to be started by ")


async def test_what_a_peer_has_registered_is_fired_unless_its_own_pump_does_it(
    ran: Ran, queue: QueueStore
):
    seen: list[bytes] = []

    @ran.app.raw_handler(queue=queue.name)
    async def raw(payload: bytes) -> None:
        seen.append(payload)

    await queue.repeats.register("sweep", 100, b"sweep")
    async with crew(ran.app, ran.url, 1, FIRE_REPEATS="false"):
        await asyncio.sleep(0.4)
    assert seen == []
    async with crew(ran.app, ran.url, 2):
        await wait_for(lambda: len(seen) >= 5)
    assert set(seen) == {b"sweep"}
    assert await queue.repeats.cancel("sweep")


async def test_an_occurrence_that_was_held_back_fires_when_the_job_before_has_ended(
    ran: Ran, queue: QueueStore, look: Look
):
    gate = asyncio.Event()

    @ran.app.job("slow")
    async def slow(context: JobContext = INJECTED) -> None:
        ran.instants.append((context.scheduler, context.instant_ms))
        await gate.wait()

    template = Template(name="slow", payload=b"{}")
    spec = scheduler_spec(
        "s", template=template, every=3_600, immediately=True, overlap="queue-one"
    )
    await put(queue, spec)
    async with crew(ran.app, ran.url, 1, BEAT="30s"):
        await wait_for(lambda: len(ran.of("s")) == 1)
        instant = await queue.schedulers.now_ms()
        await look.do("HSET", queue.keys.scheduler("s"), "next", instant)
        await look.do("ZADD", queue.keys.schedulers, instant, "s")
        await look.do("LPUSH", queue.keys.clock, "1")
        await answer_of(lambda: look.do("HGET", queue.keys.scheduler("s"), "held"))
        gate.set()
        async with asyncio.timeout(5):
            await wait_for(lambda: len(ran.of("s")) == 2)
    assert ran.of("s")[1] == instant


async def test_idle_workers_send_no_more_than_their_beats_whatever_is_an_hour_away(
    ran: Ran, queue: QueueStore, look: Look
):
    for number in range(120):
        await put(queue, ticking(f"s{number}", 3_600_000))
    beats_s, loop = 0.2, asyncio.get_running_loop()
    async with crew(ran.app, ran.url, 3, BEAT="200ms"):
        await asyncio.sleep(1)  # they have looked through the schedulers once
        calls, began = await scripts_run(look), loop.time()
        await asyncio.sleep(1)
        calls, beats = await scripts_run(look) - calls, 3 * (loop.time() - began) / beats_s
    assert calls <= beats + 3
