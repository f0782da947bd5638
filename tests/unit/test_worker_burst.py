"""A worker that is to work off what is there, and end."""

import asyncio

from echomq_worker.domain.job import Claimed
from echomq_worker.worker.burst import Burst
from echomq_worker.worker.hands import Hands
from echomq_worker.worker.run import Run
from tests.fakes import settled
from tests.unit.worker_rig import Rig


async def test_it_ends_when_all_queues_are_empty():
    rig = Rig("a", "b")

    async def work() -> None: ...

    rig.handle(work)
    for queue in rig.queues.values():
        for _ in range(10):
            queue.add()
    async with rig.running(burst=True):
        status = await rig.ended()
        assert (status.code, status.reason, status.stats.completed) == (0, "burst", 20)
        assert rig.clock.ms == 0


async def test_with_nothing_to_do_it_ends_at_once():
    rig = Rig("a", "b", order="strict")
    async with rig.running(burst=True):
        assert (await rig.ended()).code == 0


async def test_it_waits_for_what_is_running():
    rig, gate = Rig(), asyncio.Event()

    async def work() -> None:
        await gate.wait()

    rig.handle(work)
    rig.queue.add()
    async with rig.running(burst=True):
        await rig.clock.advance(5_000)
        assert rig.life is not None
        assert not rig.life.done()
        gate.set()
        assert (await rig.ended()).stats.completed == 1


async def test_what_a_job_adds_is_done_too_in_whichever_queue():
    rig = Rig("a", "b")

    async def work(left: int) -> None:
        if left:
            other = rig.queues["ba"[left % 2]]
            other.add(payload=b'{"left":%d}' % (left - 1))

    rig.handle(work)
    rig.queues["a"].add(payload=b'{"left":9}')
    async with rig.running(burst=True):
        assert (await rig.ended()).stats.completed == 10


async def test_what_is_due_later_stays_where_it_is():
    rig = Rig()

    async def work() -> None: ...

    rig.handle(work)
    rig.queue.schedule(60_000)
    async with rig.running(burst=True):
        assert (await rig.ended()).stats.completed == 0
        assert len(rig.queue.scheduled) == 1


async def test_jobs_of_a_paused_queue_stay_where_they_are():
    rig = Rig()
    rig.queue.paused = True
    rig.queue.add()
    async with rig.running(burst=True):
        assert (await rig.ended()).code == 0
        assert len(rig.queue.pending) == 1


async def test_it_can_be_stopped_before():
    rig, gate = Rig(), asyncio.Event()

    async def work() -> None:
        await gate.wait()

    rig.handle(work)
    rig.queue.add()
    async with rig.running(burst=True):
        rig.stop.cancel("SIGQUIT")
        await settled()
        status = await rig.ended()
        assert (status.reason, status.stats.returned) == ("SIGQUIT", 1)


async def test_a_job_that_comes_and_goes_while_it_looks_makes_it_look_again():
    rig, hands, looks = Rig(), Hands(), list[str]()

    class Desk:
        async def look(self) -> Claimed:
            looks.append("look")
            if len(looks) == 1:
                run = Run(rig.queue.job(), 0)
                hands.take(run)
                hands.end(run)
                hands.let_go(run)
            return Claimed(now_ms=0, next_due_ms=None, left=0)

    await Burst([Desk()], [], hands, rig.stop).run()
    assert len(looks) == 2
    assert rig.stop.reason == "burst"
