"""Schedulers that the code declares, fired by real daemons that start, stop and are killed."""

import asyncio
import signal
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import cast

import pytest
import redis

from echomq_worker.store import QueueStore, Server
from echomq_worker.zones import zone_data_version
from tests.e2e.conftest import StartDaemon
from tests.support.processes import Daemon

Runs = Callable[[str], list[list[str]]]
APP = ("run", "clocked:app")
QUICK = {"ECHOMQ_BEAT": "200ms", "ECHOMQ_LEASE": "1s"}
SECOND_MS = 1_000


def fired(runs: Sequence[Sequence[str]]) -> dict[str, dict[int, set[str]]]:
    """Return the jobs that were made for each instant of each scheduler."""
    found: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    for scheduler, instant, job, _ in runs:
        found[scheduler][int(instant)].add(job)
    return found


def wait_for_runs(daemon: Daemon, runs: Runs, count: int, *schedulers: str) -> None:
    """Wait until each of these schedulers has made so many jobs that have run."""
    daemon.wait_until(
        lambda: all(len(fired(runs("ran"))[each]) >= count for each in schedulers),
        f"{count} runs of {' and '.join(schedulers)}",
    )


def assert_each_second_once(runs: Runs, *schedulers: str) -> None:
    """Fail if an occurrence between the first and the last was left out, or made two jobs."""
    for scheduler in schedulers:
        instants = fired(runs("ran"))[scheduler]
        assert sorted(instants) == list(range(min(instants), max(instants) + 1, SECOND_MS))
        assert {len(jobs) for jobs in instants.values()} == {1}


@pytest.mark.slow
@pytest.mark.case("SDU-04")
async def test_what_the_code_declares_fires_and_is_there_once_however_often_it_starts(
    start_daemon: StartDaemon, queue: QueueStore, runs: Runs
):
    seen: list[object] = []
    for start in range(1, 6):
        daemon = start_daemon(*APP, **QUICK)
        daemon.wait_for("worker.started")
        wait_for_runs(daemon, runs, min(3, start), "every", "cron")
        assert daemon.events("worker.introduced")[0]["tz_data"] == zone_data_version()
        daemon.send(signal.SIGTERM)
        assert daemon.wait(3) == 0
        views = await queue.schedulers.list()
        seen.append(sorted((view.name, view.digest, view.created_ms) for view in views))

    assert len(await queue.schedulers.list()) == 2
    assert seen == [seen[0]] * 5
    assert {len(jobs) for each in fired(runs("ran")).values() for jobs in each.values()} == {1}


@pytest.mark.slow
@pytest.mark.case("SDU-10")
async def test_a_killed_watcher_costs_no_occurrence_and_its_schedulers_go_on(
    start_daemon: StartDaemon, server: Server, queue: QueueStore, runs: Runs
):
    daemons = [start_daemon(*APP, **QUICK, E2E_SCHEDULERS=name) for name in ("every", "cron")]
    wait_for_runs(daemons[0], runs, 2, "every", "cron")
    with redis.Redis.from_url(server.options.url, decode_responses=True) as client:
        watcher = cast("str", client.get(queue.keys.pump))
        pid = int(cast("str", client.hget(queue.keys.worker(watcher), "pid")))
    (victim,) = (daemon for daemon in daemons if daemon.pid == pid)
    (other,) = (daemon for daemon in daemons if daemon.pid != pid)
    victim.send(signal.SIGKILL)
    victim.wait()

    before = {name: len(each) for name, each in fired(runs("ran")).items()}
    wait_for_runs(other, runs, max(before.values()) + 3, "every", "cron")
    for name in ("every", "cron"):
        await queue.schedulers.pause(name)
    while (counts := await queue.counts()).pending or counts.active:  # noqa: ASYNC110 - no event
        await asyncio.sleep(0.05)
    other.send(signal.SIGTERM)
    assert other.wait(3) == 0

    assert_each_second_once(runs, "every", "cron")
    for view in await queue.schedulers.list():
        assert view.missed == 0
        assert view.count == len(fired(runs("ran"))[view.name])
