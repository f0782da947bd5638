"""The gate before a server: one tries for all, and not too often."""

import asyncio
import threading

import pytest
from redis.exceptions import ConnectionError as NotConnectedError

from echomq_worker.store.gate import FIRST_WAIT_S, LONGEST_WAIT_S, ConnectGate
from echomq_worker.store.translate import UnreachableError, translated

REFUSED = NotConnectedError("refused")


class Watch:
    def __init__(self) -> None:
        self.s = 100.0

    def __call__(self) -> float:
        return self.s


def longest(_: float, high: float) -> float:
    return high


def shortest(low: float, _: float) -> float:
    return low


def fail(gate: ConnectGate, watch: Watch) -> float:
    """Attempt as soon as it is granted, and fail; return how long that took."""
    began = watch.s
    while (wait_s := gate.ask(gate.failures)) > 0:
        watch.s += wait_s
    gate.note(REFUSED)
    return watch.s - began


def test_the_first_attempt_after_a_success_is_granted_at_once():
    gate = ConnectGate(monotonic=Watch(), dice=longest)
    assert gate.ask(0) == 0
    gate.note(None)
    assert gate.ask(0) == 0


def test_attempts_that_fail_are_spaced_ever_wider_up_to_a_second():
    watch = Watch()
    gate = ConnectGate(monotonic=watch, dice=longest)
    waits = [fail(gate, watch) for _ in range(6)]
    assert waits == pytest.approx([0, FIRST_WAIT_S, 0.5, LONGEST_WAIT_S, 1, 1], abs=1e-6)


def test_no_roll_of_the_dice_makes_five_attempts_in_one_second():
    watch = Watch()
    gate = ConnectGate(monotonic=watch, dice=shortest)
    at: list[float] = []
    for _ in range(50):
        fail(gate, watch)
        at.append(watch.s)
    assert all(later - first >= 1.0 for first, later in zip(at, at[4:], strict=False))


def test_a_success_opens_the_gate_at_once():
    watch = Watch()
    gate = ConnectGate(monotonic=watch, dice=longest)
    for _ in range(5):
        fail(gate, watch)
    watch.s += LONGEST_WAIT_S
    assert gate.ask(gate.failures) == 0
    gate.note(None)
    assert gate.ask(gate.failures) == 0
    gate.note(REFUSED)
    assert 0 < gate.ask(gate.failures) <= FIRST_WAIT_S, "its count began anew"


def test_who_waits_for_a_turn_fails_with_whoever_has_it():
    gate = ConnectGate(monotonic=Watch(), dice=longest)
    seen = gate.failures
    assert gate.ask(seen) == 0
    assert gate.ask(seen) > 0
    gate.note(REFUSED)
    with pytest.raises(NotConnectedError, match="refused") as caught:
        gate.ask(seen)
    assert isinstance(translated(caught.value), UnreachableError), "nothing was sent"


def test_an_attempt_that_was_cancelled_says_nothing_about_the_server():
    gate = ConnectGate(monotonic=Watch(), dice=longest)
    assert gate.ask(0) == 0
    gate.note(asyncio.CancelledError())
    assert gate.ask(0) == 0


async def test_tasks_and_threads_take_turns():
    gate = ConnectGate()
    inside = most_inside = 0

    def enter() -> None:
        nonlocal inside, most_inside
        inside += 1
        most_inside = max(most_inside, inside)

    async def task() -> None:
        nonlocal inside
        async with gate.turn():
            enter()
            await asyncio.sleep(0.001)
            inside -= 1

    def thread() -> None:
        nonlocal inside
        with gate.turn_blocking():
            enter()
            threading.Event().wait(0.001)
            inside -= 1

    await asyncio.gather(
        *(task() for _ in range(5)), *(asyncio.to_thread(thread) for _ in range(5))
    )
    assert most_inside == 1
