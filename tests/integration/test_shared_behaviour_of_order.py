"""A queue in memory behaves as one on a server: who is next, by priority, arrival and lane."""

from collections.abc import Sequence
from dataclasses import replace

from echomq_worker.domain.job import Held, JobId, NewJob
from echomq_worker.domain.lanes import lane_group
from echomq_worker.domain.outcome import Buried, HandedBack, Retried
from echomq_worker.domain.views import Order, Reprioritized
from tests.support import behaviour
from tests.support.behaviour import Driver
from tests.support.jobs import A, B, C, D, E, F, job_id, new_job

LEASE_MS = 10_000
driver = behaviour.driver


def ranked(id_: JobId, priority: int) -> NewJob:
    return replace(new_job(id_), priority=priority or None)


def laned(id_: JobId, lane: str) -> NewJob:
    return replace(new_job(id_), lane=lane, group=lane_group(lane))


async def claim(driver: Driver, limit: int) -> Sequence[Held]:
    return (await driver.line().claim(limit=limit, lease_ms=LEASE_MS, promote=9)).jobs


async def claimed(driver: Driver, limit: int) -> list[JobId]:
    return [job.id for job in await claim(driver, limit)]


async def test_jobs_come_by_priority_then_by_arrival(driver: Driver):
    await driver.queue.enqueue([ranked(D, 5), ranked(A, 5), ranked(C, 0), ranked(B, 0)])
    await driver.queue.enqueue([ranked(F, -1), ranked(E, -1)])

    jobs = await claim(driver, 9)

    assert [job.id for job in jobs] == [F, E, B, C, D, A]
    assert [job.priority for job in jobs] == [-1, -1, 0, 0, 5, 5]


async def test_whatever_comes_back_comes_back_to_its_place(driver: Driver):
    line = driver.line()
    await driver.queue.enqueue([ranked(id_, 5) for id_ in (D, C, B, A)])
    first, second, third = (await line.claim(limit=3, lease_ms=LEASE_MS, promote=0)).jobs
    await line.settle(
        [(third, HandedBack()), (first, Retried(1_000, "no")), (second, Buried("no"))]
    )
    await driver.queue.enqueue([ranked(E, 5)])
    await driver.pass_time(1_001)
    await driver.queue.promote(9)
    await driver.queue.requeue([C])

    assert await claimed(driver, 9) == [D, C, B, A, E]


async def test_a_job_whose_lease_was_lost_comes_back_to_its_place(driver: Driver):
    await driver.queue.enqueue([ranked(B, 5), ranked(A, 5)])
    await claim(driver, 1)
    await driver.pass_time(LEASE_MS + 1)

    await driver.queue.reap(9)

    assert await claimed(driver, 9) == [B, A]


async def test_a_job_gets_another_priority_where_it_is(driver: Driver):
    line = driver.line()
    await driver.queue.enqueue([ranked(A, 0), ranked(B, 3)])
    active, dead = (await line.claim(limit=2, lease_ms=LEASE_MS, promote=0)).jobs
    await line.settle([(dead, Buried("no"))])
    await driver.queue.enqueue([ranked(C, 0), new_job(D, after_ms=1_000), laned(E, "acme")])
    ok, later = Reprioritized.OK, Reprioritized.NOT_WAITING

    assert await driver.queue.reprioritize([A, B, C, D, E, F], -2) == [
        later,
        later,
        ok,
        later,
        Reprioritized.LANE,
        Reprioritized.GONE,
    ]

    await line.settle([(active, HandedBack())])
    await driver.queue.requeue([B])
    await driver.pass_time(1_001)
    jobs = await claim(driver, 9)
    # B has a number from before; the others arrived as they came to wait with a priority.
    assert [(job.id, job.priority) for job in jobs] == [
        (B, -2),
        (C, -2),
        (A, -2),
        (D, -2),
        (E, 0),
    ]


async def test_mint_order_decides_again_for_a_job_without_a_priority(driver: Driver):
    await driver.queue.enqueue([ranked(B, 5), ranked(C, 0), ranked(A, 0)])

    assert await driver.queue.reprioritize([B], 0) == [Reprioritized.OK]

    assert await claimed(driver, 9) == [A, B, C]


async def test_tiers_may_be_in_mint_order(driver: Driver):
    line = driver.line()
    await driver.queue.enqueue([ranked(id_, 5) for id_ in (A, D, C)])
    (held,) = (await line.claim(limit=1, lease_ms=LEASE_MS, promote=0)).jobs

    await driver.queue.put_order(Order.MINT)

    assert await driver.queue.order() is Order.MINT
    await driver.queue.enqueue([ranked(B, 5)])
    await line.settle([(held, HandedBack())])
    assert await claimed(driver, 3) == [A, B, C]
    await driver.queue.put_order(Order.ARRIVAL)
    await driver.queue.enqueue([ranked(F, 5), ranked(E, 5)])
    assert await claimed(driver, 9) == [D, F, E]


async def test_lanes_take_turns_and_share_with_flat_jobs(driver: Driver):
    flat = [job_id(n) for n in range(6)]
    big = [job_id(n) for n in range(100, 120)]
    small = [job_id(n) for n in range(200, 203)]
    await driver.queue.enqueue([laned(id_, "big") for id_ in big])
    await driver.queue.enqueue([laned(id_, "small") for id_ in small])
    await driver.queue.enqueue([new_job(id_) for id_ in flat])

    jobs = await claim(driver, 12)

    assert {job.id for job in jobs} == {*flat, *small, *big[:3]}
    assert {job.lane for job in jobs} == {None, "big", "small"}


async def test_the_odd_share_alternates(driver: Driver):
    await driver.queue.enqueue([new_job(job_id(n)) for n in range(9)])
    await driver.queue.enqueue([laned(job_id(n), "acme") for n in range(100, 109)])

    lanes = [job.lane for _ in range(6) for job in await claim(driver, 1)]

    assert lanes == [None, "acme"] * 3


async def test_what_waits_is_counted_with_priorities_and_lanes_apart(driver: Driver):
    await driver.queue.enqueue([ranked(A, 5), ranked(B, 0), laned(C, "a"), laned(D, "b")])
    await driver.queue.enqueue([laned(E, "b")])

    counts = await driver.queue.counts()

    assert (counts.pending, counts.prioritized, counts.lanes) == (2, 1, 2)
    assert counts.is_ready
    view = await driver.queue.inspect(A)
    assert view is not None
    assert (view.priority, view.lane) == (5, None)
    view = await driver.queue.inspect(C)
    assert view is not None
    assert (view.priority, view.lane, view.group) == (0, "a", lane_group("a"))
