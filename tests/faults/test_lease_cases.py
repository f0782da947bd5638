"""Leases on real workers: who runs a job, how often, and when it is taken back."""

import asyncio
import time
from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from echomq_worker import INJECTED, EchoMQ, JobContext
from echomq_worker.domain.job import State
from echomq_worker.store import QueueStore, Server, ServerOptions
from echomq_worker.store.line import Line
from tests.support.crew import crew, wait_for
from tests.support.jobs import A, claim, enqueue, job_id, new_job
from tests.support.look import Look

QUICK = {"LEASE": "300ms", "BEAT": "100ms"}
SLACK_S = 0.6


@pytest_asyncio.fixture
async def app(server_url: str, queue_name: str) -> AsyncGenerator[EchoMQ]:
    """An application without handlers yet."""
    async with EchoMQ(redis_url=server_url, default_queue=queue_name) as app:
        yield app


async def completed(queue: QueueStore, count: int) -> None:
    """Wait until so many jobs are completed."""
    async with asyncio.timeout(15):
        while (await queue.counts()).completed < count:  # noqa: ASYNC110 - what others do
            await asyncio.sleep(0.01)


@pytest.mark.case("LSE-01", "LSE-02")
async def test_jobs_that_wait_for_many_leases_are_in_no_lease_and_run_once(
    app: EchoMQ, server_url: str, queue: QueueStore, look: Look
):
    runs: list[tuple[str, int]] = []

    @app.job("note")
    async def note(*, context: JobContext = INJECTED) -> None:
        runs.append((context.id, context.attempt))

    async with crew(app, server_url, 4, **QUICK):
        calls = [note.call().after(f"{900 + 5 * n}ms") for n in range(100)]
        ids = [handle.id for handle in await app.enqueue_many(calls)]
        assert await look.places() == {"schedule": ids}
        await wait_for(lambda: len(runs) == len(ids))
        await asyncio.sleep(0.4)  # a lease and a beat
    assert sorted(runs) == sorted((id_, 1) for id_ in ids)
    assert (await queue.counts()).completed == len(ids)


@pytest.mark.case("LSE-07")
async def test_a_job_that_runs_for_many_leases_runs_once(
    app: EchoMQ, server_url: str, look: Look, queue: QueueStore
):
    attempts: list[int] = []

    @app.job("rest")
    async def rest(*, context: JobContext = INJECTED) -> None:
        attempts.append(context.attempt)
        await asyncio.sleep(1.5)

    handle = await rest.enqueue()
    ends = set[int]()
    async with crew(app, server_url, 4, **QUICK):
        while (await queue.counts()).completed == 0:
            ends |= set((await look.scores(look.keys.active)).values())
            await asyncio.sleep(0.01)
    assert attempts == [1]
    assert len(ends) >= 10, handle.id


@pytest.mark.case("LSE-10")
async def test_a_successor_with_an_id_of_its_own_is_there_once_however_often_its_job_is_run(
    app: EchoMQ, server_url: str, look: Look, queue: QueueStore
):
    attempts: list[int] = []
    gate = asyncio.Event()

    @app.job("next")
    async def after() -> None: ...

    @app.job("first")
    async def first(*, context: JobContext = INJECTED) -> None:
        await after.options(job_id=A).enqueue_in("1h")
        attempts.append(context.attempt)
        await gate.wait()

    handle = await first.enqueue()
    async with crew(app, server_url, 1, BEAT="50ms"):
        for attempt in range(1, 4):
            await wait_for(lambda attempt=attempt: len(attempts) == attempt)
            await look.expire_lease(handle.id)
            await queue.reap(9)
        await wait_for(lambda: len(attempts) == 4)
        gate.set()
        await completed(queue, 1)
    assert attempts == [1, 2, 3, 4]
    assert await look.places() == {"schedule": [A]}


@pytest.mark.case("LSE-13")
async def test_a_worker_without_its_handler_takes_a_job_back_and_does_not_bury_it(
    app: EchoMQ, server_url: str, line: Line, queue: QueueStore, look: Look
):
    await queue.enqueue([new_job(A, payload=b"{}", name="known.elsewhere", max_attempts=2)])
    await claim(line)
    await look.expire_lease(A)

    async with crew(app, server_url, 1, **QUICK):
        await asyncio.sleep(0.5)

    view = await queue.inspect(A)
    assert view is not None
    assert view.state in {State.PENDING, State.SCHEDULED}
    assert view.attempts == 1  # the lost one


