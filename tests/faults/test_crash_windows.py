"""Between two states nothing is lost and nothing done twice, whenever the link or server breaks."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import cast

import pytest
import redis

from echomq_worker import INJECTED, EchoMQ, JobContext
from echomq_worker.embedded import EmbeddedServer
from echomq_worker.errors import UnavailableError
from echomq_worker.protocol.keyspace import Keyspace
from echomq_worker.store import QueueStore
from tests.support.crew import crew, wait_for
from tests.support.jobs import job_id, new_job
from tests.support.look import Look, looking_at
from tests.support.private import QUEUE, cut_all_connections
from tests.support.proxy import Proxy


@pytest.mark.case("CRW-07")
async def test_a_promotion_cut_off_at_random_promotes_each_job_once_and_never_too_many(
    far_queue: QueueStore, proxy: Proxy, look: Look, queue: QueueStore
):
    ids = [job_id(number) for number in range(1_000)]
    await queue.enqueue([new_job(id_, at_ms=1) for id_ in ids])
    proxy.dice, proxy.reset_share = Random(7), 0.3
    left, cuts = len(ids), 0
    while left:
        try:
            await far_queue.promote(50)
        except UnavailableError:
            cuts += 1
        # At one moment, since a call that was cut off may still be on its way.
        count = "return {redis.call('ZCARD', KEYS[1]), redis.call('ZCARD', KEYS[2])}"
        keys = (look.keys.schedule, look.keys.pending)
        before, (left, moved) = left, await look.do("EVAL", count, 2, *keys)
        assert before - left <= 4 * 50  # three tries a call, and a late one
        assert left + moved == len(ids)
    assert await look.places() == {"pending": ids}
    assert cuts


@pytest.mark.case("CRW-09")
async def test_jobs_due_at_the_same_moment_run_once_each_on_many_workers(
    server_url: str, new_queue_name: Callable[[], str]
):
    queues = [new_queue_name(), new_queue_name()]
    runs: list[tuple[str, str, int]] = []
    async with EchoMQ(redis_url=server_url) as app:

        @app.job("note", queue=queues[0])
        async def note(*, context: JobContext = INJECTED) -> None:
            runs.append((context.queue, context.id, context.attempt))

        due = datetime.now(UTC) + timedelta(seconds=1)
        handles = [await note.options(queue=queues[n % 2]).enqueue_at(due) for n in range(400)]
        async with crew(app, server_url, 8, queues=queues, BEAT="50ms"):
            await wait_for(lambda: len(runs) == len(handles))
            await asyncio.sleep(0.2)
    assert sorted(runs) == sorted((handle.queue, handle.id, 1) for handle in handles)


@pytest.mark.case("CRW-10")
async def test_delayed_jobs_outlive_a_killed_server_and_run_on_time(tmp_path: Path):
    late: list[float] = []
    with EmbeddedServer(tmp_path / "server") as server:
        async with EchoMQ(redis_url=server.url, default_queue=QUEUE) as app:
            due = datetime.now(UTC) + timedelta(seconds=1.5)

            @app.job("note")
            async def note() -> None:
                late.append((datetime.now(UTC) - due).total_seconds())

            for _ in range(100):
                await note.enqueue_at(due)
            async with crew(app, server.url, 1, BEAT="100ms"):
                await asyncio.to_thread(server.restart, hard=True)
                await wait_for(lambda: len(late) == 100)
    assert min(late) >= 0
    assert max(late) < 2


@pytest.mark.case("CRW-12")
async def test_one_bad_row_among_fifty_is_set_aside_and_the_others_are_promoted_once(
    queue: QueueStore, look: Look
):
    ids = [job_id(number) for number in range(51)]
    await queue.enqueue([new_job(id_, at_ms=1 + n) for n, id_ in enumerate(ids)])
    await look.do("DEL", look.keys.job(ids[20]))
    await look.do("RPUSH", look.keys.job(ids[20]), "no row")

    moved = [(await queue.promote(100)).moved for _ in range(2)]

    assert moved == [50, 0]
    assert await look.places() == {"pending": ids[:20] + ids[21:]}
    assert [entry["id"] for entry in await look.quarantine()] == [ids[20]]


@pytest.mark.case("CRW-03")
async def test_a_server_that_takes_no_more_connections_loses_no_job(
    private_server: EmbeddedServer, admin: "redis.Redis"
):
    runs: list[str] = []
    keys = Keyspace(QUEUE)
    async with EchoMQ(redis_url=private_server.url, default_queue=QUEUE) as app:

        @app.job("short")
        async def short(*, context: JobContext = INJECTED) -> None:
            await asyncio.sleep(0.02)
            runs.append(context.id)

        handles = await app.enqueue_many(short.call() for _ in range(200))
        settings = {"CONCURRENCY": "4", "LEASE": "500ms", "BEAT": "100ms"}
        async with crew(app, private_server.url, 1, **settings):
            await wait_for(lambda: len(runs) >= 20)
            most = cast("dict[str, str]", admin.config_get("maxclients"))["maxclients"]
            admin.config_set("maxclients", 2)
            cut_all_connections(admin)
            await asyncio.sleep(0.8)
            held = cast(
                "list[tuple[bytes, float]]", admin.zrange(keys.active, 0, -1, withscores=True)
            )
            seconds, _ = admin.time()
            assert all(end < (seconds + 1) * 1_000 + 500 for _, end in held)
            assert len(set(runs)) < 200
            admin.config_set("maxclients", most)
            async with looking_at(private_server.url, QUEUE) as look, asyncio.timeout(15):
                while await look.places():  # noqa: ASYNC110 - what the worker does
                    await asyncio.sleep(0.02)
                counted = await look.hash(keys.completed_count)
    assert set(runs) == {handle.id for handle in handles}
    assert counted["count"] == "200"
