"""Schedulers in the kit: what a test of one's own cron can see."""

from datetime import UTC, datetime

import pytest

from echomq_worker import EchoMQ, testing
from echomq_worker.domain.scheduling.records import SchedulerState
from echomq_worker.testing import InlineBackend, ManualClock, NotIdleError

MINUTE = 60_000
NOON = int(datetime(2027, 3, 1, 12, tzinfo=UTC).timestamp()) * 1_000


@pytest.fixture
def app() -> EchoMQ:
    return EchoMQ()


@pytest.fixture
def backend() -> InlineBackend:
    return InlineBackend(ManualClock(NOON))


async def test_an_occurrence_runs_once_its_time_has_come(app: EchoMQ, backend: InlineBackend):
    ran: list[int] = []

    @app.every("1m")
    async def tick() -> None:
        ran.append(backend.clock.now_ms())

    async with testing.inline(app, backend=backend) as kit:
        assert (await kit.run_until_idle()).runs == ()
        kit.advance("59s")
        assert (await kit.run_until_idle()).runs == ()
        kit.advance("1s")
        (run,) = (await kit.run_until_idle()).runs
        assert (await kit.run_until_idle()).runs == ()
        kit.assert_enqueued(tick)

    assert ran == [NOON + MINUTE]
    assert run.name == "tick"


async def test_a_jump_of_the_clock_is_an_outage_and_the_policy_decides(
    app: EchoMQ, backend: InlineBackend
):
    @app.every("1h", misfire="latest")
    async def latest() -> None: ...

    @app.every("1h", misfire="all(max=5)")
    async def all_five() -> None: ...

    async with testing.inline(app, backend=backend) as kit:
        kit.advance("1d")
        report = await kit.run_until_idle()
        view = await app.schedulers.get("latest")

    assert sorted(run.name for run in report.runs) == [*["all_five"] * 5, "latest"]
    assert view is not None
    assert (view.count, view.missed) == (1, 23)


async def test_time_that_passes_fires_every_occurrence_at_its_instant(
    app: EchoMQ, backend: InlineBackend
):
    ran: list[tuple[str, int]] = []

    @app.cron("*/20 * * * *")
    async def tick() -> None:
        ran.append(("tick", backend.clock.now_ms() - NOON))
        await later.enqueue_in("5m")

    @app.job("later")
    async def later() -> None:
        ran.append(("later", backend.clock.now_ms() - NOON))

    async with testing.inline(app, backend=backend) as kit:
        report = await kit.run_for("40m")

    assert ran == [
        ("tick", 20 * MINUTE),
        ("later", 25 * MINUTE),
        ("tick", 40 * MINUTE),
    ]
    assert report.completed == 3
    assert backend.clock.now_ms() == NOON + 40 * MINUTE


async def test_the_limit_of_runs_is_that_of_an_instant(app: EchoMQ, backend: InlineBackend):
    @app.every("1m")
    async def tick() -> None: ...

    @app.job("again")
    async def again() -> None:
        await again.enqueue()

    async with testing.inline(app, backend=backend) as kit:
        assert (await kit.run_for("20m", limit=10)).completed == 20
        await again.enqueue()
        with pytest.raises(NotIdleError):
            await kit.run_for("1m", limit=10)


def test_a_test_that_is_not_async_lets_time_pass_as_well(app: EchoMQ, backend: InlineBackend):
    @app.every("1h")
    def tick() -> None: ...

    with testing.inline_sync(app, backend=backend) as kit:
        assert kit.run_for("3h").completed == 3


async def test_what_the_code_declares_can_be_left_out(app: EchoMQ, backend: InlineBackend):
    @app.every("1h")
    async def tick() -> None: ...

    async with testing.inline(app, backend=backend, schedulers=False) as kit:
        assert (await kit.run_for("3h")).runs == ()
        assert await app.schedulers.list() == []


async def test_the_api_pauses_resumes_triggers_and_removes(app: EchoMQ, backend: InlineBackend):
    @app.every("1h", queue="q", args={"number": 7})
    async def tick(number: int) -> None: ...

    async with testing.inline(app, backend=backend) as kit:
        await app.schedulers.pause("tick", queue="q", reason="holidays")
        assert (await kit.run_for("3h")).runs == ()
        await app.schedulers.trigger("tick", queue="q")
        assert (await kit.run_until_idle()).completed == 1
        kit.assert_enqueued(tick, number=7)
        await app.schedulers.resume("tick", queue="q")
        assert (await kit.run_for("1h")).completed == 1
        view = await app.schedulers.get("tick", queue="q")
        assert view is not None
        assert [note.outcome for note in view.runs] == ["completed", "completed"]
        assert await app.schedulers.remove("tick", queue="q")
        assert (await kit.run_for("3h")).runs == ()


async def test_one_without_a_handler_is_paused_with_that_reason(
    app: EchoMQ, backend: InlineBackend
):
    async with testing.inline(app, backend=backend) as kit:
        await app.schedulers.put("ghost", "nobody", every="1d")
        report = await kit.run_for("3d")
        view = await app.schedulers.get("ghost")

    assert report.buried >= 1
    assert view is not None
    assert view.paused is not None
    assert "nobody" in (view.paused.reason or "")


async def test_registrations_of_the_base_wire_fire_on_their_own_grid(
    app: EchoMQ, backend: InlineBackend
):
    async with testing.inline(app, backend=backend) as kit:
        repeats = backend.queue("default").repeats
        assert await repeats.register("r", 1_000, b"raw", 300)
        assert not await repeats.register("r", 5_000, b"other")
        kit.advance("2s")
        await kit.run_until_idle()
        assert [made.payload for made in kit.jobs()] == [b"raw"]
        assert [view.next_ms - NOON for view in await repeats.list()] == [2_300]
        assert await repeats.cancel("r")
        assert not await repeats.cancel("r")


async def test_an_occurrence_that_was_kept_back_fires_when_its_predecessor_has_ended(
    app: EchoMQ, backend: InlineBackend
):
    ran: list[int] = []

    @app.every("1m", overlap="queue-one")
    async def tick() -> None:
        ran.append(backend.clock.now_ms() - NOON)
        if len(ran) == 1:
            backend.clock.advance("3m")

    async with testing.inline(app, backend=backend, concurrency=2) as kit:
        await kit.run_for("1m")
        view = await app.schedulers.get("tick")

    assert ran[0] == MINUTE
    assert len(ran) == 2
    assert view is not None
    assert view.held_ms is None
    assert view.count == 2


async def test_a_limit_ends_it(app: EchoMQ, backend: InlineBackend):
    @app.every("1m", limit=2)
    async def tick() -> None: ...

    async with testing.inline(app, backend=backend) as kit:
        assert (await kit.run_for("1h")).completed == 2
        view = await app.schedulers.get("tick")
    assert view is not None
    assert (view.state, view.ended) == (SchedulerState.ENDED, "limit")
