"""Rates at the claim: exact, and whoever is too many waits aside, once, until tokens return."""

import asyncio
from dataclasses import replace

from echomq_worker.domain.job import NewJob
from echomq_worker.store import QueueStore
from echomq_worker.store.line import Line
from tests.support.gates import HOUR, gates, ids, limit, never, parked, put
from tests.support.jobs import (
    A,
    B,
    C,
    D,
    claim,
    enqueue,
    handout,
    job_id,
    new_job,
)
from tests.support.look import Look


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


async def test_the_pump_lets_parked_jobs_through_as_well(queue: QueueStore, line: Line, look: Look):
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
        line = queue.line(trouble=never)
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
