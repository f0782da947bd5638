"""Nothing is kept back for longer, or let go earlier, than what keeps it back says."""

from dataclasses import replace

import pytest

from echomq_worker import EchoMQ
from echomq_worker.domain.gates import Rate, parse_rate
from echomq_worker.domain.job import Held
from echomq_worker.domain.outcome import Completed
from echomq_worker.store import Places, QueueStore
from echomq_worker.store.line import Line
from tests.support.commands import Ask
from tests.support.gates import busy, gates, ids, parked, put
from tests.support.jobs import A, B, C, claim, claim_one, handout, job_id, new_job, settle
from tests.support.lanes import put as put_in_lane
from tests.support.look import Look

HOUR_MS = 3_600_000
CAP = "cap:name:mail"
BUCKET, WINDOW = parse_rate("2/h", burst=2), parse_rate("2/h", sliding=True)


async def wait_out(look: Look, gate: str) -> None:
    """Let a gate's time come."""
    await look.do("ZADD", f"{look.keys.root}gates", "XX", 1, gate)


@pytest.mark.parametrize("goes", ["is stopped elsewhere", "is removed"])
async def test_a_slot_that_is_not_taken_after_all_goes_to_the_next(
    queue: QueueStore, line: Line, look: Look, goes: str
):
    await queue.gates.limit_concurrency("name:mail", 1)
    await put(queue, "mail", A, key="mail/x")
    await put(queue, "mail", B, key="mail/y")
    await put(queue, "mail", C, key="mail/x")
    held = await claim_one(line)
    assert (await claim(line, 5), await parked(look, CAP)) == ([], [B, C])

    if goes == "is removed":
        await line.settle([(held, Completed())])  # B is let go, and nobody claims it
        await queue.remove(B, Places.ANY)
    else:
        await queue.gates.strike("key:mail/y")
        await line.settle([(held, Completed())], limit=5, lease_ms=HOUR_MS)
    told = await handout(line, 0)
    assert told.next_due_ms is not None, "somebody looks again"
    assert told.next_due_ms <= told.now_ms + 1_000
    await wait_out(look, CAP)

    assert ids(await claim(line, 5)) == [C]
    assert await busy(look) == {CAP: "1"}
    await queue.gates.lift("key:mail/y")


async def test_a_penalty_neither_ends_a_pause_nor_makes_a_longer_one_shorter(app: EchoMQ):
    await app.limits.pause(name="mail", reason="bounces", by="ada")
    assert await app.limits.penalize("1s", name="mail", reason="429") is None
    (pause,) = (await app.limits.list()).strikes
    assert (pause.until_ms, pause.reason, pause.by) == (None, "bounces", "ada")

    longer = await app.limits.penalize("1h", name="sms")
    assert await app.limits.penalize("1s", name="sms") == longer
    later = await app.limits.penalize("2h", name="sms")
    assert longer is not None
    assert later is not None
    assert later > longer
    await app.limits.resume(name="mail")
    await app.limits.resume(name="sms")


async def test_penalties_that_are_over_are_forgotten(queue: QueueStore, line: Line, look: Look):
    for n in range(1_001):
        await queue.gates.strike(f"key:mail/{n}", for_ms=0)
    await queue.gates.strike("key:mail/last", for_ms=HOUR_MS)
    await claim(line)
    assert list(await look.hash(f"{look.keys.root}strikes")) == ["key:mail/last"]
    await queue.gates.lift("key:mail/last")


async def test_a_drain_finds_what_waits_at_any_number_of_gates(
    queue: QueueStore, line: Line, look: Look
):
    await queue.gates.limit_concurrency("key:mail", 1)
    jobs = [
        replace(new_job(job_id(n), name="mail"), limit_key=f"mail/{n // 2}") for n in range(2_400)
    ]
    for first in range(0, len(jobs), 800):
        await queue.enqueue(jobs[first : first + 800])
    active: list[Held] = []
    while claimed := await claim(line, 400):
        active += claimed
    assert len(active) == 1_200
    assert await look.do("ZCARD", queue.keys.pending) == 0

    assert await queue.operator.drain() == 1_200

    assert await gates(look) == {}
    for first in range(0, len(active), 400):
        await line.settle([(job, Completed()) for job in active[first : first + 400]])


