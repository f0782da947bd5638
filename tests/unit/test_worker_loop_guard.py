import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from structlog.testing import capture_logs

from echomq_worker.system_clock import SystemClock
from echomq_worker.worker.hands import Hands
from echomq_worker.worker.loop_guard import LoopGuard
from echomq_worker.worker.run import Run
from echomq_worker.worker.stats import Stats
from tests.fakes import settled
from tests.unit.worker_rig import Rig

LIMIT_MS = 20


async def watched(work: Callable[[], Awaitable[None]], times: int = 1) -> list[Any]:
    """Run `work` as a job under the guard's eyes; return what it said about it."""
    hands = Hands()
    with capture_logs() as logs:
        guard = LoopGuard(hands, SystemClock(), Stats().loop_lag, limit_ms=LIMIT_MS)
        life = asyncio.create_task(guard.run())
        await asyncio.sleep(0)
        for _ in range(times):
            run = Run(Rig().queue.job("report.render"), 0)
            hands.take(run)
            run.task = asyncio.ensure_future(work())  # pyright: ignore[reportAttributeAccessIssue]
            await asyncio.sleep(0.03)
        life.cancel()
    # A busy machine holds loops up as well; then there is nobody to name.
    return [line for line in logs if line["job_name"] is not None]


async def blocks() -> None:
    time.sleep(0.15)  # noqa: ASYNC251 - that is the mistake


async def test_a_handler_that_holds_up_the_loop_is_named_with_its_line():
    (line,) = await watched(blocks)
    assert (line["event"], line["job_name"]) == ("loop.blocked", "report.render")
    assert 0.02 <= line["lag"] < 5
    assert "test_worker_loop_guard.py" in line["at"]
    assert line["at"].endswith("in blocks")


async def test_the_same_handler_is_not_named_over_and_over():
    assert len(await watched(blocks, times=3)) == 1


async def test_a_handler_that_awaits_is_left_in_peace():
    async def waits() -> None:
        await asyncio.sleep(0.02)

    assert await watched(waits) == []


async def test_time_that_the_test_moves_is_no_blocked_loop():
    rig = Rig()
    with capture_logs() as logs:
        async with rig.running():
            await rig.clock.advance(60_000)
    assert "loop.blocked" not in [line["event"] for line in logs]


async def test_how_late_the_loop_turns_is_counted():
    rig = Rig()
    async with rig.running():
        lag = rig.parts.stats.loop_lag
        await rig.clock.advance(5_000)
        assert lag.by_bound() == {"up to 1ms": 10}
        guard = next(each for each in rig.parts.support if isinstance(each, LoopGuard))
        guard._tick(6_000)
        assert (lag.by_bound(), lag.longest_ms) == ({"up to 1ms": 10, "over 5s": 1}, 6_000)


async def test_one_that_has_ended_when_the_loop_turns_again_is_a_suspect_as_well():
    rig = Rig()

    async def quick() -> None:
        """End before anybody looks."""

    rig.handle(quick, name="quick")
    with capture_logs() as logs:
        async with rig.running():
            guard = next(each for each in rig.parts.support if isinstance(each, LoopGuard))
            rig.queue.enqueue("quick")
            await settled()
            assert not rig.parts.hands.held
            guard._tick(6_000)
            guard._told.clear()
            guard._tick(6_000)
    blocked = [line["suspects"] for line in logs if line["event"] == "loop.blocked"]
    assert blocked == [["quick"], []]


async def test_if_nobody_could_look_all_that_are_held_are_suspects():
    rig = Rig()
    rig.handle(asyncio.Event().wait, name="waits")
    rig.queue.add("waits")
    with capture_logs() as logs:
        async with rig.running():
            guard = next(each for each in rig.parts.support if isinstance(each, LoopGuard))
            guard._tick(6_000)
    (line,) = [line for line in logs if line["event"] == "loop.blocked"]
    assert (line["job_name"], line["suspects"]) == (None, ["waits"])
