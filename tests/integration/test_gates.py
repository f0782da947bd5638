"""Gates at the claim: rates, caps and strikes keep jobs back, once, and in their order."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from echomq_worker.domain.job import Held, JobId, NewJob
from echomq_worker.domain.outcome import Buried, Completed, HandedBack, Outcome, Retried
from echomq_worker.store import Places, QueueStore, Removed
from echomq_worker.store.line import Line
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
    new_job,
    settle,
)
from tests.support.look import Look

HOUR = "3600000"


async def limit(look: Look, gate: str, rule: str) -> None:
    await look.do("HSET", f"{look.keys.root}limits", gate, rule)


async def strike(look: Look, scope: str, until: str = "-") -> None:
    await look.do("HSET", f"{look.keys.root}strikes", scope, f"{until} {{}}")


async def lift(look: Look, scope: str) -> None:
    """As the script that lifts a strike does."""
    await look.do("HDEL", f"{look.keys.root}strikes", scope)
    await look.do("ZADD", f"{look.keys.root}gates", 0, f"strike:{scope}")


async def parked(look: Look, gate: str) -> list[str]:
    return await look.members(f"{look.keys.root}parked:{gate}")


async def gates(look: Look) -> dict[str, str]:
    flat = await look.do("ZRANGE", f"{look.keys.root}gates", 0, -1, "WITHSCORES")
    return {
        name.decode(): score.decode() for name, score in zip(flat[::2], flat[1::2], strict=True)
    }


async def busy(look: Look) -> dict[str, str]:
    return await look.hash(f"{look.keys.root}busy")


async def put(queue: QueueStore, name: str, *ids: JobId, key: str | None = None) -> None:
    await queue.enqueue([replace(new_job(id_, name=name), limit_key=key) for id_ in ids])


def ids(jobs: Sequence[Held]) -> list[JobId]:
    return [job.id for job in jobs]


async def test_a_rate_lets_its_burst_through_and_parks_the_others_of_the_name(
    queue: QueueStore, line: Line, look: Look
):
    await limit(look, "rate:name:mail", f"1 {HOUR} 2 bucket")
    await put(queue, "mail", A, B, C)
    await put(queue, "other", D)

    told = await handout(line, 10)

    assert ids(told.jobs) == [A, B, D]
    assert await parked(look, "rate:name:mail") == [C]
    assert (await look.row(C))["held"] == "rate:name:mail"
    assert (await look.row(C))["attempts"] == "0", "nothing was started"
    opens = int((await gates(look))["rate:name:mail"])
    assert 0 < opens - told.now_ms <= int(HOUR) + 1
    assert told.next_due_ms == opens, "the clock knows when tokens return"
    assert await look.do("LLEN", look.keys.clock) == 1, "the watcher is told of a nearer wake"


async def test_a_parked_job_is_let_through_when_tokens_have_returned(
    queue: QueueStore, line: Line, look: Look
):
    await limit(look, "rate:name:mail", "1 40 1 bucket")
    await put(queue, "mail", A, B)
    assert ids(await claim(line, 10)) == [A]
    assert await claim(line, 10) == []

    await asyncio.sleep(0.06)

    (again,) = await claim(line, 10)
    assert (again.id, again.token) == (B, 1)
    assert "held" not in await look.row(B)
    assert await gates(look) == {}
    assert await parked(look, "rate:name:mail") == []


async def test_the_pump_lets_parked_jobs_through_as_well(
    queue: QueueStore, line: Line, look: Look
):
    await limit(look, "rate:name:mail", "1 40 1 bucket")
    await put(queue, "mail", A, B)
    await claim(line, 10)
    await asyncio.sleep(0.06)

    await queue.promote(10)

    assert await look.places() == {"active": [A], "pending": [B]}
    assert await look.bells() == 1


async def test_a_rate_is_exact_whoever_asks_and_however_often(queue: QueueStore, look: Look):
    await limit(look, "rate:name:mail", "50 1000 10 bucket")
    await put(queue, "mail", *(job_id(n) for n in range(200)))
    started: list[int] = []
    stop = asyncio.get_running_loop().time() + 1.5

    async def worker() -> None:
        line = queue.line(trouble=_never)
        while asyncio.get_running_loop().time() < stop:
            told = await handout(line, 7)
            started.extend([told.now_ms] * len(told.jobs))
            await asyncio.sleep(0.003)
        await line.aclose()

    await asyncio.gather(*(worker() for _ in range(4)))

    started.sort()
    windows = [sum(1 for at in started if first <= at < first + 1000) for first in started]
    assert max(windows) <= 60
    assert len(started) >= 10 + 50 * 1.3


async def test_a_sliding_window_lets_so_many_through_in_any_window(
    queue: QueueStore, line: Line, look: Look
):
    await limit(look, "rate:name:mail", "2 80 0 window")
    await put(queue, "mail", A, B, C)
    first = await handout(line, 10)
    assert ids(first.jobs) == [A, B]
    assert first.next_due_ms == first.now_ms + 80

    await asyncio.sleep(0.1)

    assert ids(await claim(line, 10)) == [C]


async def test_no_counter_is_without_a_deadline(queue: QueueStore, line: Line, look: Look):
    await limit(look, "rate:name:mail", "1 1000 5 bucket")
    await limit(look, "rate:name:sms", "3 1000 0 window")
    await put(queue, "mail", A)
    await put(queue, "sms", B)
    await claim(line, 10)

    for gate in ("rate:name:mail", "rate:name:sms"):
        assert 0 < await look.do("PTTL", look.keys.root + gate) <= 6_000


async def test_a_clock_that_went_back_holds_a_rate_up_no_longer_than_its_window(
    queue: QueueStore, line: Line, look: Look
):
    await limit(look, "rate:name:mail", "1 40 1 bucket")
    ahead_ms = (await look.now_us()) // 1000 + 3_600_000
    await look.do("SET", f"{look.keys.root}rate:name:mail", f"0.5 {ahead_ms}.000", "PX", 9_000_000)
    await put(queue, "mail", A)
    assert await claim(line) == []

    await asyncio.sleep(0.06)

    assert ids(await claim(line)) == [A]


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


async def test_a_job_that_is_handed_back_frees_its_slot(
    queue: QueueStore, line: Line, look: Look
):
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


async def test_the_rate_of_a_queue_holds_for_all_names_without_parking(
    queue: QueueStore, line: Line, look: Look
):
    await limit(look, "rate:queue", "1 40 2 bucket")
    await put(queue, "mail", A, B)
    await enqueue(queue, C)

    told = await handout(line, 10)
    assert ids(told.jobs) == [A, B]
    assert await look.places() == {"pending": [C], "active": [A, B]}
    assert told.next_due_ms is not None
    assert 0 < told.next_due_ms - told.now_ms <= 41
    assert await look.bells() == 0

    await asyncio.sleep(0.06)
    await queue.promote(10)
    assert await look.bells() == 1, "the pump calls the claimers when a token is back"
    assert ids(await claim(line, 10)) == [C]


async def test_a_limiter_that_a_peer_counts_is_honoured(queue: QueueStore, line: Line, look: Look):
    await look.do("HSET", look.keys.meta, "max", 5)
    await look.do("SET", f"{look.keys.root}limiter", 5, "PX", 40)
    await enqueue(queue, A)
    told = await handout(line)
    assert told.jobs == []
    assert told.next_due_ms is not None
    assert 0 < told.next_due_ms - told.now_ms <= 40

    await asyncio.sleep(0.06)

    assert ids(await claim(line)) == [A]


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


async def test_a_lane_has_a_rate_of_its_own_and_is_out_of_the_rotation_until_then(
    queue: QueueStore, line: Line, look: Look
):
    group = "LAN00000000001"
    await look.do("HSET", f"{look.keys.root}grate", group, "1 40 1 bucket")
    jobs: list[NewJob] = [replace(new_job(id_), group=group) for id_ in (A, B)]
    await queue.enqueue(jobs)

    told = await handout(line, 10)
    assert ids(told.jobs) == [A]
    assert await look.do("LLEN", look.keys.ring) == 0
    assert await gates(look) == {f"rate:lane:{group}": str(told.next_due_ms)}

    await asyncio.sleep(0.06)
    assert ids(await claim(line, 10)) == [B]


async def test_a_key_of_another_type_in_a_parking_place_lets_jobs_through(
    queue: QueueStore, line: Line, look: Look
):
    await strike(look, "name:mail")
    await look.do("SET", f"{look.keys.root}parked:strike:name:mail", "x")
    await put(queue, "mail", A)

    assert ids(await claim(line)) == [A]
    await look.do("DEL", f"{look.keys.root}parked:strike:name:mail")


async def _never(error: Exception, _tries: int) -> None:
    raise error
