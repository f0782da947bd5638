"""Who listens takes wake-ups: only workers with room for work may."""

import asyncio

from structlog.testing import capture_logs

from echomq_worker.errors import UnavailableError
from tests.fakes import settled
from tests.unit.worker_rig import Rig


def blocking(rig: Rig) -> asyncio.Event:
    gate = asyncio.Event()

    async def work() -> None:
        await gate.wait()

    rig.handle(work)
    return gate


async def test_an_idle_watcher_listens_to_bell_and_clock():
    rig = Rig()
    async with rig.running():
        assert rig.queue.hint_reads[-1] == (True, True)


async def test_who_is_not_the_watcher_leaves_the_clock_alone():
    rig = Rig()
    rig.queue.watching = False
    async with rig.running():
        await rig.clock.advance(5_000)
        assert set(rig.queue.hint_reads) == {(True, False)}


async def test_a_saturated_worker_does_not_listen_to_the_bell():
    rig = Rig(concurrency=1)
    rig.queue.watching = False
    gate = blocking(rig)
    rig.queue.add()
    async with rig.running():
        await rig.clock.advance(100)
        before = len(rig.queue.hint_reads)
        rig.queue.enqueue()
        await rig.clock.advance(5_000)
        assert len(rig.queue.hint_reads) == before
        assert rig.queue._bell.is_set(), "the wake-up was stolen"
        gate.set()


async def test_a_read_under_way_is_given_up_when_all_slots_are_taken_otherwise():
    rig = Rig("a", "b", concurrency=1)
    for queue in rig.queues.values():
        queue.watching = False
    gate = blocking(rig)
    async with rig.running():
        rig.queues["a"].enqueue()
        await rig.clock.advance(60)
        rig.queues["b"].enqueue()
        await rig.clock.advance(200)
        assert rig.queues["b"]._bell.is_set(), "the wake-up was stolen"
        gate.set()
        await settled()
        assert len(rig.queues["b"].completed) == 1


async def test_a_read_that_is_given_up_keeps_its_connection():
    rig = Rig("a", "b", concurrency=1)
    for queue in rig.queues.values():
        queue.watching = False
    gate = blocking(rig)
    cut: list[str] = []
    waiting = rig.queues["b"].wait_hint

    async def wait_hint(*, bell: bool, clock: bool, timeout_ms: int) -> bool:
        try:
            return await waiting(bell=bell, clock=clock, timeout_ms=timeout_ms)
        except asyncio.CancelledError:
            cut.append("b")
            raise

    rig.queues["b"].wait_hint = wait_hint
    async with rig.running():
        rig.queues["a"].enqueue()
        await rig.clock.advance(200)
        assert rig.queues["b"]._ended.is_set(), "it still waits"
        assert not cut
        gate.set()


async def test_with_a_free_slot_it_listens_again_at_once():
    rig = Rig(concurrency=1)
    gate = blocking(rig)
    rig.queue.add()
    async with rig.running():
        await rig.clock.advance(200)
        assert rig.queue.hint_reads[-1] == (False, True)
        gate.set()
        await settled()
        assert rig.queue.hint_reads[-1] == (True, True)


async def test_a_worker_that_knows_of_work_need_not_listen():
    rig = Rig(concurrency=2)
    rig.queue.watching = False

    async def work() -> None:
        await asyncio.sleep(0)

    rig.handle(work)
    for _ in range(50):
        rig.queue.add()
    async with rig.running():
        assert len(rig.queue.completed) == 50
        assert len(rig.queue.hint_reads) <= 2


async def test_a_hint_that_is_lost_with_a_read_that_was_cut_off_is_made_up_for():
    rig = Rig()
    rig.queue.watching = False
    blocking(rig).set()
    reads: list[tuple[bool, bool]] = []

    async def wait_hint(*, bell: bool, clock: bool, timeout_ms: int) -> bool:
        reads.append((bell, clock))
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if len(reads) == 1:
                rig.queue.add()  # its hint was taken, and is on its way to nobody
            raise
        return True

    async def end_wait() -> bool:
        return False

    rig.queue.wait_hint = wait_hint
    rig.queue.end_wait = end_wait
    async with rig.running():
        rig.queue.watching = True
        await rig.clock.advance(1_000)  # the beat that tells it, and no other
        assert reads == [(True, False), (True, True)]
        assert len(rig.queue.completed) == 1


async def test_a_connection_that_breaks_is_tried_again_and_said_once():
    rig = Rig()
    blocking(rig).set()
    reads = 0

    async def wait_hint(**_: object) -> bool:
        nonlocal reads
        reads += 1
        if reads <= 4:
            msg = "gone"
            raise UnavailableError(msg)
        await asyncio.Event().wait()
        return True

    rig.queue.wait_hint = wait_hint
    with capture_logs() as logs:
        async with rig.running():
            await rig.clock.advance(4_000)
            assert reads == 5
            job = rig.queue.add()
            await rig.clock.advance(1_000)
            assert job in rig.queue.completed
    assert [line["event"] for line in logs].count("wakeups.away") == 1
