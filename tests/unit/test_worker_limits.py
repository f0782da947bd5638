"""Time limits, and handlers that do not heed them."""

import asyncio
import threading
import time
from contextlib import suppress

import pytest
from structlog.testing import capture_logs

from echomq_worker.domain.failures import read_failures
from echomq_worker.domain.outcome import Completed, HandedBack, Retried, Snoozed
from echomq_worker.handlers import INJECTED, JobContext, Snooze
from echomq_worker.worker.run import SHUTDOWN, Run
from tests.fakes import settled
from tests.unit.worker_rig import Rig, wait_for


async def test_a_run_over_its_limit_is_cancelled_and_counts_as_a_failure():
    rig, ended = Rig(), list[int]()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(rig.clock.ms)

    rig.handle(work, timeout="2s")
    job = rig.queue.add()
    async with rig.running():
        await rig.clock.advance(1_999)
        assert ended == []
        await rig.clock.advance(1)
        made = rig.queue.outcome_of(job)
        assert ended == [2_000]
        assert isinstance(made, Retried)
        assert made.error == "TimeoutError: it did not end within 2s"
        assert "await asyncio.Event().wait()" in read_failures(made.failures)[0].traceback


async def test_the_workers_limit_holds_where_the_handler_names_none():
    rig = Rig(job_timeout_ms=500)

    async def work() -> None:
        await asyncio.Event().wait()

    rig.handle(work)
    job = rig.queue.add()
    async with rig.running():
        await rig.clock.advance(500)
        assert isinstance(rig.queue.outcome_of(job), Retried)


async def test_a_handler_may_ask_for_no_limit():
    rig, gate = Rig(job_timeout_ms=500), asyncio.Event()

    async def work() -> None:
        await gate.wait()

    rig.handle(work, timeout=0)
    job = rig.queue.add()
    async with rig.running():
        await rig.clock.advance(60_000)
        gate.set()
        await settled()
        assert rig.queue.outcome_of(job) == Completed()


async def test_limits_of_jobs_that_have_ended_bother_nobody():
    rig = Rig()

    async def work() -> None: ...

    rig.handle(work, timeout="2s")
    for _ in range(20):
        rig.queue.add()
    with capture_logs() as logs:
        async with rig.running():
            await rig.clock.advance(5_000)
            assert len(rig.queue.completed) == 20
    assert "job.timed_out" not in [line["event"] for line in logs]


async def test_a_shorter_limit_that_comes_later_is_kept_too():
    rig = Rig()

    async def work() -> None:
        await asyncio.Event().wait()

    rig.handle(work, "slow", timeout="1h")
    rig.handle(work, "quick", timeout="1s")
    rig.queue.add("slow")
    async with rig.running():
        await rig.clock.advance(100)
        job = rig.queue.enqueue("quick")
        await rig.clock.advance(999)
        assert rig.queue.outcome_of(job) is None
        await rig.clock.advance(1)
        assert isinstance(rig.queue.outcome_of(job), Retried)


async def test_a_handler_may_say_in_time_what_should_become_of_its_job():
    rig = Rig()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            later = Snooze("1m")
            raise later from None

    rig.handle(work, timeout="2s")
    job = rig.queue.add()
    async with rig.running():
        await rig.clock.advance(2_000)
        assert rig.queue.outcome_of(job) == Snoozed(60_000)


async def test_what_a_cancelled_handler_returns_is_not_used():
    rig = Rig()

    async def work() -> str:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return "as if nothing had happened"

    rig.handle(work, timeout="2s")
    job = rig.queue.add()
    with capture_logs() as logs:
        async with rig.running():
            await rig.clock.advance(2_000)
            assert isinstance(rig.queue.outcome_of(job), Retried)
    assert "job.swallowed_cancellation" in [line["event"] for line in logs]


async def test_a_handler_that_goes_on_is_reminded_until_it_stops():
    rig, cancelled = Rig(cancel_grace_ms=3_000), 0

    async def work() -> None:
        nonlocal cancelled
        while cancelled < 3:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled += 1

    rig.handle(work, timeout="2s")
    job = rig.queue.add()
    with capture_logs() as logs:
        async with rig.running():
            await rig.clock.advance(7_999)
            assert rig.queue.outcome_of(job) is None
            await rig.clock.advance(1)
            assert cancelled == 3
            assert isinstance(rig.queue.outcome_of(job), Retried)
    events = [line["event"] for line in logs]
    assert events.count("job.timed_out") == 1
    assert events.count("job.ignores_cancellation") == 2


@pytest.mark.case("CAN-02")
async def test_a_thread_that_overruns_keeps_its_slot_and_its_work_counts_if_it_never_looked():
    rig, go = Rig(concurrency=1), threading.Event()

    def work() -> None:
        assert go.wait(5)

    rig.handle(work, timeout="2s")
    job = rig.queue.add()
    with capture_logs() as logs:
        async with rig.running():
            await rig.clock.advance(2_000)
            assert rig.parts.slots.free == 0
            assert rig.queue.outcome_of(job) is None
            go.set()
            await wait_for(lambda: rig.queue.outcome_of(job))
            assert rig.queue.outcome_of(job) == Completed()
    assert "job.timed_out" in [line["event"] for line in logs]


async def test_a_thread_that_sees_that_its_time_is_up_may_simply_return():
    rig, reason = Rig(), list[str | None]()

    def work(context: JobContext = INJECTED) -> None:
        give_up = time.monotonic() + 5
        while not context.cancelled and time.monotonic() < give_up:
            time.sleep(0.001)
        reason.append(context.cancel_reason)

    rig.handle(work, timeout="2s")
    job = rig.queue.add()
    async with rig.running():
        await rig.clock.advance(2_000)
        await wait_for(lambda: rig.queue.outcome_of(job))
        assert isinstance(rig.queue.outcome_of(job), Retried)
        assert reason == ["timeout"]


@pytest.mark.case("CAN-02")
async def test_no_more_threads_run_than_were_granted():
    rig, running, most = Rig(concurrency=4, threads=2), list[int](), list[int]()
    go = threading.Event()

    def work() -> None:
        running.append(1)
        most.append(len(running))
        assert go.wait(5)
        running.pop()

    rig.handle(work)
    for _ in range(4):
        rig.queue.add()
    async with rig.running():
        await wait_for(lambda: len(running) == 2)
        await rig.clock.advance(3_000)
        assert len(rig.queue.active) == 4
        go.set()
        await wait_for(lambda: len(rig.queue.completed) == 4)
        assert max(most) <= 2


async def test_a_run_that_is_cancelled_before_its_first_step_ends_all_the_same():
    rig, ended, began = Rig(), list[Run](), list[str]()

    async def work() -> None:
        began.append("work")

    rig.handle(work)
    async with rig.running():
        rig.parts.runner.start(rig.queue.job(), 0, ended.append)
        (run,) = rig.parts.hands.running
        run.cancel(SHUTDOWN)
        await settled()
        assert [run.outcome for run in ended] == [HandedBack()]
        assert began == []
        rig.parts.hands.let_go(run)
