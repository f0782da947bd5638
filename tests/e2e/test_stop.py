"""How a worker stops: signals, running jobs, and the time it takes."""

import signal
import time
from collections.abc import Callable, Mapping

import pytest

from echomq_worker import EchoMQ
from echomq_worker.domain.job import JobId, State
from echomq_worker.embedded import EmbeddedServer
from echomq_worker.store import QueueStore, Server
from tests.e2e.conftest import StartDaemon
from tests.support.processes import Daemon

Runs = Callable[[str], list[list[str]]]
SHORT = {"ECHOMQ_SHUTDOWN_TIMEOUT": "1s", "ECHOMQ_SHUTDOWN_CANCEL_GRACE": "500ms"}
LATEST_S = 2.0
"""No process may outlive its budget by more."""
BOUNDS = ("1ms", "5ms", "10ms", "50ms", "100ms", "500ms", "1s", "5s")


async def enqueue(server: Server, name: str, **arguments: object) -> JobId:
    async with EchoMQ(backend=Server(server.options)) as app:
        return (await app.enqueue_by_name(name, arguments)).id


async def run_one(
    server: Server,
    start_daemon: StartDaemon,
    runs: Runs,
    name: str,
    settings: Mapping[str, str],
    **arguments: object,
) -> tuple[Daemon, JobId]:
    """Start a worker, and a job in it."""
    job_id = await enqueue(server, name, **arguments)
    daemon = start_daemon(**settings)
    daemon.wait_until(lambda: bool(runs("started")), "the job's start")
    return daemon, job_id


async def test_a_term_lets_running_jobs_finish_and_claims_no_others(
    start_daemon: StartDaemon, server: Server, queue: QueueStore, runs: Runs
):
    daemon, _ = await run_one(server, start_daemon, runs, "rest", {}, seconds=1)
    daemon.send(signal.SIGTERM)
    daemon.wait_for("worker.draining")
    late = await enqueue(server, "quick", number=1)

    assert daemon.wait(3) == 0
    assert len(runs("ran")) == 1
    counts = await queue.counts()
    assert (counts.completed, counts.pending, counts.active) == (1, 1, 0)
    assert await queue.pending_ids(2) == [late]


@pytest.mark.parametrize(("job", "arguments"), [("rest", {"seconds": 60}), ("watchful", {})])
async def test_what_does_not_finish_is_handed_back_with_the_attempt_uncounted(
    job: str,
    arguments: dict[str, object],
    start_daemon: StartDaemon,
    server: Server,
    queue: QueueStore,
    runs: Runs,
):
    daemon, job_id = await run_one(server, start_daemon, runs, job, SHORT, **arguments)
    sent_at = daemon.send(signal.SIGTERM)

    assert daemon.wait(5) == 0
    assert time.monotonic() - sent_at < 1 + LATEST_S
    assert not runs("ran")
    view = await queue.inspect(job_id)
    assert view is not None
    assert (view.state, view.attempts, view.token) == (State.PENDING, 0, 1)
    assert daemon.events("job.returned")[0]["job_id"] == job_id


async def test_a_second_interrupt_cancels_at_once(
    start_daemon: StartDaemon, server: Server, queue: QueueStore, runs: Runs
):
    daemon, job_id = await run_one(server, start_daemon, runs, "rest", {}, seconds=60)
    daemon.send(signal.SIGINT)
    daemon.wait_for("worker.draining")
    sent_at = daemon.send(signal.SIGINT)

    assert daemon.wait(5) == 0
    assert time.monotonic() - sent_at < LATEST_S
    view = await queue.inspect(job_id)
    assert view is not None
    assert (view.state, view.attempts) == (State.PENDING, 0)


async def test_a_third_interrupt_ends_it_by_force(
    start_daemon: StartDaemon, server: Server, runs: Runs
):
    daemon, _ = await run_one(server, start_daemon, runs, "stubborn", {})
    daemon.send(signal.SIGINT)
    daemon.wait_for("worker.draining")
    daemon.send(signal.SIGINT)
    daemon.wait_for("worker.cancelling")
    sent_at = daemon.send(signal.SIGINT)

    assert daemon.wait(3) == 130
    assert time.monotonic() - sent_at < 1


@pytest.mark.case("SHU-05")
async def test_after_terms_an_interrupt_cancels_and_a_second_ends_it_by_force(
    start_daemon: StartDaemon, server: Server, queue: QueueStore, runs: Runs
):
    daemon, stubborn = await run_one(server, start_daemon, runs, "stubborn", {})
    yielding = await enqueue(server, "rest", seconds=60)
    daemon.wait_until(lambda: len(runs("started")) == 2, "another job's start")
    for _ in range(3):
        daemon.send(signal.SIGTERM)
        daemon.wait_for("worker.draining")
    daemon.wait_for("signal.ignored")
    daemon.send(signal.SIGINT)
    (line,) = daemon.wait_for("job.returned")
    sent_at = daemon.send(signal.SIGINT)

    assert daemon.wait(3) == 130
    assert time.monotonic() - sent_at < 1
    assert line["job_id"] == yielding
    assert await queue.pending_ids(2) == [yielding]
    assert [run[0] for run in runs("refused")] == [stubborn]
    assert len(daemon.events("signal.ignored")) == 1
    assert "Traceback" not in daemon.said()


