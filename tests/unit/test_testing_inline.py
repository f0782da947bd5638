"""How an application is put into a test's hands, and given back."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator
from dataclasses import dataclass

import pytest

from echomq_worker import INJECTED, EchoMQ, EchoMQError, HandlerError, JobContext, State, testing
from echomq_worker.domain.replies import Presence
from echomq_worker.testing import InlineBackend, SyncKit, WorkerOptions, fixtures
from tests.unit.client_fakes import FakeBackend

echomq_kit = fixtures.echomq_kit
echomq_sync_kit = fixtures.echomq_sync_kit


@dataclass
class Pool:
    is_open: bool = True


@dataclass
class Seen:
    """What the handler of the application saw."""

    pools: list[Pool]
    contexts: list[JobContext]


@pytest.fixture
def seen() -> Seen:
    return Seen([], [])


@pytest.fixture
def echomq_app(seen: Seen) -> EchoMQ:
    app = EchoMQ(backend=FakeBackend())

    @app.lifespan
    async def lifespan() -> AsyncGenerator[Pool]:
        pool = Pool()
        yield pool
        pool.is_open = False

    @app.job("use", keep_result="1h")
    async def use(n: int, pool: State[Pool] = INJECTED, context: JobContext = INJECTED) -> int:
        assert pool.is_open
        seen.pools.append(pool)
        seen.contexts.append(context)
        return n * 2

    assert lifespan
    assert use
    return app


async def test_the_lifespan_is_open_as_long_as_the_block(echomq_app: EchoMQ, seen: Seen):
    async with testing.inline(echomq_app) as kit:
        for _ in range(2):
            await echomq_app.enqueue_by_name("use", {"n": 1})
            (await kit.run_until_idle()).raise_errors()
        assert seen.pools[0] is seen.pools[1]
        assert seen.pools[0].is_open

    assert not seen.pools[0].is_open


async def test_a_test_may_bring_its_own_state(echomq_app: EchoMQ, seen: Seen):
    own = Pool()
    async with testing.inline(echomq_app, state=own) as kit:
        await echomq_app.enqueue_by_name("use", {"n": 1})
        (await kit.run_until_idle()).raise_errors()

    assert seen.pools == [own]
    assert own.is_open


async def test_a_state_that_handlers_cannot_use_is_refused(echomq_app: EchoMQ):
    with pytest.raises(HandlerError, match=r"State\[Pool\]"):
        async with testing.inline(echomq_app, state="no pool"):
            pass


async def test_an_error_in_the_lifespan_comes_out():
    app = EchoMQ()

    @app.lifespan
    async def broken() -> AsyncGenerator[None]:
        msg = "no database"
        raise OSError(msg)
        yield

    assert broken
    with pytest.raises(OSError, match="no database"):
        async with testing.inline(app):
            pass


async def test_an_error_of_the_test_comes_out_and_the_lifespan_is_left(
    echomq_app: EchoMQ, seen: Seen
):
    async def failing_test() -> None:
        async with testing.inline(echomq_app) as kit:
            await echomq_app.enqueue_by_name("use", {"n": 1})
            await kit.run_until_idle()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await failing_test()
    assert not seen.pools[0].is_open


async def test_the_application_is_as_it_was_afterwards(echomq_app: EchoMQ):
    client, minter = echomq_app.client, echomq_app.minter
    async with testing.inline(echomq_app), echomq_app:
        assert echomq_app.client is not client
        await echomq_app.enqueue_by_name("use", {"n": 1})

    assert echomq_app.client is client
    assert echomq_app.minter is minter
    backend = echomq_app._backend
    assert isinstance(backend, FakeBackend)
    assert (backend.opened, backend.queues) == (0, {})


async def test_no_setting_is_read(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ECHOMQ_REDIS_URL", "nonsense")
    monkeypatch.setenv("ECHOMQ_MAX_ATTEMPTS", "1")
    app = EchoMQ()

    @app.job("fail")
    async def fail() -> None:
        raise OSError

    async with testing.inline(app) as kit:
        await fail.enqueue()
        assert (await kit.run_until_idle()).retried == 1


async def test_options_hold_where_a_handler_says_nothing():
    app = EchoMQ()

    @app.job("fail")
    async def fail() -> None:
        raise OSError

    async with testing.inline(app, options=WorkerOptions(max_attempts=1)) as kit:
        await fail.enqueue()
        assert (await kit.run_until_idle()).buried == 1


async def test_ids_and_deadlines_go_by_the_clock_of_the_test(seen: Seen, echomq_app: EchoMQ):
    async with testing.inline(echomq_app) as kit:
        kit.advance("1d")
        await echomq_app.enqueue_by_name("use", {"n": 1})
        await kit.run_until_idle()

        assert seen.contexts[0].enqueued_ms == kit.clock.now_ms()


async def test_memory_can_stand_in_for_a_server_without_a_kit():
    app = EchoMQ(backend=InlineBackend())

    @app.job("note")
    async def note() -> None: ...

    handle = await note.enqueue()
    assert await handle.state() == "pending"
    assert await handle.cancel()
    assert await handle.state() == "absent"


async def test_jobs_in_memory_that_exists_already_are_run():
    backend = InlineBackend()
    app = EchoMQ(backend=backend)

    @app.job("note")
    async def note() -> None: ...

    await note.enqueue()
    async with testing.inline(app, backend=backend) as kit:
        assert (await kit.run_until_idle()).completed == 1


def test_a_test_that_is_not_async_has_a_kit_as_well(echomq_app: EchoMQ):
    with testing.inline_sync(echomq_app) as kit:
        handle = echomq_app.sync.enqueue_by_name("use", {"n": 4}, delay="10m")
        assert not kit.run_until_idle().runs
        kit.advance("10m")
        kit.run_until_idle().raise_errors()

        assert handle.result() == 8
        assert kit.assert_enqueued("use", n=4).delay_ms == 600_000


def test_to_wait_for_a_result_runs_jobs_there_too(echomq_app: EchoMQ):
    with testing.inline_sync(echomq_app):
        assert echomq_app.sync.enqueue_by_name("use", {"n": 4}).result() == 8


def test_the_lifespan_is_left_in_a_test_that_is_not_async(echomq_app: EchoMQ, seen: Seen):
    def failing_test() -> None:
        with testing.inline_sync(echomq_app) as kit:
            echomq_app.sync.enqueue_by_name("use", {"n": 1})
            kit.run_until_idle()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing_test()
    assert not seen.pools[0].is_open


async def test_an_async_test_is_told_which_kit_to_use(echomq_app: EchoMQ):
    with pytest.raises(EchoMQError, match="runs an event loop"), testing.inline_sync(echomq_app):
        pass


async def test_there_is_a_fixture(echomq_app: EchoMQ, echomq_kit: testing.Kit):
    await echomq_app.enqueue_by_name("use", {"n": 1})
    assert (await echomq_kit.run_until_idle()).completed == 1


def test_there_is_a_fixture_for_tests_that_are_not_async(
    echomq_app: EchoMQ, echomq_sync_kit: SyncKit
):
    echomq_app.sync.enqueue_by_name("use", {"n": 1})
    assert echomq_sync_kit.run_until_idle().completed == 1


async def test_what_still_runs_is_handed_back_at_the_end():
    app, backend, begun = EchoMQ(), InlineBackend(), asyncio.Event()

    @app.job("hang")
    async def hang() -> None:
        begun.set()
        await asyncio.Event().wait()

    async with testing.inline(app, backend=backend) as kit:
        await hang.enqueue()
        running = asyncio.create_task(kit.run_until_idle())
        await begun.wait()
        running.cancel()
        await asyncio.wait((running,))

    counts = await backend.queue("default").counts()
    assert (counts.pending, counts.active) == (1, 0)


async def test_a_worker_that_has_not_beaten_for_too_long_no_longer_counts():
    backend = InlineBackend()
    queue = backend.queue("default")
    await queue.line().beat(
        limit=0,
        lease_ms=1,
        promote=0,
        reap=0,
        crash_limit=0,
        max_attempts=0,
        worker=Presence("w1", ttl_ms=60_000),
    )

    before = (await queue.counts()).workers
    backend.clock.advance("60s")

    assert (before, (await queue.counts()).workers) == (1, 0)


def test_importing_it_loads_neither_redis_nor_pytest():
    code = (
        "import sys, echomq_worker.testing;"
        "print([name for name in ('redis', 'pytest', 'click') if name in sys.modules])"
    )
    found = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"
