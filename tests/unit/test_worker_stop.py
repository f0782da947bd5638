"""How a worker stops: nothing more is claimed, jobs finish, the rest is handed back, in time."""

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from structlog.testing import capture_logs

from echomq_worker.domain.outcome import Completed, HandedBack
from echomq_worker.errors import UnavailableError
from echomq_worker.worker import Budget, Stop
from tests.fakes import FakeClock, settled
from tests.unit.worker_rig import Rig


def blocked(rig: Rig) -> asyncio.Event:
    gate = asyncio.Event()

    async def work() -> None:
        await gate.wait()

    rig.handle(work)
    return gate


async def test_an_idle_worker_stops_at_once():
    rig = Rig()
    async with rig.running():
        await rig.clock.advance(400)
        rig.stop.drain("SIGTERM")
        status = await rig.ended()
        assert (status.code, status.reason, status.seconds) == (0, "SIGTERM", 0)
        assert rig.queue.left == [rig.options.worker_id]


async def test_running_jobs_may_finish_and_nothing_more_is_claimed():
    rig = Rig(concurrency=2)
    gate = blocked(rig)
    jobs = [rig.queue.add() for _ in range(5)]
    async with rig.running():
        rig.stop.drain("SIGTERM")
        await rig.clock.advance(3_000)
        assert rig.life is not None
        assert not rig.life.done()
        gate.set()
        status = await rig.ended()
        assert (status.code, status.seconds) == (0, 3)
        assert list(rig.queue.completed) == jobs[:2]
        assert [job.id for job in rig.queue.pending] == jobs[2:]
        assert all(call.limit == 0 for call in rig.queue.calls if call.at_ms > 0)


async def test_while_it_drains_it_still_says_that_it_lives():
    rig = Rig()
    gate = blocked(rig)
    rig.queue.add()
    async with rig.running():
        rig.stop.drain("SIGTERM")
        await rig.clock.advance(2_500)
        assert rig.queue.presences[-1].fields["state"] == "draining"
        assert rig.queue.calls[-1].promote == 0
        gate.set()


async def test_what_does_not_finish_in_time_is_cancelled_and_handed_back_uncounted():
    rig = Rig(shutdown_timeout_ms=25_000, cancel_grace_ms=5_000)
    blocked(rig)
    job = rig.queue.add()
    async with rig.running():
        rig.stop.drain("SIGTERM")
        await rig.clock.advance(19_999)
        assert rig.queue.outcome_of(job) is None
        await rig.clock.advance(1)
        assert rig.queue.outcome_of(job) == HandedBack()
        status = await rig.ended()
        assert (status.code, status.seconds, status.stats.returned) == (0, 20, 1)
        assert rig.queue.pending[0].returned == 1


async def test_an_impatient_operator_cancels_at_once():
    rig = Rig()
    blocked(rig)
    job = rig.queue.add()
    async with rig.running():
        rig.stop.drain("SIGINT")
        await rig.clock.advance(1_000)
        rig.stop.cancel("SIGINT")
        status = await rig.ended()
        assert rig.queue.outcome_of(job) == HandedBack()
        assert (status.code, status.seconds) == (0, 1)


async def test_a_call_on_its_way_is_awaited_and_what_it_claimed_is_handed_back():
    rig, started = Rig(), list[int]()

    async def work() -> None:
        started.append(1)

    rig.handle(work)
    async with rig.running():
        rig.queue.gate = asyncio.Event()
        job = rig.queue.enqueue()
        await settled()
        assert job in rig.queue.active
        rig.stop.drain("SIGTERM")
        await rig.clock.advance(500)
        rig.queue.gate.set()
        status = await rig.ended()
        assert started == []
        assert rig.queue.outcome_of(job) == HandedBack()
        assert status.code == 0


async def test_a_claim_that_is_answered_too_late_leaves_its_jobs_to_their_leases():
    rig = Rig()
    blocked(rig)
    async with rig.running():
        rig.queue.gate = asyncio.Event()
        rig.queue.enqueue()
        await settled()
        rig.stop.drain("SIGTERM")
        await rig.clock.advance(26_000)
        status = await rig.ended()
        assert status.seconds <= 25


async def test_a_failing_cleanup_of_a_cancelled_handler_still_hands_back():
    rig = Rig()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            msg = "the connection is closed already"
            raise RuntimeError(msg)

    rig.handle(work)
    job = rig.queue.add()
    async with rig.running():
        rig.stop.cancel("SIGQUIT")
        await settled()
        assert rig.queue.outcome_of(job) == HandedBack()


async def test_a_job_that_ends_just_before_it_is_cancelled_is_completed():
    rig = Rig()
    gate = blocked(rig)
    job = rig.queue.add()
    async with rig.running():
        rig.stop.drain("SIGTERM")
        await rig.clock.advance(19_990)
        gate.set()
        await rig.clock.advance(10)
        assert rig.queue.outcome_of(job) == Completed()


