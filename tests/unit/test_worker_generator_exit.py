"""`GeneratorExit` from a handler, and from the end of the loop."""

import asyncio

from echomq_worker.domain.outcome import Retried
from tests.fakes import settled
from tests.unit.worker_rig import Rig, wait_for


async def test_a_handler_that_raises_it_has_failed_and_its_slot_is_free():
    rig = Rig()

    async def work() -> None:
        raise GeneratorExit

    rig.handle(work)
    job = rig.queue.add()
    async with rig.running():
        made = rig.queue.outcome_of(job)
        assert isinstance(made, Retried)
        assert made.error.startswith("GeneratorExit")
        assert not rig.parts.hands.held
        assert rig.parts.slots.free == 4


async def test_a_handler_in_a_thread_that_raises_it_has_failed_too():
    rig = Rig()

    def work() -> None:
        raise GeneratorExit

    rig.handle(work)
    job = rig.queue.add()
    async with rig.running():
        await wait_for(lambda: rig.queue.outcome_of(job))
        assert isinstance(rig.queue.outcome_of(job), Retried)


async def test_a_run_that_is_closed_with_its_loop_writes_no_outcome():
    rig = Rig()

    async def work() -> None:
        await asyncio.Event().wait()

    rig.handle(work)
    job = rig.queue.add()
    async with rig.running():
        (run,) = rig.parts.hands.running
        assert run.task is not None
        coroutine = run.task.get_coro()
        assert coroutine is not None
        coroutine.close()  # pyright: ignore[reportAttributeAccessIssue]
        await settled()
        assert rig.queue.outcome_of(job) is None
        assert run.outcome is None
        rig.parts.hands.end(run)
        rig.parts.hands.let_go(run)
