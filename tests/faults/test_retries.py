"""Retries that go on for long, attempts that do not count, and what they leave on the server."""

import asyncio

import pytest

from echomq_worker import EchoMQ, JobState, Snooze, testing
from echomq_worker.domain.job import JobId
from echomq_worker.domain.outcome import Completed, Retried, Verdict
from echomq_worker.store import Places, QueueStore, Server, ServerOptions
from echomq_worker.store.line import Line
from echomq_worker.testing import inline
from tests.support.jobs import A, B, claim, enqueue, job_id, settle
from tests.support.look import Look
from tests.support.stores import no_trouble

TEN_SECONDS = 10_000


@pytest.mark.case("RTY-02")
async def test_a_job_that_gives_itself_back_keeps_all_its_attempts():
    starts: list[int] = []
    app = EchoMQ()

    @app.job("work", max_attempts=3, backoff="1s")
    async def work() -> None:
        starts.append(1)
        if len(starts) <= 10:
            raise Snooze(1)
        raise ValueError

    async with inline(app) as kit:
        handle = await work.enqueue()
        for _ in range(20):
            await kit.run_until_idle()
            kit.advance("1s")
        assert len(starts) == 13
        assert await handle.state() is JobState.DEAD


@pytest.mark.case("RTY-04")
async def test_a_job_is_retried_for_longer_than_anything_beside_it_is_kept():
    starts: list[int] = []
    app = EchoMQ()

    @app.job("work", max_attempts=100_000, backoff="10s")
    async def work() -> None:
        starts.append(1)
        raise ValueError

    async with inline(app) as kit:
        handle = await work.enqueue()
        for _ in range(360):
            await kit.run_until_idle()
            kit.advance("10s")
        assert len(starts) == 360
        assert await handle.state() is JobState.SCHEDULED


@pytest.mark.case("RTY-04")
async def test_nothing_that_a_waiting_job_needs_expires(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, A, B)
    for job in await claim(line, 2):
        await settle(line, job, Retried(TEN_SECONDS, "no"))
    expiring = [key for key in await look.key_names() if await look.do("PTTL", key) > 0]
    assert all(key.startswith(f"{look.keys.root}call:") for key in expiring)


@pytest.mark.case("RTY-05")
async def test_a_time_limit_of_hours_does_not_put_off_recovery(
    server_url: str, queue_name: str, line: Line
):
    app = EchoMQ(redis_url=server_url, default_queue=queue_name)
    starts: list[float] = []

    @app.job("work", timeout="6h")
    async def work() -> None:
        starts.append(asyncio.get_running_loop().time())

    async with app:
        await work.enqueue()
        killed = asyncio.get_running_loop().time()
        await line.claim(limit=1, lease_ms=300, promote=0)
        while not starts:
            await testing.run_worker(app, server_url, settings={"ECHOMQ_BEAT": "100ms"})
            await asyncio.sleep(0.02)
            assert asyncio.get_running_loop().time() < killed + 3


@pytest.mark.case("EVT-04")
async def test_each_job_completes_once_however_often_it_was_handed_out(
    server_url: str, queue_name: str, look: Look
):
    ids = [job_id(number) for number in range(50)]
    async with Server(ServerOptions(url=server_url, log_size=10_000)) as server:
        queue = server.queue(queue_name)
        line = queue.line(trouble=no_trouble)
        await enqueue(queue, *ids)
        late: list[tuple[JobId, Verdict]] = []
        old = await claim(line, 50)
        for _ in range(4):
            await look.expire_lease(*ids)
            await queue.reap(100)
            new = await claim(line, 50)
            settled = await line.settle([(job, Completed()) for job in old])
            late += zip((job.id for job in old), settled.verdicts, strict=True)
            old = new
        await line.settle([(job, Completed()) for job in old])
        events = [(entry.event, entry.id) for entry in await queue.log(limit=10_000)]
        await line.aclose()

    assert {verdict for _, verdict in late} == {Verdict.STALE}
    assert sorted(id_ for event, id_ in events if event == "completed") == ids


@pytest.mark.case("RET-01")
async def test_what_remains_does_not_depend_on_how_many_jobs_there_were(
    server_url: str, queue_name: str, look: Look
):
    app = EchoMQ(redis_url=server_url, default_queue=queue_name)

    @app.job("work", keep_result="200ms", backoff="0s", max_attempts=2)
    async def work(n: int) -> int:
        if n % 5 == 0:
            raise ValueError
        return n

    async def remaining(jobs: int) -> list[str]:
        async with app:
            handles = await app.enqueue_many(work.call(n) for n in range(1, jobs + 1))
            await testing.run_worker(app, server_url)
            for handle in handles:
                await handle.cancel()
        async with Server(ServerOptions(url=server_url)) as server:
            queue = server.queue(queue_name)
            for id_ in await queue.dead_ids(1_000):
                await queue.remove(id_, Places.DEAD)
        await asyncio.sleep(0.3)
        return [key for key in await look.key_names() if "call:" not in key]

    few = await remaining(10)
    many = await remaining(200)
    hints = {look.keys.bell, look.keys.clock}  # whether one is left is chance; never more than one
    assert set(many) <= set(few) | {look.keys.completed} | hints
    assert not [key for key in many if ":job:" in key or ":done:" in key]