async def test_a_quit_cancels_without_waiting(
    start_daemon: StartDaemon, server: Server, queue: QueueStore, runs: Runs
):
    daemon, _ = await run_one(server, start_daemon, runs, "rest", {}, seconds=60)
    sent_at = daemon.send(signal.SIGQUIT)

    assert daemon.wait(5) == 0
    assert time.monotonic() - sent_at < LATEST_S
    assert (await queue.counts()).pending == 1


async def test_a_repeated_term_changes_nothing(
    start_daemon: StartDaemon, server: Server, queue: QueueStore, runs: Runs
):
    daemon, _ = await run_one(server, start_daemon, runs, "rest", {}, seconds=1)
    daemon.send(signal.SIGTERM)
    daemon.wait_for("worker.draining")
    daemon.send(signal.SIGTERM)
    daemon.send(signal.SIGTERM)

    assert daemon.wait(3) == 0
    assert (await queue.counts()).completed == 1
    assert len(daemon.events("signal.ignored")) == 1


@pytest.mark.parametrize("job", ["stubborn", "in_thread"])
async def test_what_cannot_be_stopped_is_left_behind_and_the_exit_code_says_so(
    job: str, start_daemon: StartDaemon, server: Server, queue: QueueStore, runs: Runs
):
    arguments = {"seconds": 60} if job == "in_thread" else {}
    daemon, job_id = await run_one(server, start_daemon, runs, job, SHORT, **arguments)
    sent_at = daemon.send(signal.SIGTERM)

    assert daemon.wait(5) == 75
    assert time.monotonic() - sent_at < 1 + LATEST_S
    assert daemon.events("worker.shutdown_incomplete")[0]["jobs"] == [job_id]
    assert (await queue.counts()).active == 1


async def test_a_blocked_loop_still_hears_a_term(
    start_daemon: StartDaemon, server: Server, queue: QueueStore, runs: Runs
):
    daemon, _ = await run_one(server, start_daemon, runs, "block_loop", {}, seconds=1)
    daemon.send(signal.SIGTERM)

    assert daemon.wait(4) == 0
    assert (await queue.counts()).completed == 1


async def test_a_loop_that_stays_blocked_does_not_outlive_the_budget(
    start_daemon: StartDaemon, server: Server, runs: Runs
):
    daemon, _ = await run_one(server, start_daemon, runs, "block_loop", SHORT, seconds=60)
    sent_at = daemon.send(signal.SIGTERM)

    assert daemon.wait(5) == 75
    assert time.monotonic() - sent_at < 1 + LATEST_S
    assert "ended by force" in daemon.said()


async def test_a_stop_ends_in_time_although_the_server_is_gone(
    start_daemon: StartDaemon, server: Server, embedded: EmbeddedServer, runs: Runs
):
    daemon, job_id = await run_one(server, start_daemon, runs, "rest", SHORT, seconds=0.5)
    embedded.stop()
    sent_at = daemon.send(signal.SIGTERM)

    assert daemon.wait(5) == 75
    assert time.monotonic() - sent_at < 1 + LATEST_S
    assert daemon.events("worker.shutdown_incomplete")[0]["jobs"] == [job_id]


async def test_while_the_watcher_drains_due_jobs_are_on_time_through_another_worker(
    start_daemon: StartDaemon, server: Server, runs: Runs
):
    seldom = {"ECHOMQ_BEAT": "10s"}  # whoever is not the watcher looks no more often
    watcher, _ = await run_one(server, start_daemon, runs, "rest", seldom, seconds=60)
    other = start_daemon(**seldom)
    other.wait_for("worker.started")
    time.sleep(0.5)  # noqa: ASYNC251 - its first beat

    watcher.send(signal.SIGTERM)
    watcher.wait_for("worker.draining")
    async with EchoMQ(backend=Server(server.options)) as app:
        await app.enqueue_by_name("quick", {"number": 1}, delay="1s")
    enqueued_at = time.monotonic()

    other.wait_until(lambda: bool(runs("ran")), "the due job")
    assert runs("ran")[0][2] == str(other.process.pid)
    assert time.monotonic() - enqueued_at < 1 + LATEST_S
    assert watcher.process.poll() is None


def test_a_dump_names_what_runs(start_daemon: StartDaemon, runs: Runs):
    daemon = start_daemon()
    daemon.wait_for("worker.started")

    daemon.send(signal.SIGUSR1)

    (line,) = daemon.wait_for("worker.dump")
    assert (line["jobs"], line["did"]) == ([], "no jobs")
    assert set(line["loop_lag"]) <= {f"up to {bound}" for bound in BOUNDS} | {"over 5s"}
    assert "most recent call first" in daemon.errors.read_text()
    assert daemon.process.poll() is None
    assert not runs("started")
