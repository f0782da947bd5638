"""Schedulers that fire twice, or are there twice: after restarts, by several workers, by edits."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest

from echomq_worker import INJECTED, EchoMQ, JobContext
from echomq_worker.client import Job
from echomq_worker.domain.scheduling.records import PutVerdict
from echomq_worker.domain.scheduling.template import Template
from echomq_worker.store import QueueStore
from tests.faults.matrix.gate import Gate
from tests.support.crew import crew, wait_for
from tests.support.jobs import claim
from tests.support.look import Look
from tests.support.schedulers import FIRED, Timetable, cron
from tests.support.stores import NewLine

Noted = list[tuple[str | None, int]]


def app_that_notes(url: str, queue: str) -> tuple[EchoMQ, Job[[], None], Noted]:
    """Make an application whose job `note` remembers for which occurrences it ran."""
    app = EchoMQ(redis_url=url, default_queue=queue)
    noted: Noted = []

    @app.job("note")
    async def note(*, context: JobContext = INJECTED) -> None:
        noted.append((context.scheduler, context.instant_ms or 0))

    return app, note, noted


@asynccontextmanager
async def slow_workers(app: EchoMQ, url: str, count: int, beat: str) -> AsyncGenerator[list[Gate]]:
    """Let workers run, each behind a gate of its own."""
    async with AsyncExitStack() as stack:
        gates: list[Gate] = []
        for _ in range(count):
            gates.append(await stack.enter_async_context(Gate(url)))
            await stack.enter_async_context(crew(app, gates[-1].url, 1, BEAT=beat))
        yield gates


@pytest.mark.case("SDU-01")
async def test_firing_that_takes_longer_than_the_watch_is_held_makes_no_job_twice(
    server_url: str, queue_name: str
):
    app, _, noted = app_that_notes(server_url, queue_name)
    period_ms = 200
    async with app, slow_workers(app, server_url, 4, "50ms") as gates:
        for gate in gates:
            gate.delay_s = 0.15  # a look and a firing take 600 ms, the watch is held for 150 ms
        await app.schedulers.put("tick", "note", every=f"{period_ms}ms", misfire="all(max=100)")
        await asyncio.sleep(3)
        for gate in gates:
            gate.delay_s = 0
        seen = len(noted)
        await wait_for(lambda: len(noted) >= seen + 2)
        await app.schedulers.remove("tick")
        await asyncio.sleep(0.2)

    instants = sorted(instant for _, instant in noted)
    assert instants == list(range(instants[0], instants[-1] + 1, period_ms))
    assert len(instants) > 10


@pytest.mark.case("SDU-03")
async def test_workers_that_start_again_and_again_fire_an_occurrence_once(
    server_url: str, queue_name: str
):
    app, note, noted = app_that_notes(server_url, queue_name)
    app.every("700ms", name="tick", misfire="all(max=100)")(note)
    async with app:
        for _ in range(10):
            async with crew(app, server_url, 2, BEAT="50ms"):
                await asyncio.sleep(0.1)
        async with crew(app, server_url, 1, BEAT="50ms"):
            await wait_for(lambda: len(noted) >= 3)
            await app.schedulers.remove("tick")
            await asyncio.sleep(0.1)

    instants = sorted(instant for _, instant in noted)
    assert instants == list(range(instants[0], instants[-1] + 1, 700))


@pytest.mark.case("SDU-04")
async def test_code_that_is_started_again_and_again_declares_what_it_did_before(
    server_url: str, queue: QueueStore
):
    app, note, _ = app_that_notes(server_url, queue.name)
    app.every("1h", name="hourly")(note)
    app.every("1h", name="later", offset="10m")(note)
    app.cron("0 9 * * MON-FRI", tz="Europe/Berlin", name="mornings")(note)
    seen: list[object] = []
    for _ in range(5):
        async with crew(app, server_url, 1, BEAT="50ms"):
            pass
        views = await queue.schedulers.list()
        seen.append([(v.name, v.next_ms, v.digest, v.created_ms, v.changed_ms) for v in views])

    assert len(app.scheduled) == await queue.schedulers.count() == 3
    assert seen == [seen[0]] * 5


@pytest.mark.case("SDU-06")
async def test_what_was_changed_last_is_what_runs_and_nothing_of_the_old_is_left(
    times: Timetable, look: Look, new_line: NewLine
):
    zones = ("Europe/Berlin", "America/New_York", "Asia/Tokyo")
    for round_, zone in enumerate(zones, 1):
        made = Template(name="report", payload=b'{"round":%d}' % round_)
        verdicts = [await times.put(cron("0 9 * * *", tz="Europe/Paris", template=made))]
        verdicts.append(
            await times.put(cron(f"{round_} 9 * * *", tz="Europe/Paris", template=made))
        )
        newest = cron(f"{round_} 9 * * *", tz=zone, template=made)
        verdicts.append(await times.put(newest))
        assert verdicts[1:] == [PutVerdict.RETIMED] * 2
        view = await times.view()
        assert view.spec == newest
        assert view.next_ms == newest.rule.next_ms(await times.store.now_ms())
        assert await look.scores(look.keys.schedulers) == {"s1": view.wake_ms}
        assert await times.jobs() == []

    await times.make_due()
    assert await times.fire_one() == [FIRED]
    (job,) = await claim(new_line(), 10)
    assert job.payload == b'{"round":3}'


@pytest.mark.case("SDU-09")
async def test_every_kind_of_schedule_fires_again_and_again(server_url: str, queue_name: str):
    app, note, noted = app_that_notes(server_url, queue_name)
    raw: list[bytes] = []

    @app.raw_handler(queue=queue_name)
    async def peers(payload: bytes) -> None:
        raw.append(payload)

    began = datetime.now(UTC)
    app.every("300ms", name="every")(note)
    app.every("300ms", offset="100ms", jitter="50ms", name="every.shifted")(note)
    app.every("300ms", start=began + timedelta(seconds=1), name="every.start")(note)
    app.every("300ms", immediately=True, overlap="queue-one", name="every.immediately")(note)
    app.cron("* * * * * *", name="cron")(note)
    app.cron("* * * * * *", tz="Asia/Kolkata", dst="skip", overlap="skip", name="cron.zoned")(note)
    kinds = {declared.spec.name for declared in app.scheduled}
    async with app, crew(app, server_url, 2, BEAT="50ms"):
        await app.schedulers.put("put.every", "note", every="300ms", misfire="none")
        await app.schedulers.put("put.cron", note, cron="* * * * * *")
        await app.schedulers.register_repeat("peer", "300ms", b"theirs")
        kinds |= {"put.every", "put.cron"}
        await wait_for(lambda: len(raw) > 1 and all(_fired_twice(noted, kind) for kind in kinds))
        for kind in kinds:
            await app.schedulers.remove(kind)
        await app.schedulers.cancel_repeat("peer")
        await asyncio.sleep(0.1)

    assert len(noted) == len(set(noted))
    assert set(raw) == {b"theirs"}


def _fired_twice(noted: Noted, kind: str) -> bool:
    return [name for name, _ in noted].count(kind) > 1