async def test_a_rate_that_is_changed_remembers_what_has_started(
    queue: QueueStore, line: Line, look: Look
):
    await queue.gates.limit_rate("name:mail", parse_rate("2/h", sliding=True))
    await put(queue, "mail", A, B, C)
    assert len(await claim(line, 5)) == 2

    await queue.gates.limit_rate("name:mail", parse_rate("3/h", sliding=True))

    assert ids(await claim(line, 5)) == [C]
    await put(queue, "mail", job_id(9))
    assert await claim(line, 5) == []
    await queue.gates.limit_rate("name:mail", None)


@pytest.mark.parametrize(("before", "after"), [(BUCKET, WINDOW), (WINDOW, BUCKET)])
async def test_a_rate_by_key_of_another_kind_holds_where_the_old_one_has_counted(
    queue: QueueStore, line: Line, before: Rate, after: Rate
):
    await queue.gates.limit_rate("key:mail", before)
    await put(queue, "mail", A, key="mail/x")
    assert ids(await claim(line)) == [A]

    await queue.gates.limit_rate("key:mail", after)
    await put(queue, "mail", *(job_id(n) for n in range(10, 15)), key="mail/x")

    assert len(await claim(line, 9)) == 2
    assert await claim(line, 9) == []
    await put(queue, "mail", job_id(30), key="mail/x")
    assert await claim(line, 9) == []
    await queue.gates.limit_rate("key:mail", None)


@pytest.mark.parametrize("scope", ["queue", "name:mail", "key:mail/x"])
async def test_who_asks_for_the_start_of_a_job_hears_of_what_stops_it(
    queue: QueueStore, scope: str
):
    await put(queue, "mail", A, key="mail/x")
    until_ms = await queue.gates.strike(scope, for_ms=HOUR_MS)
    assert await queue.gates.expected_ms(A) == until_ms
    await queue.gates.strike(scope)
    assert await queue.gates.expected_ms(A) is None
    await queue.gates.lift(scope)


@pytest.mark.parametrize("scope", ["queue", "name:mail", "key:mail"])
async def test_behind_a_cap_that_is_reached_nobody_can_tell_the_start(
    queue: QueueStore, line: Line, scope: str
):
    await queue.gates.limit_concurrency(scope, 1)
    await put(queue, "mail", A, B, key="mail/x")
    assert await queue.gates.expected_ms(B) is not None
    held = await claim_one(line)
    assert await queue.gates.expected_ms(B) is None
    await settle(line, held, Completed())
    assert await queue.gates.expected_ms(B) is not None
    await queue.gates.limit_concurrency(scope, None)


async def test_what_is_kept_back_is_counted(queue: QueueStore, line: Line, ask: Ask):
    await queue.gates.limit_concurrency("name:mail", 1)
    await queue.gates.strike("name:sms")
    await put(queue, "mail", A, B, C)
    await put(queue, "sms", job_id(8))
    (held,) = await claim(line, 9)

    counts = await queue.counts()
    (record,) = (await ask("stats", queue.name, "--json")).records

    assert (counts.pending, counts.active, counts.kept_back) == (0, 1, 3)
    assert (record["kept_back"], record["state"]) == (3, "! no workers")
    await queue.gates.lift("name:sms")
    await settle(line, held, Completed())


async def test_a_job_of_a_lane_starts_when_its_lane_may_be_served(
    queue: QueueStore, line: Line, look: Look
):
    await put_in_lane(queue, "acme", A, B)
    now_ms = (await look.now_us()) // 1_000
    told = await queue.gates.expected_ms(B)
    assert told is not None
    assert told <= now_ms + 1_000

    await queue.lanes.pause("acme")
    assert await queue.gates.expected_ms(B) is None
    await queue.lanes.resume("acme")
    await queue.lanes.limit("acme", 1)
    held = await claim_one(line)
    assert await queue.gates.expected_ms(B) is None
    await queue.lanes.limit("acme", None)
    await queue.lanes.rate("acme", WINDOW)
    await settle(line, held, Completed())
    await put_in_lane(queue, "acme", job_id(20), job_id(21))
    assert len(await claim(line, 9)) == 2
    told = await queue.gates.expected_ms(job_id(21))
    assert told is not None
    assert now_ms + HOUR_MS <= told <= now_ms + HOUR_MS + 60_000


def test_a_rate_of_very_many_has_a_burst_that_is_in_range():
    assert parse_rate("1000000/10ms").burst == 1_000_000
