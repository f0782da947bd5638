"""Caps and strikes at the claim: they keep jobs back, once, and let them through in order."""

import asyncio

import pytest

from echomq_worker.domain.job import JobId
from echomq_worker.domain.outcome import Buried, Completed, HandedBack, Outcome, Retried
from echomq_worker.store import Places, QueueStore, Removed
from echomq_worker.store.line import Line
from tests.support.gates import HOUR, busy, gates, ids, lift, limit, parked, put, strike
from tests.support.jobs import (
    LEASE_MS,
    A,
    B,
    C,
    D,
    claim,
    claim_one,
    enqueue,
    handout,
    job_id,
    settle,
)
from tests.support.look import Look

OUTCOMES: list[Outcome] = [Completed(), Buried("no"), Retried(3_600_000, "no")]


@pytest.mark.parametrize("outcome", OUTCOMES)
async def test_a_cap_keeps_the_next_back_until_one_has_ended(
    queue: QueueStore, line: Line, look: Look, outcome: Outcome
):
    await limit(look, "cap:name:mail", "1")
    await put(queue, "mail", A, B)
    (held,) = await claim(line, 10)
    assert (held.id, await parked(look, "cap:name:mail")) == (A, [B])
    assert await busy(look) == {"cap:name:mail": "1"}
    assert await gates(look) == {"cap:name:mail": "inf"}, "it opens by what happens"

    settled = await line.settle([(held, outcome)], limit=10, lease_ms=LEASE_MS)

    assert ids(settled.claimed.jobs) == [B]
    assert await busy(look) == {"cap:name:mail": "1"}
    assert await gates(look) == {}
    await settle(line, settled.claimed.jobs[0], Completed())
    assert await busy(look) == {}


async def test_a_job_that_is_handed_back_frees_its_slot(queue: QueueStore, line: Line, look: Look):
    await limit(look, "cap:name:mail", "1")
    await put(queue, "mail", A, B)
    held = await claim_one(line)

    await settle(line, held, HandedBack())

    assert ids(await claim(line, 10)) == [A]
    assert await busy(look) == {"cap:name:mail": "1"}


async def test_the_slots_of_a_killed_worker_free_themselves_with_its_leases(
    queue: QueueStore, line: Line, look: Look
):
    await limit(look, "cap:name:mail", "1")
    await put(queue, "mail", A, B)
    await claim(line, 10)
    await look.expire_lease(A)

    await queue.reap(10)

    assert await busy(look) == {}
    assert ids(await claim(line, 10)) == [A]
    assert await busy(look) == {"cap:name:mail": "1"}


async def test_slots_that_a_peer_has_left_are_freed_by_the_next_claim(
    queue: QueueStore, line: Line, look: Look
):
    await limit(look, "cap:name:mail", "1")
    await put(queue, "mail", A)
    await claim(line)
    await look.do("ZREM", look.keys.active, A)  # as a runtime without caps takes a lease back
    await look.do("ZADD", look.keys.pending, 0, A)
    await look.do("HSET", look.keys.job(A), "state", "pending")

    assert ids(await claim(line, 10)) == [A] or ids(await claim(line, 10)) == [A]
    assert await busy(look) == {"cap:name:mail": "1"}


async def test_slots_of_a_job_that_a_peer_has_completed_are_freed_by_a_recount(
    queue: QueueStore, line: Line, look: Look
):
    await limit(look, "cap:name:mail", "2")
    await put(queue, "mail", A, B, C)
    held, _ = await claim(line, 10)
    await look.do("ZREM", look.keys.active, B)  # as a runtime without caps completes it
    await look.do("DEL", look.keys.job(B))
    assert (await claim(line, 10), await parked(look, "cap:name:mail")) == ([], [C])

    assert await queue.gates.recount() == 1

    assert await busy(look) == {"cap:name:mail": "1"}
    assert ids(await claim(line, 10)) == [C]
    assert await queue.gates.recount() == 0
    await settle(line, held, Completed())
    assert await busy(look) == {"cap:name:mail": "1"}


async def test_a_recount_corrects_what_is_too_low_and_takes_away_what_nobody_holds(
    queue: QueueStore, line: Line, look: Look
):
    await limit(look, "cap:name:mail", "2")
    await put(queue, "mail", A, B)
    await claim(line, 10)
    await look.do("HSET", look.keys.root + "busy", "cap:name:mail", 1, "cap:key:tenant/gone", 7)

    assert await queue.gates.recount() == 2

    assert await busy(look) == {"cap:name:mail": "2"}


