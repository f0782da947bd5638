"""Outcomes that the server refuses, and what that may cost the others: nothing."""

import asyncio

import pytest
from structlog.testing import capture_logs

from echomq_worker.errors import InvalidArgumentError, WrongTypeError
from tests.unit.worker_rig import Rig


@pytest.mark.parametrize(
    "error", [WrongTypeError("emq:{default}:done holds a string"), InvalidArgumentError("keep_ms")]
)
async def test_one_refused_outcome_is_dropped_and_the_others_are_written(error: Exception):
    rig = Rig(concurrency=4)

    async def work() -> None: ...

    rig.handle(work)
    jobs = [rig.queue.add() for _ in range(8)]
    rig.queue.refusing = {jobs[1]: error}
    with capture_logs() as logs:
        async with rig.running():
            await rig.clock.advance(100)
            assert list(rig.queue.completed) == [jobs[0], *jobs[2:]]
            assert list(rig.queue.active) == [jobs[1]], "its lease runs out"
            assert not rig.parts.hands.held
            assert rig.parts.slots.free == 4
            assert (rig.parts.stats.completed, rig.parts.stats.refused) == (7, 1)
    said = [line for line in logs if line["log_level"] in {"error", "critical"}]
    assert [(line["event"], line["job_id"]) for line in said] == [("job.unwritable", jobs[1])]


async def test_an_outcome_does_not_pay_for_what_was_to_be_claimed_with_it():
    rig, gate = Rig(), asyncio.Event()

    async def work() -> None:
        await gate.wait()

    rig.handle(work)
    job = rig.queue.add()
    async with rig.running():
        rig.queue.failing = [WrongTypeError("emq:{default}:g:PRT:pending holds a string")]
        gate.set()
        await rig.clock.advance(0)
        assert list(rig.queue.completed) == [job]
        assert [call.limit for call in rig.queue.calls if call.outcomes] == [0]


async def test_in_a_burst_a_refused_outcome_leaves_the_rest_to_be_done():
    rig = Rig(concurrency=2)

    async def work() -> None: ...

    rig.handle(work)
    jobs = [rig.queue.add() for _ in range(5)]
    rig.queue.refusing = {jobs[0]: WrongTypeError("not a set")}
    async with rig.running(burst=True):
        await rig.clock.advance(5_000)
        assert (await rig.ended()).code == 0
        assert list(rig.queue.completed) == jobs[1:]
