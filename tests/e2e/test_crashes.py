"""Nothing is lost: killed workers, a server that is restarted, a worker that is frozen."""

import asyncio
import json
import os
import signal
from collections.abc import Callable
from random import Random
from typing import cast

import pytest
import redis

from echomq_worker import EchoMQ
from echomq_worker.domain.job import JobId
from echomq_worker.embedded import EmbeddedServer
from echomq_worker.store import QueueStore, Server
from tests.e2e.conftest import StartDaemon

Runs = Callable[[str], list[list[str]]]
QUICK_RECOVERY = {"ECHOMQ_LEASE": "1s", "ECHOMQ_BEAT": "200ms"}


async def enqueue_many(server: Server, name: str, *calls: dict[str, object]) -> list[JobId]:
    async with EchoMQ(backend=Server(server.options)) as app:
        return [(await app.enqueue_by_name(name, call)).id for call in calls]


@pytest.mark.case("LSE-29", "SHU-03", "MX-F1-finish")
async def test_another_worker_of_the_same_name_runs_what_a_killed_one_held(
    start_daemon: StartDaemon, server: Server, queue: QueueStore, runs: Runs
):
    (job_id,) = await enqueue_many(server, "rest", {"seconds": 0.3})
    named = QUICK_RECOVERY | {"ECHOMQ_WORKER_NAME": "one-name"}
    first = start_daemon(**named)
    first.wait_until(lambda: bool(runs("started")), "the job's start")
    first.send(signal.SIGKILL)
    first.wait()
    with redis.Redis.from_url(server.options.url) as client:
        workers = cast("list[bytes]", client.zrange(queue.keys.workers, 0, -1))
    for worker in workers:
        await queue.leave(worker.decode())  # as whoever cleans up after the dead would do

    second = start_daemon(**named)
    second.wait_for("job.completed")

    assert [run[:2] for run in runs("started")] == [[job_id, "1"], [job_id, "2"]]
    assert second.events("jobs.recovered")[0]["jobs"] == [job_id]
    counts = await queue.counts()
    assert (counts.completed, counts.active, counts.pending) == (1, 0, 0)


@pytest.mark.case("CRW-01")
async def test_killing_and_stopping_workers_at_random_again_and_again_loses_no_job(
    start_daemon: StartDaemon, server: Server, queue: QueueStore, runs: Runs
):
    dice = Random(3)
    calls: list[dict[str, object]] = [{"seconds": dice.choice((0, 0.05))} for _ in range(600)]
    ids = await enqueue_many(server, "rest", *calls)
    settings = QUICK_RECOVERY | {"ECHOMQ_CONCURRENCY": "8", "ECHOMQ_CRASH_LIMIT": "100"}
    for round_, way in enumerate((signal.SIGKILL, signal.SIGTERM, signal.SIGKILL, signal.SIGTERM)):
        victim = start_daemon(**settings)
        victim.wait_for("job.completed")
        await asyncio.sleep(dice.uniform(0, 0.2))
        victim.send(way)
        assert victim.wait() == (0 if way is signal.SIGTERM else -signal.SIGKILL)
        assert (await queue.counts()).completed < len(ids), f"round {round_} came too late"

    last = start_daemon(**settings)
    while (await queue.counts()).completed < len(ids):
        last.wait_until(lambda: bool(last.events("job.completed")), "completions")
        await asyncio.sleep(0.05)

    counts = await queue.counts()
    assert (counts.pending, counts.active, counts.scheduled, counts.dead) == (0, 0, 0, 0)
    assert counts.completed == len(ids)
    assert {run[0] for run in runs("ran")} == set(ids)


@pytest.mark.case("MX-F3-running", "MX-F3-finish")
async def test_a_frozen_worker_loses_its_lease_and_its_late_finish_is_refused(
    start_daemon: StartDaemon, server: Server, queue: QueueStore, runs: Runs
):
    (job_id,) = await enqueue_many(server, "rest", {"seconds": 0.5})
    frozen = start_daemon(**QUICK_RECOVERY)
    frozen.wait_until(lambda: bool(runs("started")), "the job's start")
    os.kill(frozen.pid, signal.SIGSTOP)

    second = start_daemon(**QUICK_RECOVERY)
    second.wait_for("job.completed")
    os.kill(frozen.pid, signal.SIGCONT)
    frozen.wait_until(
        lambda: bool(frozen.events("job.refused") or frozen.events("job.lease_lost")), "refusal"
    )

    assert second.events("job.completed")[0]["job_id"] == job_id
    assert not frozen.events("job.completed")
    assert (await queue.counts()).completed == 1


@pytest.mark.case("MX-F6-running", "MX-F6-finish")
async def test_a_restarted_server_is_found_again_and_nothing_is_lost(
    start_daemon: StartDaemon,
    server: Server,
    embedded: EmbeddedServer,
    queue: QueueStore,
    runs: Runs,
):
    calls: list[dict[str, object]] = [{"seconds": 0.4} for _ in range(12)]
    ids = await enqueue_many(server, "rest", *calls)
    daemon = start_daemon(ECHOMQ_CONCURRENCY="4", **QUICK_RECOVERY)
    daemon.wait_until(lambda: len(runs("started")) >= 4, "the first jobs")

    embedded.restart(hard=True)

    daemon.wait_until(lambda: {run[0] for run in runs("ran")} == set(ids), "all jobs")
    daemon.send(signal.SIGTERM)
    assert daemon.wait() == 0
    counts = await queue.counts()
    assert (counts.completed, counts.pending, counts.active) == (len(ids), 0, 0)
    assert len(daemon.events("server.back")) <= 1


async def test_no_secret_is_ever_written(
    start_daemon: StartDaemon, server: Server, embedded: EmbeddedServer, queue: QueueStore
):
    password, secret = "hunter2-of-the-server", "hunter2-of-the-bank"
    await enqueue_many(server, "leaky", {})
    with redis.Redis.from_url(embedded.url) as client:
        client.config_set("requirepass", password)
        url = embedded.url.replace("unix://", f"unix://:{password}@")
        daemon = start_daemon(
            ECHOMQ_REDIS_URL=url, ECHOMQ_LOG_LEVEL="debug", E2E_SECRET=secret, PYTHONDEVMODE="1"
        )
        daemon.wait_for("job.buried")
        denied = start_daemon(ECHOMQ_REDIS_URL=url.replace(password, f"{password}-wrong"))
        assert denied.wait() == 77
        daemon.send(signal.SIGTERM)
        assert daemon.wait() == 0
        client.execute_command("AUTH", password)
        client.config_set("requirepass", "")

    said = daemon.said() + denied.said()
    assert password not in said
    assert secret not in said
    assert "the server refused the user or password" in denied.said()
    view = (await queue.dead(1))[0]
    assert secret not in json.dumps((view.failures or b"").decode())
