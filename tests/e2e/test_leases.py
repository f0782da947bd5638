"""Leases of jobs whose worker lives but cannot speak: blocked, stuck, cut off."""

import asyncio
import signal
import time
from collections.abc import Callable

import pytest

from echomq_worker import EchoMQ
from echomq_worker.domain.job import JobId
from echomq_worker.embedded import EmbeddedServer
from echomq_worker.store import QueueStore, Server
from tests.e2e.conftest import StartDaemon
from tests.support.processes import Daemon
from tests.support.proxy import Proxy

Runs = Callable[[str], list[list[str]]]
LEASE_S = 0.6
QUICK = {"ECHOMQ_LEASE": "600ms", "ECHOMQ_BEAT": "100ms", "ECHOMQ_REDIS_TIMEOUT": "300ms"}


async def enqueue(server: Server, name: str, **arguments: object) -> JobId:
    async with EchoMQ(backend=Server(server.options)) as app:
        return (await app.enqueue_by_name(name, arguments)).id


async def two_workers(
    server: Server, start_daemon: StartDaemon, runs: Runs, name: str, seconds: float, **more: str
) -> tuple[Daemon, Daemon, JobId]:
    """Start two workers and a job; return first the worker that runs it, then the idle one."""
    workers = [start_daemon(**QUICK, **more) for _ in range(2)]
    for worker in workers:
        worker.wait_for("worker.started")
    job_id = await enqueue(server, name, seconds=seconds)
    workers[0].wait_until(lambda: bool(runs("started")), "the job's start")
    one, other = who_runs_first(workers, runs)
    return one, other, job_id


def who_runs_first(workers: list[Daemon], runs: Runs) -> list[Daemon]:
    """Sort workers: first the one that runs the job."""
    return sorted(workers, key=lambda worker: runs("started")[0][2] != str(worker.pid))


@pytest.mark.case("LSE-05", "MX-F18-running", "MX-F18-finish")
async def test_a_handler_that_blocks_the_loop_for_three_leases_runs_once(
    start_daemon: StartDaemon, server: Server, queue: QueueStore, runs: Runs
):
    one, _, job_id = await two_workers(server, start_daemon, runs, "block_at_first", 3.5 * LEASE_S)

    one.wait_for("job.completed")
    (line,) = one.wait_for("loop.blocked")
    one.send(signal.SIGTERM)

    assert one.wait() == 0
    assert [run[:2] for run in runs("started")] == [[job_id, "1"]]
    assert (line["job_name"], line["job_id"]) == ("block_at_first", job_id)
    lag = one.events("worker.stopped")[0]["loop_lag_max"]
    assert lag > 3.5 * LEASE_S - 0.6  # as it is looked at every half second
    counts = await queue.counts()
    assert (counts.completed, counts.active, counts.pending) == (1, 0, 0)


async def test_a_loop_that_is_stuck_for_good_gives_its_jobs_to_other_workers(
    start_daemon: StartDaemon, server: Server, queue: QueueStore, runs: Runs
):
    bound = {"ECHOMQ_STUCK_AFTER": "1850ms"}
    stuck, other, job_id = await two_workers(
        server, start_daemon, runs, "block_at_first", 4, **bound
    )

    other.wait_for("job.completed")
    assert not runs("ran")[1:]  # the first is still at it
    stuck.wait_for("job.refused")
    quick = await enqueue(server, "quick", number=1)
    stuck.wait_until(lambda: quick in {run[0] for run in runs("ran")}, "another job")

    (line,) = stuck.events("leases.let_go")
    assert (line["jobs"], line["job_names"]) == ([job_id], ["block_at_first"])
    assert 1.85 <= line["lag"] < 3
    assert stuck.events("leases.extended_again")
    assert [run[:2] for run in runs("started")] == [[job_id, "1"], [job_id, "2"]]
    assert not [line for line in stuck.events("job.completed") if line["job_id"] == job_id]
    stuck.send(signal.SIGTERM)
    assert stuck.wait() == 0
    assert "1 refused" in stuck.events("worker.stopped")[0]["did"]
    assert (await queue.counts()).completed == 2


async def test_a_call_that_holds_the_interpreter_is_run_again_and_its_late_finish_is_refused(
    start_daemon: StartDaemon, server: Server, queue: QueueStore, runs: Runs
):
    holder, other, job_id = await two_workers(server, start_daemon, runs, "hold_lock_at_first", 2)

    other.wait_for("job.completed")
    assert len(runs("ran")) == 1
    holder.wait_for("job.refused")

    (line,) = holder.wait_for("loop.blocked")
    assert "hold_lock_at_first" in {line["job_name"], *line.get("suspects", ())}
    assert [run[:2] for run in runs("started")] == [[job_id, "1"], [job_id, "2"]]
    assert not holder.events("job.completed")
    assert (await queue.counts()).completed == 1


