"""How a worker and its application begin and end together."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from echomq_worker.domain.outcome import HandedBack
from echomq_worker.errors import AccessError, ServerError, UnavailableError, WireVersionError
from echomq_worker.handlers import INJECTED, State
from echomq_worker.worker import run_daemon
from echomq_worker.worker.assembly import Outside
from tests.fakes import settled
from tests.unit.worker_rig import Rig


async def test_the_application_is_closed_after_its_last_job():
    rig, order = Rig(), list[str]()

    @asynccontextmanager
    async def lifespan() -> AsyncGenerator[str]:
        order.append(f"open, {len(rig.queue.calls)} calls")
        yield "state"
        order.append("closed")

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            order.append("handler over")

    rig.lifespan = lifespan
    rig.handle(work)
    rig.queue.add()
    async with rig.running():
        rig.stop.cancel("SIGQUIT")
        await rig.ended()
    assert order == ["open, 0 calls", "handler over", "closed"]


async def test_an_application_that_cannot_be_opened_ends_the_worker_before_any_claim():
    rig = Rig()

    @asynccontextmanager
    async def lifespan() -> AsyncGenerator[None]:
        msg = "no database"
        raise RuntimeError(msg)
        yield

    rig.lifespan = lifespan
    async with rig.running():
        status = await rig.ended()
        assert (status.code, rig.queue.calls, rig.ready) == (1, [], 0)


async def test_an_application_that_is_cancelled_as_it_opens_fails_the_worker_with_a_reason():
    rig = Rig()

    @asynccontextmanager
    async def lifespan() -> AsyncGenerator[None]:
        raise asyncio.CancelledError
        yield

    rig.lifespan = lifespan
    with capture_logs() as logs:
        async with rig.running():
            status = await rig.ended()
    assert (status.code, status.reason) == (1, "the application's lifespan failed")
    assert (rig.queue.calls, rig.ready) == ([], 0)
    failed = [line for line in logs if line["event"] == "lifespan.failed"]
    assert [line["moment"] for line in failed] == ["start"]


async def test_an_application_that_takes_long_to_open_can_be_stopped():
    rig = Rig()

    @asynccontextmanager
    async def lifespan() -> AsyncGenerator[None]:
        await asyncio.Event().wait()
        yield

    rig.lifespan = lifespan
    async with rig.running():
        rig.stop.drain("SIGTERM")
        status = await rig.ended()
        assert (status.code, rig.queue.calls) == (0, [])


async def test_an_application_that_does_not_close_in_time_is_left_behind():
    rig = Rig()

    @asynccontextmanager
    async def lifespan() -> AsyncGenerator[None]:
        yield
        await asyncio.Event().wait()

    rig.lifespan = lifespan
    async with rig.running():
        rig.stop.drain("SIGTERM")
        await rig.clock.advance(25_000)
        status = await rig.ended()
        assert (status.code, status.seconds) == (75, 25)


async def test_with_the_server_gone_the_application_has_its_time_to_close():
    rig, closed_at = Rig(), list[int]()

    @asynccontextmanager
    async def lifespan() -> AsyncGenerator[None]:
        yield
        await rig.clock.sleep_ms(2_000)
        closed_at.append(rig.clock.ms)

    async def work() -> None: ...

    rig.lifespan = lifespan
    rig.handle(work)
    async with rig.running():
        rig.queue.gate = asyncio.Event()
        rig.queue.enqueue()
        await settled()
        rig.queue.away = UnavailableError("gone")
        rig.queue.gate.set()
        await settled()
        assert rig.parts.hands.held
        rig.stop.drain("SIGTERM")
        await rig.clock.advance(25_000)
        status = await rig.ended()
        assert (closed_at, status.seconds, status.must_force) == ([2_000], 25, False)


async def test_a_worker_without_a_lifespan_does_not_speak_of_one_however_late_it_is():
    rig, gate = Rig(), asyncio.Event()

    async def work() -> None:
        while not gate.is_set():
            with suppress(asyncio.CancelledError):
                await gate.wait()

    rig.handle(work)
    rig.queue.add()
    with capture_logs() as logs:
        async with rig.running():
            rig.stop.drain("SIGTERM")
            await rig.clock.advance(24_999)
            rig.queue.away = UnavailableError("gone")
            gate.set()
            await rig.clock.advance(1)
            assert (await rig.ended()).must_force is False
    assert "lifespan.not_left" not in [line["event"] for line in logs]


async def test_a_worker_whose_state_does_not_fit_its_handlers_does_not_start():
    rig = Rig()

    async def work(pool: State[dict[str, int]] = INJECTED) -> None: ...

    rig.handle(work)
    rig.lifespan = lambda: nullcontext("no pool at all")
    async with rig.running():
        assert (await rig.ended()).code == 78
        assert rig.queue.calls == []


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (WireVersionError("other", found="a", own="b"), 78),
        (AccessError("no rights"), 77),
        (ServerError("a bug"), 1),
    ],
)
async def test_a_worker_that_cannot_go_on_ends_with_a_code_that_says_why(
    error: Exception, code: int
):
    rig = Rig()
    rig.queue.failing = [error] * 20
    with capture_logs() as logs:
        async with rig.running():
            for _ in range(30):
                await rig.clock.advance(1_000)
            assert (await rig.ended()).code == code
    assert "service.given_up" in [line["event"] for line in logs]


async def test_whoever_embeds_the_worker_may_simply_cancel_it():
    rig = Rig()

    async def work() -> None:
        await asyncio.Event().wait()

    rig.handle(work)
    job = rig.queue.add()
    outside = Outside(
        queues=tuple(rig.queues.values()),
        extender=rig.extender,
        registry=rig.registry,
        clock=rig.clock,
        mint=rig.minter.mint,
    )
    life = asyncio.create_task(run_daemon(rig.options, outside, rig.stop))
    await settled()
    assert job in rig.queue.active
    life.cancel()
    await settled()
    assert life.cancelled()
    assert rig.queue.outcome_of(job) == HandedBack()
    assert replace(rig.queue.pending[0], returned=0).id == job
