"""The clock that a test moves."""

import asyncio
import time

import pytest

from echomq_worker.errors import InvalidArgumentError
from echomq_worker.testing import ManualClock


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def test_it_starts_at_the_machines_time_and_then_stands_still():
    before_ms = time.time_ns() // 1_000_000
    clock = ManualClock()
    first_ms = clock.now_ms()

    assert before_ms <= first_ms <= time.time_ns() // 1_000_000
    time.sleep(0.003)
    assert clock.now_ms() == clock.monotonic_ms() == first_ms


def test_it_moves_by_durations_as_people_write_them():
    clock = ManualClock(1_000)
    clock.advance("1m30s")
    clock.advance(2)

    assert clock.now_ms() == 1_000 + 90_000 + 2_000


def test_it_never_goes_back():
    clock = ManualClock(1_000)
    clock.move_to(500)

    assert clock.now_ms() == 1_000
    with pytest.raises(InvalidArgumentError):
        clock.advance(-1)


async def test_sleepers_wake_when_their_time_has_come_and_not_before():
    clock = ManualClock(0)
    woken: list[str] = []

    async def sleep(name: str, ms: int) -> None:
        await clock.sleep_ms(ms)
        woken.append(name)

    sleepers = [asyncio.create_task(sleep("late", 200)), asyncio.create_task(sleep("soon", 100))]
    await turns()
    clock.advance(0.099)
    await turns()
    assert woken == []

    clock.advance(0.001)
    await turns()
    assert woken == ["soon"]

    clock.advance("1h")
    await asyncio.gather(*sleepers)
    assert woken == ["soon", "late"]


async def test_a_sleeper_that_is_cancelled_is_forgotten():
    clock = ManualClock(0)
    sleeper = asyncio.create_task(clock.sleep_ms(1_000))
    await turns()
    sleeper.cancel()
    await asyncio.wait((sleeper,))

    assert clock._sleepers == []


async def test_a_thread_may_move_it():
    clock = ManualClock(0)
    sleeper = asyncio.create_task(clock.sleep_ms(1_000))
    await turns()
    await asyncio.to_thread(clock.advance, "1s")

    await asyncio.wait_for(sleeper, 5)
    assert clock.monotonic_ms() == 1_000


async def test_to_sleep_for_no_time_is_to_give_way_to_others():
    clock = ManualClock(0)

    await asyncio.wait_for(clock.sleep_ms(0), 5)

    assert clock.monotonic_ms() == 0
