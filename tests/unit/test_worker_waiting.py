import asyncio

from echomq_worker.system_clock import SystemClock
from echomq_worker.worker.waiting import Nap, until, wait_until
from tests.fakes import FakeClock, settled


async def test_a_nap_ends_when_its_time_is_up():
    clock, woken = FakeClock(), list[int]()
    nap = Nap(clock)

    async def sleeper() -> None:
        while True:
            await nap.sleep(100)
            woken.append(clock.ms)

    life = asyncio.create_task(sleeper())
    await clock.advance(350)
    life.cancel()
    assert woken == [100, 200, 300]


async def test_a_nap_that_is_cut_short_ends_at_once_and_the_next_one_is_whole():
    clock, woken = FakeClock(), list[int]()
    nap = Nap(clock)

    async def sleeper() -> None:
        while True:
            await nap.sleep(100)
            woken.append(clock.ms)

    life = asyncio.create_task(sleeper())
    await clock.advance(30)
    nap.cut()
    await clock.advance(220)
    life.cancel()
    assert woken == [30, 130, 230]


async def test_a_nap_can_be_cut_short_before_it_is_taken():
    clock = FakeClock()
    nap = Nap(clock)
    nap.cut()
    await nap.sleep(100)
    assert clock.ms == 0


async def test_waiting_ends_with_the_event_or_with_the_time():
    clock, event = FakeClock(), asyncio.Event()
    wait = asyncio.create_task(wait_until(clock, 500, event))
    await clock.advance(499)
    assert not wait.done()
    await clock.advance(1)
    assert wait.done()
    wait = asyncio.create_task(wait_until(clock, 9_000, event))
    await settled()
    event.set()
    await settled()
    assert wait.done()


async def test_a_block_is_left_when_its_time_is_up():
    clock, reached = FakeClock(), list[str]()

    async def bounded() -> None:
        async with until(clock, 200):
            await asyncio.Event().wait()
            reached.append("never")
        reached.append("after")

    task = asyncio.create_task(bounded())
    await clock.advance(200)
    await settled()
    assert task.done()
    assert reached == ["after"]


async def test_the_machines_clock_counts_in_milliseconds_and_sleeps_at_least_so_long():
    clock = SystemClock()
    assert clock.now_ms() > 1_700_000_000_000
    before = clock.monotonic_ms()
    await clock.sleep_ms(3)
    assert clock.monotonic_ms() - before >= 2
    await clock.sleep_ms(0)
