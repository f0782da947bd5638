"""Leases are extended, and what is lost is cancelled and never completed."""

import asyncio
import threading
import time
from contextlib import suppress
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from echomq_worker.domain.job import JobId
from echomq_worker.domain.outcome import Verdict
from echomq_worker.errors import ServerError, UnavailableError, WrongTypeError
from echomq_worker.handlers import INJECTED, JobContext
from echomq_worker.worker.hands import Hands
from echomq_worker.worker.leases import Leases, Lost
from echomq_worker.worker.run import Run
from tests.fakes import FakeClock, settled
from tests.unit.worker_fakes import FakeExtender
from tests.unit.worker_rig import Rig, wait_for


def extend(rig: Rig) -> list[tuple[JobId, Verdict]]:
    """Extend once as the thread does, and let the loop hear what was lost."""
    lost: list[tuple[Run, Verdict]] = []
    leases = next(each for each in rig.parts.support if isinstance(each, Leases))
    leases.extend(lambda run, verdict: lost.append((run, verdict)))
    for run, verdict in lost:
        leases._lost(run, verdict)
    return [(run.held.id, verdict) for run, verdict in lost]


def new_leases(hands: Hands, extender: FakeExtender, lost: Lost, *, every_ms: int) -> Leases:
    return Leases(
        hands, extender, lost, FakeClock(), lease_ms=100, every_ms=every_ms, stuck_ms=1_000
    )


def holding(rig: Rig) -> tuple[asyncio.Event, list[JobContext]]:
    gate, contexts = asyncio.Event(), list[JobContext]()

    async def work(context: JobContext = INJECTED) -> None:
        contexts.append(context)
        await gate.wait()

    rig.handle(work)
    return gate, contexts


async def test_all_running_jobs_of_all_queues_are_extended_in_one_call_a_queue():
    rig = Rig("a", "b")
    gate, _ = holding(rig)
    first = {rig.queues["a"].add(), rig.queues["a"].add()}
    second = {rig.queues["b"].add()}
    async with rig.running():
        assert extend(rig) == []
        assert {(queue, frozenset(ids)) for queue, ids in rig.extender.calls} == {
            ("a", frozenset(first)),
            ("b", frozenset(second)),
        }
        gate.set()


async def test_a_lost_lease_cancels_the_handler_and_says_why():
    rig = Rig()
    gate, contexts = holding(rig)
    job = rig.queue.add()
    with capture_logs() as logs:
        async with rig.running():
            rig.queue.active[job] = replace(rig.queue.active[job], claim="somebody else's")
            assert extend(rig) == [(job, Verdict.STALE)]
            await settled()
            assert contexts[0].lease_lost
            assert rig.queue.outcome_of(job) is None
            stats = rig.parts.stats
            assert (stats.lost, stats.completed) == (1, 0)
            assert rig.parts.slots.free == 4
            gate.set()
    assert [line["job_id"] for line in logs if line["event"] == "job.lease_lost"] == [job]


async def test_a_run_over_its_limit_that_loses_its_lease_is_told_so_once():
    rig, contexts, go = Rig(), list[JobContext](), threading.Event()

    def work(context: JobContext = INJECTED) -> None:
        contexts.append(context)
        go.wait(5)

    rig.handle(work, timeout="1s")
    job = rig.queue.add()
    with capture_logs() as logs:
        async with rig.running():
            await wait_for(lambda: contexts)
            await rig.clock.advance(1_000)
            assert not contexts[0].lease_lost
            del rig.queue.active[job]
            for _ in range(3):
                assert extend(rig) == [(job, Verdict.STALE)]
            assert (contexts[0].lease_lost, contexts[0].cancel_reason) == (True, "timeout")
            go.set()
            await wait_for(lambda: not rig.parts.hands.held)
            assert (rig.parts.stats.lost, rig.queue.outcome_of(job)) == (1, None)
    assert [line["job_id"] for line in logs if line["event"] == "job.lease_lost"] == [job]


async def test_a_queue_whose_leases_cannot_be_extended_does_not_cost_the_others_theirs():
    rig = Rig("a", "b", "c")
    gate, _ = holding(rig)
    for queue in rig.queues.values():
        queue.add()
    async with rig.running():
        rig.extender.failing = [WrongTypeError("first"), WrongTypeError("second")]
        with pytest.raises(WrongTypeError, match="first"):
            extend(rig)
        assert [queue for queue, _ in rig.extender.calls] == ["c"]
        gate.set()