async def test_a_late_finish_counts_while_nobody_has_claimed_the_job_again(
    start_daemon: StartDaemon, server: Server, queue: QueueStore, runs: Runs
):
    holder, other, job_id = await two_workers(server, start_daemon, runs, "hold_lock_at_first", 2)
    await queue.pause()

    other.wait_for("jobs.recovered")
    assert await queue.pending_ids(2) == [job_id]
    holder.wait_for("job.completed")

    await queue.resume()
    quick = await enqueue(server, "quick", number=1)
    holder.wait_until(lambda: quick in {run[0] for run in runs("ran")}, "another job")
    assert [run[0] for run in runs("started")] == [job_id]
    assert (await queue.counts()).completed == 2


@pytest.mark.case("LSE-11", "MX-F5-running", "MX-F5-renew")
@pytest.mark.parametrize("name", ["rest_at_first", "in_thread_at_first"])
async def test_a_worker_that_was_cut_off_learns_that_it_has_lost_its_job(
    start_daemon: StartDaemon,
    server: Server,
    embedded: EmbeddedServer,
    queue: QueueStore,
    runs: Runs,
    name: str,
):
    seconds = 60 if name == "rest_at_first" else 4
    async with Proxy(embedded.url) as one, Proxy(embedded.url) as two:
        workers = [start_daemon(ECHOMQ_REDIS_URL=each.url, **QUICK) for each in (one, two)]
        for worker in workers:
            await asyncio.to_thread(worker.wait_for, "worker.started")
        job_id = await enqueue(server, name, seconds=seconds)
        await asyncio.to_thread(workers[0].wait_until, lambda: bool(runs("started")), "the start")
        cut_off, other = who_runs_first(workers, runs)
        proxy = one if cut_off is workers[0] else two
        proxy.deaf = True
        await asyncio.to_thread(other.wait_for, "job.completed")
        proxy.deaf = False
        healed_at = time.monotonic()
        await asyncio.to_thread(cut_off.wait_for, "job.lease_lost")
        # A time-out, a second before the next try to connect, and an extension.
        assert time.monotonic() - healed_at < LEASE_S + 2.5
        if name == "rest_at_first":
            await asyncio.to_thread(cut_off.wait_until, lambda: bool(runs("lost")), "its end")
        else:
            await asyncio.to_thread(cut_off.wait_until, lambda: len(runs("ran")) > 1, "its end")
        cut_off.send(signal.SIGTERM)
        assert await asyncio.to_thread(cut_off.wait) == 0

    assert [run[:2] for run in runs("started")] == [[job_id, "1"], [job_id, "2"]]
    assert not cut_off.events("job.completed")
    did = cut_off.events("worker.stopped")[0]["did"]
    assert did == ("1 lost" if name == "rest_at_first" else "1 refused")
    assert (await queue.counts()).completed == 1


@pytest.mark.case("LSE-04")
async def test_a_worker_that_drains_keeps_the_leases_of_what_still_runs(
    start_daemon: StartDaemon, server: Server, queue: QueueStore, runs: Runs
):
    one, _, job_id = await two_workers(server, start_daemon, runs, "rest", 3.5 * LEASE_S)
    one.send(signal.SIGTERM)

    assert one.wait() == 0
    assert [run[:2] for run in runs("started")] == [[job_id, "1"]]
    assert (await queue.counts()).completed == 1


@pytest.mark.case("LSE-32")
async def test_a_worker_that_was_frozen_with_nobody_to_take_over_ends_with_one_completion(
    start_daemon: StartDaemon, server: Server, queue: QueueStore, runs: Runs
):
    await enqueue(server, "rest", seconds=0.2)
    frozen = start_daemon(**QUICK)
    frozen.wait_until(lambda: bool(runs("started")), "the job's start")
    frozen.send(signal.SIGSTOP)
    await asyncio.sleep(3 * LEASE_S)
    frozen.send(signal.SIGCONT)
    frozen.wait_until(lambda: bool(frozen.events("job.completed")), "completion")
    frozen.send(signal.SIGTERM)

    assert frozen.wait() == 0
    counts = await queue.counts()
    assert (counts.completed, counts.active, counts.pending, counts.dead) == (1, 0, 0, 0)
