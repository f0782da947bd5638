"""One queue whose keys are broken, and what that may cost the others: nothing."""

import asyncio

from echomq_worker.domain.outcome import Completed
from echomq_worker.errors import WrongTypeError
from tests.fakes import settled
from tests.unit.worker_rig import Rig

BROKEN = WrongTypeError("emq:{a}:active holds a string")


async def test_the_other_queues_are_served_and_the_broken_one_again_once_it_is_mended():
    rig = Rig("a", "b", concurrency=2)

    async def work() -> None: ...

    rig.handle(work)
    rig.queues["a"].failing = [BROKEN] * 1_000
    async with rig.running():
        await rig.clock.advance(60_000)
        waiting = rig.queues["a"].enqueue()
        await settled()  # nobody may keep the slots for it
        job = rig.queues["b"].enqueue()
        await settled()
        assert rig.queues["b"].outcome_of(job) == Completed()
        rig.queues["a"].failing = []
        await rig.clock.advance(6_000)
        assert rig.queues["a"].outcome_of(waiting) == Completed()


async def test_a_beat_that_fails_keeps_no_outcome_from_being_written():
    rig, gate = Rig(), asyncio.Event()

    async def work() -> None:
        await gate.wait()

    rig.handle(work)
    job = rig.queue.add()
    async with rig.running():
        beat = rig.queue.beat

        async def failing_beat(**_: object) -> None:
            raise BROKEN

        rig.queue.beat = failing_beat  # pyright: ignore[reportAttributeAccessIssue]
        await rig.clock.advance(20_000)
        gate.set()
        await rig.clock.advance(6_000)
        assert rig.queue.outcome_of(job) == Completed()
        rig.queue.beat = beat


async def test_a_stop_does_not_wait_its_whole_budget_for_a_queue_that_refuses_everything():
    rig, gate = Rig(shutdown_timeout_ms=60_000, cancel_grace_ms=8_000), asyncio.Event()

    async def work() -> None:
        await gate.wait()

    rig.handle(work)
    job = rig.queue.add()
    async with rig.running():
        rig.queue.failing = [BROKEN] * 1_000
        await rig.clock.advance(20_000)

        async def hanging(*_: object, **__: object) -> None:
            await asyncio.Event().wait()

        rig.queue.settle = hanging  # pyright: ignore[reportAttributeAccessIssue]
        gate.set()
        rig.stop.drain("SIGTERM")
        await rig.clock.advance(60_000)
        status = await rig.ended()
        assert (status.unsettled, status.seconds) == ((job,), 8)