async def test_a_job_that_was_lost_is_not_completed_even_if_its_handler_returns():
    rig = Rig()

    async def work() -> str:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return "done"

    rig.handle(work)
    job = rig.queue.add()
    async with rig.running():
        del rig.queue.active[job]
        extend(rig)
        await settled()
        assert rig.queue.outcome_of(job) is None
        assert not rig.parts.hands.held


async def test_after_a_loss_the_free_slot_is_claimed_for():
    rig = Rig(concurrency=1)
    gate, contexts = holding(rig)
    lost, other = rig.queue.add(), rig.queue.add()
    async with rig.running():
        del rig.queue.active[lost]
        extend(rig)
        await settled()
        assert [context.id for context in contexts] == [lost, other]
        gate.set()


async def test_a_job_whose_settlement_is_on_its_way_is_not_taken_for_lost():
    rig = Rig()
    gate, _ = holding(rig)
    job = rig.queue.add()
    with capture_logs() as logs:
        async with rig.running():
            rig.queue.gate = asyncio.Event()
            gate.set()
            await settled()
            assert job in rig.queue.completed
            assert extend(rig) == [(job, Verdict.STALE)]
            rig.queue.gate.set()
            await settled()
            stats = rig.parts.stats
            assert (stats.completed, stats.lost) == (1, 0)
    assert "job.lease_lost" not in [line["event"] for line in logs]


async def test_a_finished_job_keeps_its_lease_until_its_outcome_is_accepted():
    rig = Rig()
    gate, _ = holding(rig)
    job = rig.queue.add()
    async with rig.running():
        rig.queue.away = UnavailableError("gone")
        gate.set()
        await settled()
        extend(rig)
        assert rig.extender.calls[-1] == ("default", [job])
        rig.queue.away = None
        await rig.clock.advance(2_000)


async def test_leases_are_extended_from_a_thread_while_a_handler_holds_up_the_loop():
    rig, extended = Rig(lease_ms=100, renew_ms=20), list[int]()

    async def work() -> None:
        give_up = time.monotonic() + 5
        while len(rig.extender.calls) < 3 and time.monotonic() < give_up:
            time.sleep(0.001)  # noqa: ASYNC251 - that is the mistake
        extended.append(len(rig.extender.calls))

    rig.handle(work)
    rig.queue.add()
    async with rig.running():
        assert extended[0] >= 3


async def test_what_a_late_answer_brings_is_extended_at_once():
    rig = Rig(lease_ms=60_000, beat_ms=60_000)  # by itself the thread would look in 20 s
    gate, contexts = holding(rig)
    rig.queue.gate = asyncio.Event()
    job = rig.queue.add()
    async with rig.running():
        await rig.clock.advance(20_000)
        assert rig.queue.active
        assert not contexts
        rig.queue.gate.set()
        await wait_for(lambda: ("default", [job]) in rig.extender.calls)
        gate.set()


async def test_an_extension_that_fails_is_tried_again_and_said_once():
    rig, lost, hands = Rig(), list[Run](), Hands()
    extender = rig.extender
    extender.failing = [UnavailableError("gone"), UnavailableError("gone")]
    job = rig.queue.job()
    rig.queue.active[job.id] = job
    hands.held.add(Run(job, 0))
    with capture_logs() as logs:
        leases = new_leases(hands, extender, lambda run, _: lost.append(run), every_ms=10)
        life = asyncio.create_task(leases.run())
        await wait_for(lambda: "leases.extended_again" in [line["event"] for line in logs])
        life.cancel()
        await wait_for(lambda: extender.closed)
    assert [line["event"] for line in logs] == ["leases.not_extended", "leases.extended_again"]
    assert lost == []


async def test_a_thread_that_keeps_failing_tells_whoever_keeps_it_running():
    extender = FakeExtender(failing=[ServerError("a bug")] * 5)
    hands = Hands()
    hands.held.add(Run(Rig().queue.job(), 0))
    leases = new_leases(hands, extender, lambda _run, _verdict: None, every_ms=1)
    with pytest.raises(ServerError, match="a bug"):
        await asyncio.wait_for(leases.run(), 5)
