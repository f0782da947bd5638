"""What operators do by hand: drain, obliterate, edit jobs; and what jobs tell while they run."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from echomq_worker import INJECTED, EchoMQ, InvalidArgumentError, JobContext
from echomq_worker.domain.lanes import lane_group
from echomq_worker.domain.views import JobNotes
from echomq_worker.errors import ActiveJobsError, NotPausedError, PayloadTooLargeError
from echomq_worker.store import QueueStore
from echomq_worker.store.line import Line
from echomq_worker.store.rights import Role
from echomq_worker.testing import inline
from echomq_worker.testing.backend import InlineBackend
from tests.support.commands import Ask
from tests.support.crew import crew
from tests.support.gates import put, strike
from tests.support.jobs import A, B, C, D, E, F, claim, enqueue, job_id, new_job
from tests.support.least_rights import least
from tests.support.look import Look


@pytest_asyncio.fixture(params=["server", "memory"])
async def both(
    request: pytest.FixtureRequest, server_url: str, queue_name: str
) -> AsyncGenerator[EchoMQ]:
    """An application on a server, and one in memory."""
    backend = InlineBackend() if request.param == "memory" else None
    url = None if backend else least(server_url, Role.OPERATOR)
    async with EchoMQ(url, backend=backend, default_queue=queue_name, max_payload=2_000) as app:
        yield app


async def test_draining_removes_what_waits_wherever_it_waits_but_for_lanes(
    queue: QueueStore, line: Line, look: Look
):
    await enqueue(queue, A)
    running = await claim(line)
    lane = lane_group("acme")
    await queue.enqueue([replace(new_job(B), group=lane), replace(new_job(C), priority=-3)])
    await queue.enqueue([new_job(D, after_ms=60_000), new_job(E)])
    await strike(look, "name:mail")
    await put(queue, "mail", F)
    line.lanes = False
    assert len(await claim(line, 5)) == 2
    await queue.enqueue([new_job(job_id(20)), replace(new_job(job_id(21)), priority=4)])

    assert await queue.operator.drain() == 3

    assert len(running) == 1
    assert (await look.places()) == {"active": [A, C, E], "schedule": [D]}
    assert await look.members(f"{look.keys.root}g:{lane}:pending") == [B]
    assert await queue.operator.drain(scheduled=True) == 1
    await look.do("DEL", f"{look.keys.root}strikes")


async def test_draining_many_jobs_takes_slices(queue: QueueStore, look: Look):
    many = [job_id(n) for n in range(1_201)]
    await enqueue(queue, *many)

    assert await queue.operator.drain() == 1_201

    assert await look.places() == {}


async def test_nothing_of_an_obliterated_queue_is_left(both: EchoMQ):
    @both.job("mail", keep_result="1h")
    async def mail(number: int) -> int:
        return number

    for n in range(5):
        await mail.enqueue(n)
        await mail.options(lane="acme").enqueue(n)
        await mail.options(priority=n).enqueue(n)
        await mail.enqueue_in("1h", n)
    queue = both.default_queue
    with pytest.raises(NotPausedError, match="pause it first"):
        await both.queues.obliterate(queue)
    store: Any = (await both.client.backends.backend()).queue(queue)
    await store.pause()

    await both.queues.obliterate(queue)

    handle = await mail.enqueue(9)
    assert handle.created
    assert await handle.cancel()


async def test_a_queue_of_any_number_of_lanes_is_obliterated(queue: QueueStore, look: Look):
    jobs = [
        replace(new_job(job_id(n)), group=lane_group(f"t-{n}"), lane=f"t-{n}") for n in range(1_700)
    ]
    await queue.enqueue(jobs[:900])
    await queue.enqueue(jobs[900:])
    for n in range(0, 1_700, 3):
        await queue.lanes.limit(f"t-{n}", 1)
    await queue.pause()

    while not await queue.operator.obliterate():
        pass

    assert await look.key_names() == []


async def test_the_last_key_of_an_obliterated_queue_is_the_pause(
    queue: QueueStore, line: Line, look: Look
):
    await put(queue, "mail", *(job_id(n) for n in range(7)))
    await queue.lanes.weight("acme", 3)
    await queue.lanes.limit("acme", 1)
    await queue.enqueue([replace(new_job(job_id(n)), group=lane_group("acme")) for n in (10, 11)])
    await claim(line, 3)
    await look.do("SET", look.keys.dedup("order-1"), job_id(0))
    await queue.pause()
    with pytest.raises(ActiveJobsError, match="active"):
        await queue.operator.obliterate()
    with pytest.raises(InvalidArgumentError, match="from 1"):
        await queue.operator.obliterate(budget=0)

    assert not await queue.operator.obliterate(force=True, budget=2), "there is more"
    assert (await queue.counts()).paused, "a queue that is half gone stays paused"
    while not await queue.operator.obliterate(force=True, budget=2):
        pass

    assert await look.key_names() == []


async def test_a_job_tells_how_far_it_has_come(server_url: str, queue_name: str, look: Look):
    app = EchoMQ(redis_url=least(server_url, Role.WORKER), default_queue=queue_name)
    go_on, told = asyncio.Event(), asyncio.Event()

    @app.job("import")
    async def run(*, context: JobContext = INJECTED) -> None:
        await context.set_progress(0.25)
        await context.set_progress({"done": 3, "of": 12})
        await context.add_log("three rows read")
        await context.add_log("one was empty")
        told.set()
        await go_on.wait()

    async with app:
        handle = await run.enqueue()
        async with (
            look.client.pubsub() as events,
            crew(app, least(server_url, Role.WORKER), 1),
        ):
            await events.subscribe(f"{look.keys.root}events")
            async with asyncio.timeout(10):
                await told.wait()
            notes = await handle.notes()
            go_on.set()
            await wait_for_end(handle.notes)
    assert notes is not None
    assert notes.progress == '{"done": 3, "of": 12}'
    assert notes.lines == ("three rows read", "one was empty")


async def test_a_handler_in_a_thread_tells_it_too(server_url: str, queue_name: str):
    app = EchoMQ(redis_url=least(server_url, Role.WORKER), default_queue=queue_name)
    go_on, told = threading.Event(), threading.Event()

    @app.job("import")
    def run(*, context: JobContext = INJECTED) -> None:
        context.sync.set_progress(0.25)
        context.sync.add_log("three rows read")
        told.set()
        go_on.wait(10)

    async with app:
        handle = await run.enqueue()
        async with crew(app, least(server_url, Role.WORKER), 1):
            await asyncio.to_thread(told.wait, 10)
            notes = await handle.notes()
            go_on.set()
            await wait_for_end(handle.notes)
    assert notes is not None
    assert (notes.progress, notes.lines) == ("0.25", ("three rows read",))


async def wait_for_end(notes: Callable[[], Awaitable[JobNotes | None]]) -> None:
    async with asyncio.timeout(10):
        while await notes() is not None:  # noqa: ASYNC110 - the worker's
            await asyncio.sleep(0.01)


async def test_progress_that_json_cannot_carry_is_refused():
    context = JobContext(id=A, queue="q", name="n", attempt=1, max_attempts=1)

    with pytest.raises(InvalidArgumentError, match=r"such as 0\.5"):
        await context.set_progress(object())


async def test_a_job_may_get_other_arguments_while_it_waits(both: EchoMQ):
    @both.job("mail")
    async def mail(to: str) -> None: ...

    handle = await mail.enqueue("a@b.c")

    assert await mail.update(handle.id, "new@b.c")
    with pytest.raises(PayloadTooLargeError):
        await mail.update(handle.id, "x" * 3_000)

    backend = await both.client.backends.backend()
    view = await backend.queue(both.default_queue).inspect(handle.id)
    assert view is not None
    assert b"new@b.c" in view.payload
    assert await handle.cancel()
    assert not await mail.update(handle.id, "late@b.c")
    assert await handle.notes() is None


async def test_the_kit_keeps_what_a_job_tells(queue_name: str):
    app = EchoMQ(default_queue=queue_name)
    seen: list[JobNotes | None] = []

    @app.job("import")
    async def run(*, context: JobContext = INJECTED) -> None:
        await context.set_progress("half")
        await context.add_log("a line")
        seen.append(await run.handle(context.id).notes())

    async with inline(app) as kit:
        await run.enqueue()
        await kit.run_until_idle()

    assert seen == [JobNotes("half", ("a line",))]


async def test_a_log_keeps_its_newest_lines(queue: QueueStore):
    await enqueue(queue, A)
    for n in range(5):
        await queue.operator.add_log(A, f"line {n}", keep=3)

    notes = await queue.operator.notes(A)

    assert notes is not None
    assert notes.lines == ("line 2", "line 3", "line 4")
    assert await queue.operator.add_log(B, "x") is None


async def test_the_shell_drains_and_obliterates(ask: Ask, queue: QueueStore, look: Look):
    await enqueue(queue, A, B)
    name = queue.name

    look_first = await ask("queue", "drain", name, "--dry-run", "--json")
    unasked = await ask("queue", "drain", name)
    drained = await ask("queue", "drain", name, "--yes", "--json")
    refused = await ask("queue", "obliterate", name, "--yes")
    await ask("queue", "pause", name)
    done = await ask("queue", "obliterate", name, "--yes")

    assert look_first.records == [{"queue": name, "done": False, "jobs": 2}]
    assert unasked.code == 5
    assert drained.records == [{"queue": name, "done": True, "jobs": 2}]
    assert refused.code == 5
    assert f"echomq queue pause {name}" in refused.err
    assert done.code == 0
    assert await look.key_names() == []
