"""How jobs go through a worker: claimed, run, settled, in as few calls as can be."""

import asyncio

from echomq_worker.domain.outcome import Buried, Completed, Retried
from echomq_worker.domain.replies import Reaped
from echomq_worker.errors import ServerError, UnavailableError
from tests.fakes import settled
from tests.unit.worker_rig import Rig


async def test_a_waiting_job_is_claimed_run_and_completed():
    rig, seen = Rig(), list[int]()

    async def work(n: int) -> None:
        seen.append(n)

    rig.handle(work)
    job = rig.queue.add(payload=b'{"n":7}')
    async with rig.running():
        assert seen == [7]
        assert rig.queue.completed == {job: Completed()}
        assert rig.parts.stats.completed == 1
        assert not rig.parts.hands.held


async def test_an_enqueued_job_is_picked_up_as_soon_as_the_bell_rings():
    rig = Rig()

    async def work() -> None: ...

    rig.handle(work)
    async with rig.running():
        await rig.clock.advance(300)
        job = rig.queue.enqueue()
        await settled()
        assert job in rig.queue.completed
        assert rig.clock.ms == 300


async def test_what_ends_in_one_turn_is_written_in_one_call_that_also_claims():
    rig = Rig(concurrency=4)

    async def work() -> None: ...

    rig.handle(work)
    jobs = [rig.queue.add() for _ in range(8)]
    async with rig.running():
        assert rig.queue.kinds() == ["beat", "settle", "settle"]
        first, second, third = rig.queue.calls
        assert (first.limit, second.limit, third.limit) == (4, 4, 4)
        assert [job for job, _ in second.outcomes] == jobs[:4]
        assert [job for job, _ in third.outcomes] == jobs[4:]


async def test_a_backlog_is_drained_without_waiting_for_any_beat():
    rig = Rig(concurrency=3)

    async def work() -> None: ...

    rig.handle(work)
    for _ in range(100):
        rig.queue.add()
    async with rig.running():
        assert len(rig.queue.completed) == 100
        assert rig.clock.ms == 0
        assert len(rig.queue.calls) <= 36


async def test_no_more_jobs_run_at_once_than_there_are_slots():
    rig, running, most = Rig(concurrency=2), 0, 0
    gate = asyncio.Event()

    async def work() -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await gate.wait()
        running -= 1

    rig.handle(work)
    for _ in range(5):
        rig.queue.add()
    async with rig.running():
        await rig.clock.advance(3_000)
        assert running == 2
        assert len(rig.queue.active) == 2
        gate.set()
        await settled()
        assert most == 2
        assert len(rig.queue.completed) == 5


async def test_a_slot_that_is_free_again_is_claimed_for_while_others_run_on():
    rig, gates = Rig(concurrency=2), [asyncio.Event() for _ in range(3)]

    async def work(n: int) -> None:
        await gates[n].wait()

    rig.handle(work)
    jobs = [rig.queue.add(payload=b'{"n":%d}' % n) for n in range(3)]
    async with rig.running():
        gates[1].set()
        await settled()
        assert set(rig.queue.active) == {jobs[0], jobs[2]}
        assert rig.queue.calls[-1].kind == "settle"
        assert rig.queue.calls[-1].limit == 1


async def test_an_outcome_counts_only_once_the_server_has_answered():
    rig = Rig()

    async def work() -> None: ...

    rig.handle(work)
    async with rig.running():
        rig.queue.enqueue()
        await settled()
        rig.queue.away = UnavailableError("gone")
        rig.queue.enqueue()
        await rig.clock.advance(5_000)
        assert rig.parts.stats.completed == 1
        rig.queue.away = None
        await rig.clock.advance(2_000)
        assert rig.parts.stats.completed == 2


async def test_a_refused_settlement_is_counted_as_such_and_forgotten():
    rig, gate = Rig(), asyncio.Event()

    async def work() -> None:
        await gate.wait()

    rig.handle(work)
    rig.queue.add()
    async with rig.running():
        rig.queue.active.clear()
        gate.set()
        await settled()
        stats = rig.parts.stats
        assert (stats.completed, stats.refused) == (0, 1)
        assert not rig.parts.hands.held


async def test_outcomes_outlive_a_call_that_the_server_refuses():
    rig, gate = Rig(), asyncio.Event()

    async def work() -> None:
        await gate.wait()

    rig.handle(work)
    job = rig.queue.add()
    async with rig.running():
        rig.queue.failing = [ServerError("some bug"), ServerError("some bug")]
        gate.set()
        await rig.clock.advance(1_000)
        assert job in rig.queue.completed


async def test_slots_are_not_lost_to_a_claim_that_fails():
    rig = Rig(concurrency=3)

    async def work() -> None: ...

    rig.handle(work)
    async with rig.running():
        rig.queue.failing = [ServerError("some bug")]
        rig.queue.enqueue()
        await rig.clock.advance(2_000)
        assert rig.parts.slots.free == 3
        assert len(rig.queue.completed) == 1


async def test_the_handlers_failure_is_retried_and_then_buried():
    rig, attempts = Rig(max_attempts=2), list[int]()

    async def work() -> None:
        attempts.append(rig.clock.ms)
        msg = "no such user"
        raise ValueError(msg)

    rig.handle(work)
    job = rig.queue.add()
    async with rig.running():
        outcome = rig.queue.outcome_of(job)
        assert isinstance(outcome, Retried)
        assert outcome.delay_ms == 1_000
        await rig.clock.advance(1_000)
        assert attempts == [0, 1_000]
        assert rig.queue.dead[job].error == "ValueError: no such user"
        assert isinstance(rig.queue.outcome_of(job), Buried)


async def test_jobs_of_dead_workers_that_a_beat_recovers_are_counted():
    rig = Rig()
    first, second = rig.queue.job().id, rig.queue.job().id
    rig.queue.reaped = Reaped(recovered=(first,), buried=(second,))
    async with rig.running():
        assert rig.parts.stats.recovered == 1


async def test_a_beat_that_recovers_as_many_jobs_as_it_may_is_followed_by_another_at_once():
    rig = Rig(reap_batch=2)
    first, second = rig.queue.job().id, rig.queue.job().id
    rig.queue.reaped = Reaped(recovered=(first,), buried=(second,))
    async with rig.running():
        assert [(call.kind, call.at_ms) for call in rig.queue.calls] == [("beat", 0), ("beat", 0)]
        rig.queue.reaped = Reaped(recovered=(first,))
        await rig.clock.advance(1_500)
        assert [call.at_ms for call in rig.queue.calls] == [0, 0, 1_000]


async def test_an_idle_worker_makes_one_beat_a_second_and_no_other_call():
    rig = Rig()
    async with rig.running():
        await rig.clock.advance(10_500)
        assert rig.queue.kinds() == ["beat"] * 11
        assert len(rig.queue.hint_reads) <= 7


async def test_a_beat_tells_the_others_how_this_worker_is_doing():
    rig, gate = Rig(), asyncio.Event()

    async def work() -> None:
        await gate.wait()

    rig.handle(work)
    rig.queue.add()
    async with rig.running():
        await rig.clock.advance(1_000)
        said = rig.queue.presences[-1]
        assert said.worker_id == rig.options.worker_id
        assert (said.fields["name"], said.fields["running"]) == ("w", "1")
        assert said.fields["state"] == "running"
        assert rig.snapshots[-1].running == 1
        assert rig.snapshots[-1].answered_ms is not None
        gate.set()
