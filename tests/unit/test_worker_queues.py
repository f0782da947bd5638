"""Several queues on one worker."""

import asyncio
from collections import Counter

from tests.fakes import settled
from tests.unit.worker_rig import Rig


def counting(rig: Rig) -> list[str]:
    order: list[str] = []

    async def work(queue: str) -> None:
        order.append(queue)
        await asyncio.sleep(0)

    rig.handle(work)
    return order


def fill(rig: Rig, count: int) -> None:
    for name, queue in rig.queues.items():
        for _ in range(count):
            queue.add(payload=b'{"queue":"%s"}' % name.encode())


async def test_queues_with_work_share_the_slots_by_weight():
    rig = Rig("a:6", "b:3", "c:1", concurrency=10)
    order = counting(rig)
    fill(rig, 600)
    async with rig.running():
        share = Counter(order[:500])
        assert 270 <= share["a"] <= 330
        assert 120 <= share["b"] <= 180
        assert 30 <= share["c"] <= 70


async def test_in_strict_order_the_second_queue_starts_when_the_first_is_empty():
    rig = Rig("a", "b", order="strict", concurrency=3)
    order = counting(rig)
    fill(rig, 30)
    async with rig.running():
        assert order == ["a"] * 30 + ["b"] * 30


async def test_an_urgent_job_takes_the_next_free_slot_in_strict_order():
    rig = Rig("a", "b", order="strict", concurrency=1)
    order, gates = list[str](), [asyncio.Event() for _ in range(3)]

    async def work(queue: str) -> None:
        order.append(queue)
        await gates[len(order) - 1].wait()

    rig.handle(work)
    rig.queues["b"].add(payload=b'{"queue":"b"}')
    rig.queues["b"].add(payload=b'{"queue":"b"}')
    async with rig.running():
        rig.queues["a"].enqueue(payload=b'{"queue":"a"}')
        await rig.clock.advance(3_000)
        gates[0].set()
        await settled()
        assert order == ["b", "a"]
        for gate in gates:
            gate.set()


async def test_a_queue_that_is_busy_leaves_the_others_their_beats():
    rig = Rig("a", "b", concurrency=1)
    gate = asyncio.Event()

    async def work() -> None:
        await gate.wait()

    rig.handle(work)
    rig.queues["a"].add()
    async with rig.running():
        await rig.clock.advance(10_000)
        assert rig.queues["b"].kinds().count("beat") >= 10
        gate.set()


async def test_an_idle_worker_asks_each_queue_once_a_second():
    rig = Rig("a", "b", "c", order="strict")
    async with rig.running():
        await rig.clock.advance(1_500)
        before = {name: len(queue.calls) for name, queue in rig.queues.items()}
        await rig.clock.advance(10_000)
        for name, queue in rig.queues.items():
            assert 9 <= len(queue.calls) - before[name] <= 11


async def test_work_that_nobody_rang_for_is_found_within_a_beat_in_every_queue():
    rig = Rig("a", "b", "c", order="strict")
    counting(rig)
    async with rig.running():
        await rig.clock.advance(1_500)
        fill(rig, 1)
        await rig.clock.advance(1_350)
        assert all(len(queue.completed) == 1 for queue in rig.queues.values())


async def test_a_paused_queue_hands_out_nothing_and_the_others_go_on():
    rig = Rig("a", "b", concurrency=2)
    counting(rig)
    rig.queues["a"].paused = True
    fill(rig, 20)
    async with rig.running():
        await rig.clock.advance(3_000)
        assert len(rig.queues["b"].completed) == 20
        assert not rig.queues["a"].completed
        assert len(rig.queues["a"].calls) < 10
        rig.queues["a"].paused = False
        rig.queues["a"].ring()
        await settled()
        assert len(rig.queues["a"].completed) == 20
