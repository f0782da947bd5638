"""Who runs first: what is promised of the order, and what is not."""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from echomq_worker.domain.job import Held, JobId, NewJob
from echomq_worker.domain.lanes import lane_group
from echomq_worker.domain.outcome import Completed, Retried
from echomq_worker.store import QueueStore
from echomq_worker.store.line import Line
from tests.support.jobs import LEASE_MS, claim, job_id, new_job
from tests.support.look import Look

ROUNDS = 60
ROOM = 6


def ranked(number: int, priority: int) -> NewJob:
    return replace(new_job(job_id(number)), priority=priority or None)


def laned(number: int, lane: str) -> NewJob:
    return replace(new_job(job_id(number)), lane=lane, group=lane_group(lane))


async def finish(line: Line, jobs: Sequence[Held], limit: int) -> Sequence[Held]:
    """Complete what was claimed, and claim as much again in the same call."""
    settled = await line.settle(
        [(job, Completed()) for job in jobs], limit=limit, lease_ms=LEASE_MS
    )
    return settled.claimed.jobs


@pytest.mark.case("ORD-01")
@pytest.mark.parametrize("priority", [-1, 0, 1])
async def test_a_thousand_jobs_of_one_priority_run_in_the_order_of_their_enqueue(
    queue: QueueStore, line: Line, priority: int
):
    numbers = random.Random(7).sample(range(100_000), 1_000)
    for first in range(0, 1_000, 10):
        await queue.enqueue([ranked(number, priority) for number in numbers[first : first + 10]])

    jobs = await claim(line, 1_000)

    # Without a priority the id decides: the order of enqueue, for the ids of one process.
    expected = numbers if priority else sorted(numbers)
    assert [job.id for job in jobs] == [job_id(number) for number in expected]


@pytest.mark.case("ORD-03")
async def test_priorities_are_strict_a_later_tier_waits_as_long_as_an_earlier_one_fills_all_room(
    queue: QueueStore, line: Line
):
    minted = iter(range(1, 1_000_000))
    await queue.enqueue([ranked(next(minted), priority) for priority in (1, 0, -1)])
    held: Sequence[Held] = []
    for _ in range(ROUNDS):
        await queue.enqueue([ranked(next(minted), -2) for _ in range(ROOM)])
        held = await finish(line, held, ROOM)
        assert [job.priority for job in held] == [-2] * ROOM

    # As soon as there is room, the others come, each tier before the next.
    held = await finish(line, held, ROOM)
    assert [job.priority for job in held] == [-1, 0, 1]


@pytest.mark.case("ORD-03")
@pytest.mark.parametrize("busy", ["flat", "lanes"])
async def test_flat_jobs_and_lanes_do_not_starve_each_other_under_full_load(
    queue: QueueStore, line: Line, busy: str
):
    """One that waits behind 1,000 of the other kind, which never run out, is claimed at once."""
    minted = iter(range(1, 1_000_000))

    def inflow() -> NewJob:
        number = next(minted)
        return ranked(number, 0) if busy == "flat" else laned(number, f"tenant{number % 7}")

    def other() -> NewJob:
        number = next(minted)
        return laned(number, "acme") if busy == "flat" else ranked(number, 0)

    await queue.enqueue([inflow() for _ in range(1_000)])
    held: Sequence[Held] = []
    for room in (1, 2, 3, ROOM):
        for _ in range(10):
            job = other()
            await queue.enqueue([job, *(inflow() for _ in range(room))])
            seen: list[JobId] = []
            for _ in range(2):
                held = await finish(line, held, room)
                assert len(held) == room, "no room is left empty"
                seen += [each.id for each in held]
            assert job.id in seen, "it is there after two claims"


@pytest.mark.case("ORD-03")
async def test_a_tenant_with_few_jobs_waits_for_one_round_of_the_lanes(
    queue: QueueStore, line: Line
):
    minted = iter(range(1, 1_000_000))
    await queue.enqueue([laned(next(minted), "big") for _ in range(1_000)])
    await queue.enqueue([laned(next(minted), f"small{n}") for n in range(20)])

    lanes = [job.lane for job in await claim(line, 42)]

    assert {f"small{n}" for n in range(20)} <= set(lanes)


@pytest.mark.case("ORD-04")
async def test_a_job_of_a_lane_that_fails_goes_back_to_its_place_and_the_others_go_on_meanwhile(
    queue: QueueStore, line: Line, look: Look
):
    """The rule: a lane starts its jobs in the order of their making; none waits for another."""
    await queue.enqueue([laned(number, "acme") for number in range(1, 11)])
    third, started, failures = job_id(3), list[JobId](), 0
    while jobs := await claim(line, 1):
        (job,) = jobs
        started.append(job.id)
        fails = job.id == third and failures < 2
        failures += fails
        await line.settle([(job, Retried(3_600_000, "no") if fails else Completed())])
        if started.count(third) == failures and len(started) in {5, 8}:
            await look.make_due(third)
            await queue.promote(1)

    first_to_third = [job_id(n) for n in (1, 2, 3)]
    assert started[:3] == first_to_third
    assert started.count(third) == 3
    assert started[5] == third, "its wait is over: it comes before all that were made later"
    assert started[8] == third
    others = [id_ for id_ in started if id_ != third]
    assert others == sorted(others)
    assert len(others) == 9