@pytest.mark.case("CAN-05")
async def test_a_handler_that_ignores_cancellation_does_not_break_the_budget():
    rig, release, closed = Rig(), asyncio.Event(), list[str]()

    @asynccontextmanager
    async def lifespan() -> AsyncGenerator[None]:
        yield
        closed.append("closed")

    async def work() -> None:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    rig.handle(work)
    job = rig.queue.add()
    rig.lifespan = lifespan
    with capture_logs() as logs:
        async with rig.running():
            rig.stop.drain("SIGTERM")
            await rig.clock.advance(25_000)
            status = await rig.ended()
            assert (status.code, status.unsettled, status.must_force) == (75, (job,), True)
            assert status.seconds <= 25
            assert closed == [], "its handler still uses what the application has opened"
            release.set()
            await settled()
    incomplete = [line for line in logs if line["event"] == "worker.shutdown_incomplete"]
    assert incomplete[0]["jobs"] == [job]


async def test_a_thread_that_does_not_end_is_left_behind():
    rig, go = Rig(), threading.Event()

    def work() -> None:
        go.wait(10)

    rig.handle(work)
    job = rig.queue.add()
    async with rig.running():
        rig.stop.drain("SIGTERM")
        await rig.clock.advance(25_000)
        status = await rig.ended()
        go.set()
        assert (status.code, status.unsettled, status.must_force) == (75, (job,), True)


async def test_with_the_server_gone_it_stops_in_time_and_says_which_jobs_run_again():
    rig = Rig()
    gate = blocked(rig)
    job = rig.queue.add()
    async with rig.running():
        rig.queue.away = UnavailableError("gone")
        gate.set()
        await rig.clock.advance(1_000)
        rig.stop.drain("SIGTERM")
        await rig.clock.advance(25_000)
        status = await rig.ended()
        assert (status.code, status.unsettled, status.must_force) == (75, (job,), False)
        assert status.seconds <= 25


async def test_an_idle_worker_does_not_wait_long_for_a_server_that_is_gone():
    rig = Rig()
    async with rig.running():
        rig.queue.away = UnavailableError("gone")
        await rig.clock.advance(2_000)
        rig.stop.drain("SIGTERM")
        await rig.clock.advance(5_000)
        status = await rig.ended()
        assert (status.code, status.seconds) == (0, 5)


async def test_every_few_seconds_it_says_what_it_waits_for():
    rig = Rig()
    gate = blocked(rig)
    job = rig.queue.add()
    with capture_logs() as logs:
        async with rig.running():
            rig.stop.drain("SIGTERM")
            await rig.clock.advance(11_000)
            gate.set()
    waits = [line for line in logs if line["event"] == "worker.still_draining"]
    assert [line["jobs"] for line in waits] == [[job], [job]]
    assert [line["time_left"] for line in waits] == [20, 15]


def test_a_wish_to_cancel_shortens_the_budget_and_a_second_one_does_not_lengthen_it():
    clock = FakeClock()
    stop = Stop(clock, Budget(total_ms=25_000, cancel_ms=5_000))
    stop.drain("SIGTERM")
    assert (stop.cancel_at_ms, stop.end_at_ms) == (20_000, 25_000)
    clock.ms = 1_000
    stop.cancel("SIGINT")
    assert (stop.cancel_at_ms, stop.end_at_ms) == (1_000, 6_000)
    clock.ms = 3_000
    stop.cancel("SIGQUIT")
    assert (stop.cancel_at_ms, stop.end_at_ms, stop.reason) == (1_000, 6_000, "SIGINT")


def test_late_in_the_budget_a_wish_to_cancel_does_not_lengthen_it():
    clock = FakeClock()
    stop = Stop(clock, Budget(total_ms=25_000, cancel_ms=5_000))
    stop.drain("SIGTERM")
    clock.ms = 23_000
    stop.cancel("SIGINT")
    assert (stop.cancel_at_ms, stop.end_at_ms) == (20_000, 25_000)


async def test_asking_again_changes_nothing():
    rig = Rig()
    gate = blocked(rig)
    rig.queue.add()
    async with rig.running():
        rig.stop.drain("SIGTERM")
        await rig.clock.advance(10_000)
        rig.stop.drain("SIGTERM again")
        await rig.clock.advance(9_999)
        assert not rig.queue.pending
        await rig.clock.advance(1)
        assert (await rig.ended()).reason == "SIGTERM"
        gate.set()


async def test_the_budget_runs_from_the_signal_even_if_the_loop_heard_it_late():
    rig = Rig()
    blocked(rig)
    rig.queue.add()
    async with rig.running():
        await rig.clock.advance(10_000)
        rig.stop.drain("SIGTERM", at_ms=4_000)
        await rig.clock.advance(14_000)
        assert (await rig.ended()).seconds == 20
