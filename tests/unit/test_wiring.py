"""What a worker is made of: options from settings, a server that is reached, a node number."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

import pytest

from echomq_worker.config import Settings, load
from echomq_worker.domain.scheduling.declared import DeclaredScheduler
from echomq_worker.domain.scheduling.template import Template
from echomq_worker.domain.views import ServerInfo
from echomq_worker.errors import AccessError, EvictionPolicyError, HandlerError, UnavailableError
from echomq_worker.store import Server
from echomq_worker.wiring import (
    check_policy,
    declared_schedulers,
    reach_server,
    stop_budget,
    worker_options,
)
from tests.fakes import FakeClock
from tests.unit.worker_schedules import every

INFO = ServerInfo("valkey", "9.1.2", "redis://h:6379/0", "noeviction", 0)


def settings_of(environ: Mapping[str, str]) -> Settings:
    return load(environ).settings


class FlakyServer:
    """Answers after some failures."""

    def __init__(self, clock: FakeClock, *failures: Exception) -> None:
        self.asked_at: list[int] = []
        self._clock = clock
        self._failures = list(failures)

    async def open(self) -> None:
        self.asked_at.append(self._clock.ms)
        if self._failures:
            raise self._failures.pop(0)

    async def describe(self) -> ServerInfo:
        return INFO


def as_server(flaky: FlakyServer) -> Server:
    return cast("Server", flaky)


def test_settings_become_the_options_of_a_worker():
    environ = {
        "ECHOMQ_QUEUES": "mail:3,default",
        "ECHOMQ_QUEUE_ORDER": "strict",
        "ECHOMQ_CONCURRENCY": "7",
        "ECHOMQ_LEASE": "9s",
        "ECHOMQ_BEAT": "500ms",
        "ECHOMQ_MAX_ATTEMPTS": "4",
        "ECHOMQ_CRASH_LIMIT": "3",
        "ECHOMQ_RETRY_DELAY": "2s",
        "ECHOMQ_JOB_TIMEOUT": "1m",
        "ECHOMQ_WORKER_NAME": "w:1",
        "ECHOMQ_SHUTDOWN_TIMEOUT": "10s",
        "ECHOMQ_FIRE_REPEATS": "no",
    }

    options = worker_options(settings_of(environ))

    assert [str(queue) for queue in options.queues] == ["mail:3", "default"]
    assert (options.order, options.concurrency, options.thread_count) == ("strict", 7, 7)
    assert (options.lease_ms, options.renew_every_ms, options.beat_ms) == (9_000, 3_000, 500)
    assert (options.max_attempts, options.crash_limit, options.job_timeout_ms) == (4, 3, 60_000)
    assert options.backoff.delay_ms(3, lambda _low, high: high) == 8_000
    assert options.worker_name == "w:1"
    assert not options.fire_repeats
    budget = stop_budget(settings_of(environ))
    assert (budget.total_ms, budget.cancel_ms) == (10_000, 2_000)


def test_schedulers_without_a_revision_of_their_own_have_that_of_the_deploy():
    declared = [DeclaredScheduler("q", every(1_000, name)) for name in ("a", "b")]
    declared[1] = replace(declared[1], spec=replace(declared[1].spec, revision=7))

    assert [one.spec.revision for one in declared_schedulers(declared, 3)] == [3, 7]
    assert [one.spec.revision for one in declared_schedulers(declared, 0)] == [0, 7]


def test_arguments_of_a_scheduler_have_the_limit_of_a_payload():
    template = Template(name="report", payload=b"x" * 2_000)
    spec = replace(every(1_000, "a"), template=template)
    declared = [DeclaredScheduler("q", spec, "jobs.report")]

    assert declared_schedulers(declared, 0, 2_000) == declared
    with pytest.raises(HandlerError, match=r"arguments of scheduler a \(jobs.report\) are"):
        declared_schedulers(declared, 0, 1_999)


def test_the_longest_wait_is_never_shorter_than_the_first():
    options = worker_options(settings_of({"ECHOMQ_RETRY_DELAY": "1h"}))

    assert options.backoff.delay_ms(5, lambda _low, high: high) == 3_600_000


async def test_a_server_that_is_away_is_asked_again_and_that_is_told_once():
    clock = FakeClock()
    gone = UnavailableError("no answer")
    flaky = FlakyServer(clock, gone, gone, gone)
    told: list[UnavailableError] = []

    reaching = asyncio.create_task(reach_server(as_server(flaky), 30_000, told.append, clock))
    await clock.advance(1_000)

    assert await reaching == INFO
    assert told == [gone]
    assert flaky.asked_at == [0, 100, 300, 700]


async def test_it_is_asked_until_its_time_is_over_and_not_longer():
    clock = FakeClock()
    flaky = FlakyServer(clock, *[UnavailableError("no answer")] * 99)

    reaching = asyncio.create_task(
        reach_server(as_server(flaky), 5_000, lambda _error: None, clock)
    )
    await clock.advance(4_999)
    assert not reaching.done()
    await clock.advance(1)

    with pytest.raises(UnavailableError):
        await reaching
    assert flaky.asked_at[-1] == 5_000


async def test_without_a_limit_it_is_asked_for_ever():
    clock = FakeClock()
    flaky = FlakyServer(clock, *[UnavailableError("no answer")] * 400)

    reaching = asyncio.create_task(reach_server(as_server(flaky), 0, lambda _error: None, clock))
    await clock.advance(3_600_000)

    assert await reaching == INFO


async def test_a_refusal_is_not_asked_again():
    clock = FakeClock()
    flaky = FlakyServer(clock, AccessError("wrong password"))

    with pytest.raises(AccessError):
        await reach_server(as_server(flaky), 30_000, lambda _error: None, clock)
    assert flaky.asked_at == [0]


@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl"])
def test_a_server_that_evicts_is_refused_with_what_to_do(policy: str):
    evicting = ServerInfo("redis", "7.0", "redis://h:6379/0", policy, 0)

    with pytest.raises(EvictionPolicyError) as caught:
        check_policy(evicting, allowed=False)

    assert f"maxmemory-policy is {policy}, expected noeviction" in str(caught.value)
    assert "CONFIG SET maxmemory-policy noeviction" in str(caught.value)
    assert "ECHOMQ_ALLOW_EVICTION=true" in str(caught.value)
    check_policy(evicting, allowed=True)


@pytest.mark.parametrize("policy", ["noeviction", None])
def test_a_server_that_keeps_everything_or_does_not_tell_is_fine(policy: str | None):
    check_policy(ServerInfo("redis", "7.0", "redis://h:6379/0", policy, 0), allowed=False)
