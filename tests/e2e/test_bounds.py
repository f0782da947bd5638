"""The promised bounds, at default settings: after a hard kill, and at a stop."""

import signal
import time
from collections.abc import Callable

import pytest

from echomq_worker import EchoMQ
from echomq_worker.domain.job import JobId, State
from echomq_worker.store import QueueStore, Server
from tests.e2e.conftest import StartDaemon

Runs = Callable[[str], list[list[str]]]
MANY = {"ECHOMQ_CONCURRENCY": "100"}
LEASE_S = 10
RECOVERED_WITHIN_S = LEASE_S + 3


async def enqueue_many(server: Server, name: str, count: int, seconds: float) -> list[JobId]:
    async with EchoMQ(backend=Server(server.options)) as app:
        calls = [app.enqueue_by_name(name, {"seconds": seconds}) for _ in range(count)]
        return [(await call).id for call in calls]


@pytest.mark.slow
@pytest.mark.case("LSE-25", "RTY-05", "MX-F1-renew")
async def test_after_a_hard_kill_a_hundred_running_jobs_run_again_within_the_lease_and_3_s(
    start_daemon: StartDaemon, server: Server, queue: QueueStore, runs: Runs
):
    ids = await enqueue_many(server, "rest_at_first", 100, 60)
    victim = start_daemon(**MANY, ECHOMQ_JOB_TIMEOUT="6h")
    victim.wait_until(lambda: len(runs("started")) == 100, "a hundred jobs")
    heir = start_daemon(**MANY, ECHOMQ_JOB_TIMEOUT="6h")
    heir.wait_for("worker.started")
    time.sleep(1)  # noqa: ASYNC251 - somewhere between two extensions

    killed_at = victim.send(signal.SIGKILL)
    time.sleep(LEASE_S * 2 / 3 - 0.5)  # noqa: ASYNC251 - what is left of the shortest lease
    assert len(runs("started")) == 100
    heir.wait_until(lambda: len(runs("started")) == 200, "all again")
    took_s = time.monotonic() - killed_at

    assert took_s < RECOVERED_WITHIN_S
    heir.wait_for("job.completed", count=100)
    again = [run[:2] for run in runs("started")[100:]]
    assert sorted(again) == sorted([id_, "2"] for id_ in ids)
    assert sorted(run[0] for run in runs("ran")) == sorted(ids)
    counts = await queue.counts()
    assert (counts.completed, counts.failed) == (100, 0)
    assert (counts.active, counts.pending, counts.scheduled, counts.dead) == (0, 0, 0, 0)


async def test_at_a_stop_twenty_jobs_of_two_seconds_finish(
    start_daemon: StartDaemon, server: Server, queue: QueueStore, runs: Runs
):
    ids = await enqueue_many(server, "rest", 20, 2)
    daemon = start_daemon()
    daemon.wait_until(lambda: len(runs("started")) == 20, "twenty jobs")
    sent_at = daemon.send(signal.SIGTERM)

    assert daemon.wait(5) == 0
    assert time.monotonic() - sent_at < 2 + 1
    assert sorted(run[:2] for run in runs("ran")) == sorted([id_, "1"] for id_ in ids)
    counts = await queue.counts()
    assert (counts.completed, counts.active, counts.pending) == (20, 0, 0)


@pytest.mark.case("SHU-02", "MX-F2-running", "MX-F2-drain")
async def test_at_a_short_stop_twenty_jobs_are_handed_back_at_once_and_count_no_attempt(
    start_daemon: StartDaemon, server: Server, queue: QueueStore, runs: Runs
):
    short = {"ECHOMQ_SHUTDOWN_TIMEOUT": "1s", "ECHOMQ_SHUTDOWN_CANCEL_GRACE": "500ms"}
    ids = await enqueue_many(server, "rest", 20, 2)
    daemon = start_daemon(**short)
    daemon.wait_until(lambda: len(runs("started")) == 20, "twenty jobs")
    sent_at = daemon.send(signal.SIGTERM)

    assert daemon.wait(5) == 0
    assert time.monotonic() - sent_at < 1 + 1
    assert await queue.pending_ids(21) == sorted(ids)
    heir = start_daemon()
    heir.wait_for("job.completed", count=20)
    assert sorted(run[:2] for run in runs("ran")) == sorted([id_, "1"] for id_ in ids)
    assert (await queue.counts()).completed == 20


async def test_what_is_handed_back_has_its_attempt_before_it_again(
    start_daemon: StartDaemon, server: Server, queue: QueueStore, runs: Runs
):
    ids = await enqueue_many(server, "rest", 20, 60)
    daemon = start_daemon()
    daemon.wait_until(lambda: len(runs("started")) == 20, "twenty jobs")
    daemon.send(signal.SIGQUIT)

    assert daemon.wait(3) == 0
    assert await queue.pending_ids(21) == sorted(ids)
    for id_ in ids:
        view = await queue.inspect(id_)
        assert view is not None
        assert (view.state, view.attempts, view.token) == (State.PENDING, 0, 1)
