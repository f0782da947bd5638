"""Rates and caps when things go wrong: clocks that jump, workers that are killed at any point."""

import asyncio
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from echomq_worker import EchoMQ, UnavailableError
from echomq_worker.domain.gates import parse_rate
from echomq_worker.domain.job import JobId
from echomq_worker.domain.outcome import Completed
from echomq_worker.handlers.standing import Limit
from echomq_worker.store import QueueStore, Server, ServerOptions
from echomq_worker.store.rights import Role
from tests.support.crew import crew, wait_for
from tests.support.cut_wire import CutWire, Fault
from tests.support.gates import never, put
from tests.support.jobs import LEASE_MS, job_id
from tests.support.least_rights import least
from tests.support.look import Look
from tests.support.moved_clock import HOUR_S, server_with_a_clock


def tenant_of(tenant: str) -> str:
    return tenant


@pytest.mark.case("RAT-02")
async def test_ten_groups_that_may_start_once_a_window_start_ten_a_window(
    server_url: str, queue_name: str
):
    app = EchoMQ(redis_url=least(server_url, Role.WORKER), default_queue=queue_name)
    started: Counter[str] = Counter()
    first: dict[str, float] = {}
    last: dict[str, float] = {}

    @app.job("call", limit=Limit("1/250ms", by=tenant_of))
    async def call(tenant: str) -> None:
        now = asyncio.get_running_loop().time()
        first.setdefault(tenant, now)
        last[tenant] = now
        started[tenant] += 1

    async with app:
        groups = [f"g{n}" for n in range(10)]
        await app.enqueue_many(call.call(group) for group in groups for _ in range(4))
        async with crew(app, least(server_url, Role.WORKER), 2, CONCURRENCY="5"):
            await wait_for(lambda: started.total() == 40)
        await app.limits.rate(None, name="call", by_key=True)

    spans = [last[group] - first[group] for group in groups]
    assert min(spans) >= 0.74, "three windows for four starts, in each group"
    assert max(spans) <= 2.5, "no group waits for another's tokens"


@pytest.mark.case("RAT-03")
async def test_no_death_of_a_worker_leaves_a_limit_shut_for_ever(queue: QueueStore, look: Look):
    dice = Random(7)
    await queue.gates.limit_rate("name:mail", parse_rate("20/100ms", burst=3))
    await queue.gates.limit_rate("name:sms", parse_rate("5/100ms", sliding=True))
    await queue.gates.limit_concurrency("name:mail", 2)
    await put(queue, "mail", *(job_id(n) for n in range(40)))
    await put(queue, "sms", *(job_id(n) for n in range(40, 80)))

    for _ in range(60):
        line = queue.line(trouble=never)
        line.wire = wire = CutWire(line.wire)
        fate = dice.choice([None, Fault.LOST, Fault.UNANSWERED])
        if fate is not None:
            wire.next_calls(fate)
        with suppress(UnavailableError):  # its worker is gone, whatever the server has done
            await line.claim(limit=3, lease_ms=1, promote=0)
        await line.aclose()
        for key in await look.key_names():
            if key.startswith(f"{look.keys.root}rate:"):
                assert await look.do("PTTL", key) > 0, f"{key} has no deadline"

    line = queue.line(trouble=never)
    done: set[JobId] = set()
    async with asyncio.timeout(15):
        while len(done) < 80:
            await queue.reap(100)
            told = await line.claim(limit=10, lease_ms=LEASE_MS, promote=0)
            done |= {job.id for job in told.jobs}
            await line.settle([(job, Completed()) for job in told.jobs])
            await asyncio.sleep(0.005)
    await line.aclose()
    assert await look.hash(f"{look.keys.root}busy") == {}


@pytest.mark.case("RAT-05")
@pytest.mark.parametrize("hours", [-1, 1])
async def test_a_limit_is_open_again_within_a_window_after_the_clock_has_jumped(
    tmp_path: Path, hours: int
):
    with server_with_a_clock(tmp_path) as (embedded, clock):
        async with Server(ServerOptions(url=embedded.url)) as server:
            queue = server.queue("q")
            await queue.gates.limit_rate("name:mail", parse_rate("1/100ms"))
            await queue.gates.limit_rate("name:sms", parse_rate("1/100ms", sliding=True))
            await put(queue, "mail", *(job_id(n) for n in range(5)))
            await put(queue, "sms", *(job_id(n) for n in range(5, 10)))
            line = queue.line(trouble=never)
            assert len((await line.claim(limit=9, lease_ms=LEASE_MS, promote=0)).jobs) == 2

            clock.move(hours * HOUR_S)
            began = asyncio.get_running_loop().time()
            for window in range(2):
                jobs: list[JobId] = []
                async with asyncio.timeout(5):
                    while len(jobs) < 2:
                        told = await line.claim(limit=9, lease_ms=LEASE_MS, promote=9)
                        jobs += [job.id for job in told.jobs]
                        await asyncio.sleep(0.005)
                assert asyncio.get_running_loop().time() - began < (window + 1) * 0.1 + 1
            await line.aclose()
