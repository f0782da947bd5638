"""Jobs that are due later start at their millisecond, for the price of one timer."""

import asyncio

from echomq_worker.domain.cadence import Cadence
from echomq_worker.domain.job import Claimed
from echomq_worker.worker.pump import Pump
from tests.fakes import FakeClock, settled
from tests.unit.worker_rig import Rig


def stamping(rig: Rig) -> list[int]:
    started: list[int] = []

    async def work() -> None:
        started.append(rig.clock.ms)

    rig.handle(work)
    return started


async def test_a_scheduled_job_starts_in_the_millisecond_in_which_it_is_due():
    rig = Rig()
    started = stamping(rig)
    async with rig.running():
        rig.queue.schedule(237)
        await rig.clock.advance(236)
        assert started == []
        await rig.clock.advance(1)
        assert started == [237]


async def test_one_that_is_due_sooner_is_on_time_although_the_pump_sleeps_toward_another():
    rig = Rig()
    started = stamping(rig)
    async with rig.running():
        rig.queue.schedule(3_600_000)
        await rig.clock.advance(450)
        rig.queue.schedule(200)
        await rig.clock.advance(5_000)
        assert started == [650]


async def test_many_due_times_each_get_their_own_wake():
    rig = Rig()
    started = stamping(rig)
    delays = [5, 17, 17, 400, 999, 1_000, 1_001, 2_500]
    async with rig.running():
        for delay_ms in delays:
            rig.queue.schedule(delay_ms)
        await rig.clock.advance(4_000)
        assert started == delays


async def test_what_is_far_away_costs_no_call_before_it_is_due():
    rig = Rig()
    stamping(rig)
    async with rig.running():
        rig.queue.schedule(60_000)
        await settled()
        before = len(rig.queue.calls)
        await rig.clock.advance(50_000)
        assert len(rig.queue.calls) - before <= 51


async def test_a_worker_that_is_not_the_watcher_looks_once_a_beat():
    rig = Rig()
    rig.queue.watching = False
    started = stamping(rig)
    rig.queue.scheduled.append((rig.clock.now_ms() + 237, rig.queue.job()))
    async with rig.running():
        await rig.clock.advance(2_000)
        assert started == [1_000]


async def test_a_watcher_without_free_slots_still_promotes_on_time_for_the_others():
    rig, gate = Rig(concurrency=1), asyncio.Event()

    async def work() -> None:
        await gate.wait()

    rig.handle(work)
    rig.queue.add()
    async with rig.running():
        rig.queue.schedule(300)
        await rig.clock.advance(100)
        assert rig.queue.hint_reads[-1] == (False, True)
        await rig.clock.advance(199)
        assert not rig.queue.pending
        await rig.clock.advance(1)
        assert len(rig.queue.pending) == 1
        assert (rig.queue.calls[-1].kind, rig.queue.calls[-1].limit) == ("claim", 0)
        gate.set()


async def test_while_a_full_batch_was_promoted_it_looks_again_at_once():
    rig = Rig(promote_batch=2, concurrency=1)
    gate = asyncio.Event()

    async def work() -> None:
        await gate.wait()

    rig.handle(work)
    rig.queue.add()
    async with rig.running():
        for _ in range(7):
            rig.queue.schedule(50)
        await rig.clock.advance(100)
        assert len(rig.queue.pending) == 7
        gate.set()


class Orders:
    """Notes what the pump asks for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def ask_look(self) -> None:
        self.asked.append("look")

    def ask_beat(self) -> None:
        self.asked.append("beat")


def claimed(next_due_ms: int | None, now_ms: int = 1_000) -> Claimed:
    return Claimed(now_ms=now_ms, next_due_ms=next_due_ms, left=0)


def test_the_first_step_beats_and_further_queues_beat_a_little_later():
    clock, orders = FakeClock(), Orders()
    pump = Pump("b", orders, clock, Cadence(beat_ms=1_000), offset_ms=250)
    assert pump.step() == 1_250
    clock.ms = 1_250
    assert pump.step() == 1_000
    assert orders.asked == ["beat", "beat"]


def test_a_server_that_was_a_hair_behind_is_asked_again_after_the_rest():
    clock, orders = FakeClock(), Orders()
    pump = Pump("a", orders, clock, Cadence(beat_ms=1_000))
    pump.step()
    pump.learn(claimed(1_100), watching=True)
    clock.ms = 100
    pump.step()
    pump.learn(claimed(1_100, now_ms=1_099), watching=True)
    assert pump.step() == 1
    clock.ms = 101
    pump.step()
    assert orders.asked == ["beat", "look", "look"]


def test_it_does_not_ask_twice_before_it_is_answered():
    clock, orders = FakeClock(), Orders()
    pump = Pump("a", orders, clock, Cadence(beat_ms=1_000))
    pump.step()
    pump.learn(claimed(1_100), watching=True)
    clock.ms = 100
    assert pump.step() == 900
    assert orders.asked == ["beat", "look"]


def test_it_goes_by_the_servers_clock_not_by_the_workers():
    clock, orders = FakeClock(), Orders()
    pump = Pump("a", orders, clock, Cadence(beat_ms=1_000))
    clock.ms = 40_000
    pump.step()
    pump.learn(claimed(5_300, now_ms=5_000), watching=True)
    assert pump.step() == 300