async def test_a_limit_by_key_counts_each_value_for_itself(
    queue: QueueStore, line: Line, look: Look
):
    await limit(look, "cap:key:tenant", "1")
    await put(queue, "mail", A, B, key="tenant/acme")
    await put(queue, "mail", C, D, key="tenant/other")

    assert ids(await claim(line, 10)) == [A, C]

    assert await parked(look, "cap:key:tenant/acme") == [B]
    assert await parked(look, "cap:key:tenant/other") == [D]


async def test_every_gate_on_the_way_holds_and_none_is_charged_by_another_that_is_shut(
    queue: QueueStore, line: Line, look: Look
):
    await limit(look, "cap:name:mail", "1")
    await limit(look, "rate:key:tenant", f"1 {HOUR} 1 bucket")
    await put(queue, "mail", A, B, key="tenant/acme")

    assert ids(await claim(line, 10)) == [A]

    assert await parked(look, "cap:name:mail") == [B]
    assert await busy(look) == {"cap:name:mail": "1"}


async def test_the_cap_of_a_queue_is_that_of_the_base_wire(
    queue: QueueStore, line: Line, look: Look
):
    await look.do("HSET", look.keys.meta, "concurrency", 2)
    await enqueue(queue, A, B, C)

    told = await handout(line, 10)
    assert (ids(told.jobs), told.left, told.paused) == ([A, B], 1, False)
    assert await look.bells() == 0, "nobody is woken for what may not start"

    settled = await line.settle([(told.jobs[0], Completed())], limit=5, lease_ms=LEASE_MS)
    assert ids(settled.claimed.jobs) == [C]


async def test_struck_jobs_wait_in_their_order_and_come_back_to_their_place(
    queue: QueueStore, line: Line, look: Look
):
    await strike(look, "name:mail")
    await put(queue, "mail", A, C)
    await put(queue, "other", B, D)
    assert ids(await claim(line, 1)) == [B]
    assert await parked(look, "strike:name:mail") == [A]

    await lift(look, "name:mail")

    assert ids(await claim(line, 10)) == [A, C, D]
    assert await gates(look) == {}


async def test_a_strike_with_an_end_lifts_itself(queue: QueueStore, line: Line, look: Look):
    until_ms = (await look.now_us()) // 1000 + 50
    await strike(look, "name:mail", str(until_ms))
    await put(queue, "mail", A)
    told = await handout(line)
    assert (told.jobs, told.next_due_ms) == ([], until_ms)

    await asyncio.sleep(0.07)

    assert ids(await claim(line)) == [A]
    assert await look.do("EXISTS", f"{look.keys.root}strikes") == 0


async def test_a_struck_queue_starts_nothing_until_it_ends(
    queue: QueueStore, line: Line, look: Look
):
    until_ms = (await look.now_us()) // 1000 + 50
    await strike(look, "queue", str(until_ms))
    await enqueue(queue, A)
    assert (await handout(line)).jobs == []

    await asyncio.sleep(0.07)

    assert ids(await claim(line)) == [A]


async def test_many_parked_jobs_come_back_in_slices(queue: QueueStore, line: Line, look: Look):
    many = [job_id(n) for n in range(250)]
    await strike(look, "name:mail")
    await put(queue, "mail", *many)
    assert await claim(line, 100) == []
    assert await look.do("ZCARD", f"{look.keys.root}parked:strike:name:mail") == 250
    await lift(look, "name:mail")

    got: list[JobId] = []
    for _ in range(4):
        got += ids(await claim(line, 100))

    assert got == many
    assert await gates(look) == {}


async def test_a_rule_that_is_taken_away_lets_all_through(
    queue: QueueStore, line: Line, look: Look
):
    await limit(look, "cap:name:mail", "1")
    await put(queue, "mail", *(job_id(n) for n in range(5)))
    await claim(line, 10)
    await look.do("HDEL", f"{look.keys.root}limits", "cap:name:mail")
    await look.do("ZADD", f"{look.keys.root}gates", 0, "cap:name:mail")

    assert len(await claim(line, 10)) == 4


async def test_a_parked_job_can_be_removed(queue: QueueStore, line: Line, look: Look):
    await strike(look, "name:mail")
    await put(queue, "mail", A)
    await claim(line)

    assert await queue.remove(A, places=Places.WAITING) is Removed.OK

    assert await parked(look, "strike:name:mail") == []


async def test_a_key_of_another_type_in_a_parking_place_lets_jobs_through(
    queue: QueueStore, line: Line, look: Look
):
    await strike(look, "name:mail")
    await look.do("SET", f"{look.keys.root}parked:strike:name:mail", "x")
    await put(queue, "mail", A)

    assert ids(await claim(line)) == [A]
    await look.do("DEL", f"{look.keys.root}parked:strike:name:mail")