@pytest.mark.case("LSE-14", "CRW-04")
async def test_no_sweep_takes_a_job_whose_lease_runs(
    app: EchoMQ, server_url: str, queue: QueueStore
):
    runs: list[int] = []

    @app.job("short")
    async def short(number: int) -> None:
        runs.append(number)

    await app.enqueue_many(short.call(number) for number in range(2_000))
    swept = 0
    async with crew(app, server_url, 4, BEAT="10ms"):
        while (await queue.counts()).completed < 2_000:
            reaped = await queue.reap(100)
            swept += len(reaped.recovered) + len(reaped.buried)
            await asyncio.sleep(0.001)
    assert swept == 0
    assert sorted(runs) == list(range(2_000))


@pytest.mark.case("LSE-16")
async def test_workers_that_start_take_nothing_from_those_that_live(
    app: EchoMQ, server_url: str, queue: QueueStore, line: Line, look: Look
):
    ids = [job_id(number) for number in range(1_000)]
    await queue.enqueue([new_job(id_) for id_ in ids])
    await claim(line, 1_000)
    for _ in range(2):
        async with crew(app, server_url, 5, BEAT="10ms"):
            await asyncio.sleep(0.1)
    assert await look.places() == {"active": ids}
    assert "crashes" not in await look.row(ids[0])


@pytest.mark.case("LSE-17")
async def test_each_lost_lease_is_taken_back_by_one_of_many_sweepers(
    server_url: str, queue: QueueStore, line: Line, look: Look
):
    ids = [job_id(number) for number in range(300)]
    await queue.enqueue([new_job(id_) for id_ in ids])
    await claim(line, 300)
    await look.expire_lease(*ids)

    async def sweep() -> tuple[str, ...]:
        async with Server(ServerOptions(url=server_url)) as server:
            found: tuple[str, ...] = ()
            while part := (await server.queue(queue.name).reap(7)).recovered:
                found += part
            return found

    swept = await asyncio.gather(*(sweep() for _ in range(16)))

    assert sorted(id_ for part in swept for id_ in part) == ids
    assert sum(map(bool, swept)) > 1
    for id_ in ids[::50]:
        row = await look.row(id_)
        assert (row["attempts"], row["crashes"]) == ("1", "1")
    again = await claim(line, 300)
    assert {held.token for held in again} == {2}


@pytest.mark.case("LSE-20", "LSE-22")
async def test_a_lease_without_a_row_is_set_aside_once_and_stops_nobody(
    queue: QueueStore, line: Line, look: Look
):
    ids = [job_id(number) for number in range(101)]
    await queue.enqueue([new_job(id_) for id_ in ids])
    await claim(line, 101)
    await look.expire_lease(*ids)
    await look.do("DEL", look.keys.job(ids[0]))

    sweeps = [await queue.reap(200) for _ in range(3)]

    assert [len(sweep.recovered) for sweep in sweeps] == [100, 0, 0]
    assert await look.places() == {"pending": ids[1:]}
    assert [entry["id"] for entry in await look.quarantine()] == [ids[0]]


@pytest.mark.case("LSE-26")
@pytest.mark.parametrize("lease_ms", [300, 1_200])
async def test_how_soon_a_lost_job_runs_again_follows_its_lease(
    app: EchoMQ, server_url: str, queue: QueueStore, line: Line, lease_ms: int
):
    started: list[float] = []

    @app.raw_handler(queue=queue.name)
    async def note(_payload: bytes) -> None:
        started.append(time.monotonic())

    await enqueue(queue, A)
    claimed_at = time.monotonic()
    await line.claim(limit=1, lease_ms=lease_ms, promote=0)
    async with crew(app, server_url, 2, BEAT="100ms"):
        await wait_for(lambda: started)
    assert lease_ms / 1_000 <= started[0] - claimed_at < lease_ms / 1_000 + 0.1 + SLACK_S
