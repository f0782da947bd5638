"""Jobs with a priority: where they wait, who is next, and how one gets another rank."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from echomq_worker.domain.job import After, Held, JobId, NewJob, State
from echomq_worker.domain.outcome import Buried, Completed, HandedBack, Retried, Verdict
from echomq_worker.domain.priority import HIGHEST, TIER, priority_score
from echomq_worker.errors import EchoMQError, InvalidArgumentError, InvalidIdError, WrongTypeError
from echomq_worker.store import (
    Order,
    Places,
    QueueStore,
    Removed,
    Reprioritized,
    Server,
    ServerOptions,
)
from echomq_worker.store.line import Line
from tests.support.jobs import (
    LEASE_MS,
    A,
    B,
    C,
    D,
    E,
    F,
    claim,
    claim_one,
    enqueue,
    handout,
    job_id,
    new_job,
    settle,
)
from tests.support.look import Look

LANE = "LAN00000000001"
FAR_MS = 4_000_000_000_000


def ranked(id_: JobId, priority: int, *, at_ms: int | None = None) -> NewJob:
    return replace(new_job(id_, at_ms=at_ms), priority=priority or None)


def in_lane(id_: JobId, lane: str = LANE) -> NewJob:
    return replace(new_job(id_), group=lane)


def ids(jobs: Sequence[Held]) -> list[JobId]:
    return [job.id for job in jobs]


async def prioritized(look: Look) -> dict[str, int]:
    return await look.scores(f"{look.keys.root}prioritized")


async def counter(look: Look, number: int) -> None:
    """Let so many have arrived."""
    await look.do("SET", f"{look.keys.root}pc", number)


# --- who is next ----------------------------------------------------------------------------


async def test_a_score_is_the_priority_and_the_number_of_the_arrival(queue: QueueStore, look: Look):
    await queue.enqueue([ranked(A, 5), ranked(B, -5), ranked(C, HIGHEST), ranked(D, -HIGHEST)])

    assert await prioritized(look) == {
        A: 5 * 2**32 + 1,
        B: -5 * 2**32 + 2,
        C: 2**52 + 3,
        D: -(2**52) + 4,
    }
    assert await look.places() == {}


async def test_below_zero_goes_first_then_mint_order_then_above_zero(queue: QueueStore, line: Line):
    await queue.enqueue([ranked(A, 1), ranked(B, 0), ranked(C, -1), ranked(D, 2), ranked(E, -2)])

    jobs = await claim(line, 5)

    assert ids(jobs) == [E, C, B, A, D]
    assert [job.priority for job in jobs] == [-2, -1, 0, 1, 2]


async def test_inside_a_tier_the_first_to_arrive_is_first_whatever_its_id(
    queue: QueueStore, line: Line
):
    for id_ in (C, A, B):
        await queue.enqueue([ranked(id_, 7)])

    assert ids(await claim(line, 3)) == [C, A, B]


async def test_one_that_is_to_run_later_arrives_when_it_is_due(
    queue: QueueStore, line: Line, look: Look
):
    await queue.enqueue([ranked(A, 7, at_ms=FAR_MS)])
    assert "arrival" not in await look.row(A)
    await queue.enqueue([ranked(B, 7)])
    await look.make_due(A)

    assert ids(await claim(line, 2, promote=1)) == [B, A]


@pytest.mark.case("LSE-28")
async def test_a_job_whose_worker_was_killed_is_the_next_of_all_again(
    queue: QueueStore, line: Line, look: Look
):
    await queue.enqueue([ranked(A, 5)])
    await queue.enqueue([ranked(job_id(n), 9) for n in range(100, 1_100)])
    assert ids(await claim(line)) == [A]
    await queue.enqueue([ranked(B, 5)])
    await look.expire_lease(A)

    await queue.reap(10)

    assert ids(await claim(line, 4)) == [A, B, job_id(100), job_id(101)]


@pytest.mark.parametrize("way", ["handed back", "retried", "reaped", "requeued", "moved away"])
@pytest.mark.parametrize("priority", [-3, 3])
async def test_whatever_comes_back_comes_back_to_its_place(
    queue: QueueStore, line: Line, look: Look, way: str, priority: int
):
    await queue.enqueue([ranked(B, priority), ranked(A, priority), ranked(C, priority)])
    before = await prioritized(look)
    held = await claim_one(line)
    assert held.id == B

    if way == "handed back":
        await settle(line, held, HandedBack())
    elif way == "retried":
        await settle(line, held, Retried(0, "no"))
        await queue.promote(10)
    elif way == "reaped":
        await look.expire_lease(B)
        await queue.reap(10)
    elif way == "requeued":
        await settle(line, held, Buried("no"))
        await queue.requeue([B])
    else:
        await settle(line, held, Retried(3_600_000, "no"))
        await queue.reschedule([B], After(1_800_000))
        await queue.promote_now([B])

    assert await prioritized(look) == before
    again = await claim(line, 9)
    assert ids(again) == [B, A, C]
    assert [job.priority for job in again] == [priority] * 3


async def test_a_job_that_was_reaped_while_it_ran_is_still_its_holders_while_it_waits(
    queue: QueueStore, line: Line, look: Look
):
    await queue.enqueue([ranked(A, -1)])
    held = await claim_one(line)
    await look.expire_lease(A)
    await queue.reap(10)

    assert await settle(line, held, Completed()) is Verdict.OK
    assert await prioritized(look) == {}


async def test_a_waiting_job_with_a_priority_rings_for_a_claimer(queue: QueueStore, look: Look):
    await queue.enqueue([ranked(A, 3)])
    assert await look.bells() == 1


async def test_a_waiting_job_with_a_priority_is_seen_and_can_be_removed(
    queue: QueueStore, look: Look
):
    await queue.enqueue([ranked(A, 3), ranked(B, 3)])
    view = await queue.inspect(A)
    assert view is not None
    assert (view.state, view.priority) == (State.PENDING, 3)

    assert await queue.remove(A, Places.WAITING) is Removed.OK

    assert list(await prioritized(look)) == [B]
    assert await queue.inspect(A) is None


# --- the counter ----------------------------------------------------------------------------


async def test_the_counter_begins_anew_when_half_is_used_and_nobody_waits(
    queue: QueueStore, line: Line, look: Look
):
    await counter(look, 2**31 - 2)
    await queue.enqueue([ranked(A, 1), ranked(B, 1)])
    assert await prioritized(look) == {A: TIER + 2**31 - 1, B: TIER + 2**31}
    await claim(line, 2)

    await queue.enqueue([ranked(C, 1), ranked(D, 1)])

    assert await prioritized(look) == {C: TIER + 1, D: TIER + 2}


@pytest.mark.parametrize("used_up", ["4294967294", "9223372036854775807", "-5", "no number"])
async def test_at_the_end_of_the_counter_mint_order_decides(
    queue: QueueStore, line: Line, look: Look, used_up: str
):
    await queue.enqueue([ranked(F, 1)])
    await look.do("SET", f"{look.keys.root}pc", used_up)

    await queue.enqueue([ranked(C, 1), ranked(A, 1), ranked(D, 2), ranked(B, 1)])

    scores = await prioritized(look)
    assert {scores[id_] for id_ in (A, B, C)} == {2 * TIER - 1}, "below the next tier"
    assert ids(await claim(line, 9)) == [F, A, B, C, D]


async def test_a_row_that_names_no_rung_waits_in_mint_order(
    queue: QueueStore, line: Line, look: Look
):
    for id_, priority in ((A, "0"), (B, "x"), (C, str(HIGHEST + 1)), (D, "1.5"), (E, "")):
        await queue.enqueue([ranked(id_, 9)])
        await look.do("ZREM", f"{look.keys.root}prioritized", id_)
        await look.do("HSET", look.keys.job(id_), "priority", priority)
        await look.do("ZADD", look.keys.active, 1, id_)

    await queue.reap(10)

    assert await look.places() == {"pending": [A, B, C, D, E]}


# --- another priority -----------------------------------------------------------------------


async def test_a_waiting_job_moves_at_once_and_keeps_its_arrival(
    queue: QueueStore, line: Line, look: Look
):
    await queue.enqueue([ranked(B, 5), ranked(A, 7)])
    await queue.enqueue([ranked(C, 7)])

    assert await queue.reprioritize([B], 7) == [Reprioritized.OK]

    assert await prioritized(look) == {
        B: priority_score(7, 1),
        A: priority_score(7, 2),
        C: priority_score(7, 3),
    }
    assert ids(await claim(line, 3)) == [B, A, C]


async def test_it_moves_between_mint_order_and_the_tiers(queue: QueueStore, line: Line, look: Look):
    await queue.enqueue([ranked(A, 0), ranked(B, 0), ranked(C, -4)])

    assert await queue.reprioritize([B], -5) == [Reprioritized.OK]
    assert await queue.reprioritize([C], 0) == [Reprioritized.OK]

    assert await look.places() == {"pending": [A, C]}
    assert await prioritized(look) == {B: priority_score(-5, 2)}
    assert "priority" not in await look.row(C)
    assert ids(await claim(line, 3)) == [B, A, C]


async def test_every_job_gets_an_answer_and_one_that_does_not_wait_has_it_later(
    queue: QueueStore, line: Line, look: Look
):
    await enqueue(queue, A, B)
    active, dead = await claim(line, 2)
    await settle(line, dead, Buried("no"))
    await queue.enqueue([ranked(C, 0), new_job(D, at_ms=FAR_MS), in_lane(E)])

    assert await queue.reprioritize([A, B, C, D, E, F], -9) == [
        Reprioritized.NOT_WAITING,
        Reprioritized.NOT_WAITING,
        Reprioritized.OK,
        Reprioritized.NOT_WAITING,
        Reprioritized.LANE,
        Reprioritized.GONE,
    ]
    assert await look.places() == {"active": [A], "dead": [B], "schedule": [D]}
    assert list(await prioritized(look)) == [C]
    assert await look.members(look.keys.lane(LANE)) == [E]
    assert "priority" not in await look.row(E)

    await settle(line, active, HandedBack())
    await queue.requeue([B])
    await queue.promote_now([D])
    jobs = await claim(line, 9)
    assert ids(jobs) == [C, A, B, D, E]
    assert [job.priority for job in jobs] == [-9, -9, -9, -9, 0]


async def test_a_job_of_a_lane_that_runs_has_no_priority_either(
    queue: QueueStore, line: Line, look: Look
):
    await queue.enqueue([in_lane(A)])
    await claim(line)

    assert await queue.reprioritize([A], -1) == [Reprioritized.LANE]
    assert "priority" not in await look.row(A)


async def test_a_job_that_a_gate_keeps_back_asks_again_at_its_new_place(
    queue: QueueStore, line: Line, look: Look
):
    root = look.keys.root
    await look.do("HSET", f"{root}strikes", "name:mail", "- {}")
    await queue.enqueue([replace(new_job(A, name="mail"), priority=4)])
    await queue.enqueue([replace(new_job(B, name="mail"), priority=2)])
    assert await claim(line, 9) == []

    assert await queue.reprioritize([A], -4) == [Reprioritized.OK]

    assert "held" not in await look.row(A)
    assert await claim(line, 9) == []
    assert await look.members(f"{root}parked:strike:name:mail") == [A, B]


async def test_a_row_that_cannot_be_used_is_left_to_who_claims_it(
    queue: QueueStore, line: Line, look: Look
):
    await queue.enqueue([ranked(A, 1), ranked(B, 1)])
    await look.do("HDEL", look.keys.job(A), "payload")

    assert await queue.reprioritize([A, B], 2) == [Reprioritized.GONE, Reprioritized.OK]

    assert ids(await claim(line, 9)) == [B]
    assert [entry["id"] for entry in await look.quarantine()] == [A]


async def test_more_jobs_than_one_call_takes_get_another_priority(queue: QueueStore, look: Look):
    many = [job_id(number) for number in range(2_500)]
    await queue.enqueue([new_job(id_) for id_ in many])

    assert await queue.reprioritize(many, HIGHEST) == [Reprioritized.OK] * len(many)

    assert min((await prioritized(look)).values()) == priority_score(HIGHEST, 1)
    assert await look.places() == {}


@pytest.mark.parametrize("priority", [0, 4])
async def test_a_job_that_is_named_twice_moves_once(queue: QueueStore, line: Line, priority: int):
    await queue.enqueue([ranked(A, 1), ranked(B, 1)])

    assert await queue.reprioritize([A, A], priority) == [Reprioritized.OK] * 2

    assert sorted(ids(await claim(line, 9))) == [A, B]


async def test_no_jobs_need_nothing(queue: QueueStore, look: Look):
    assert await queue.reprioritize([], 1) == []
    assert await look.key_names() == []


@pytest.mark.parametrize("wrong", [HIGHEST + 1, -HIGHEST - 1, True, 1.0, "1", None])
async def test_what_is_no_priority_is_refused_before_anything_is_sent(
    queue: QueueStore, look: Look, wrong: int
):
    await enqueue(queue, A)
    before = await look.dumps()

    with pytest.raises(InvalidArgumentError, match="expected a whole number"):
        await queue.reprioritize([A], wrong)
    with pytest.raises(InvalidIdError):
        await queue.reprioritize([A, "x"], 1)  # pyright: ignore[reportArgumentType]
    assert await look.dumps() == before


@pytest.mark.parametrize("key", ["prioritized", "pc", "pending"])
async def test_a_key_of_another_type_stops_it_before_its_first_write(
    queue: QueueStore, line: Line, look: Look, key: str
):
    await enqueue(queue, A, B)
    await queue.enqueue([ranked(C, 1)])
    own = look.keys.root + key
    await look.do("RENAME", own, f"{own}:meanwhile")
    await look.do("RPUSH", own, "foreign")
    before = {name: dump for name, dump in (await look.dumps()).items() if ":call:" not in name}

    for call in (queue.reprioritize([A], 1), queue.enqueue([ranked(D, 1)])):
        with pytest.raises(WrongTypeError, match=key):
            await call
    with pytest.raises(WrongTypeError, match=key):
        await claim(line)

    after = {name: dump for name, dump in (await look.dumps()).items() if ":call:" not in name}
    assert after == before
    await look.do("RENAME", f"{own}:meanwhile", own)


async def test_the_log_tells_of_another_priority(server_url: str, queue_name: str):
    async with Server(ServerOptions(url=server_url, log_size=100)) as server:
        queue = server.queue(queue_name)
        await enqueue(queue, A)
        await queue.reprioritize([A], 4)
        events = [(entry.event, entry.id) for entry in await queue.log()]
    assert events == [("enqueued", A), ("reprioritized", A)]


# --- mint order inside tiers ------------------------------------------------------------------


async def test_a_queue_can_have_its_tiers_in_mint_order(queue: QueueStore, line: Line, look: Look):
    assert await queue.order() is Order.ARRIVAL
    await queue.enqueue([ranked(C, 7), ranked(F, -7)])

    await queue.put_order(Order.MINT)

    assert await queue.order() is Order.MINT
    await queue.enqueue([ranked(B, 7), ranked(A, 7), ranked(E, -7)])
    assert set((await prioritized(look)).values()) == {7 * TIER, -7 * TIER}
    assert ids(await claim(line, 9)) == [E, F, A, B, C]


async def test_one_that_had_a_number_before_is_in_mint_order_when_it_comes_back(
    queue: QueueStore, line: Line
):
    await queue.enqueue([ranked(A, 7)])
    held = await claim_one(line)
    await queue.put_order(Order.MINT)
    await queue.enqueue([ranked(B, 7)])

    await settle(line, held, HandedBack())

    assert ids(await claim(line, 9)) == [A, B]


async def test_a_queue_that_goes_back_to_arrivals_serves_those_first_who_were_there(
    queue: QueueStore, line: Line
):
    await queue.put_order(Order.MINT)
    await queue.enqueue([ranked(C, 7), ranked(B, 7)])

    await queue.put_order(Order.ARRIVAL)

    await queue.enqueue([ranked(F, 7), ranked(A, 7)])
    assert await queue.order() is Order.ARRIVAL
    assert ids(await claim(line, 9)) == [B, C, F, A]


async def test_many_that_wait_are_put_in_mint_order(queue: QueueStore, line: Line):
    many = [job_id(number) for number in range(2_500)]
    await queue.enqueue([ranked(id_, 1) for id_ in reversed(many)])

    await queue.put_order(Order.MINT)

    assert ids(await claim(line, 1_000)) == many[:1_000]


async def test_an_unusable_row_does_not_stop_the_order(queue: QueueStore, line: Line, look: Look):
    await queue.enqueue([ranked(B, 1), ranked(A, 1), ranked(C, 1)])
    await look.do("DEL", look.keys.job(C))
    await look.do("SET", look.keys.job(C), "foreign")

    await queue.put_order(Order.MINT)

    assert ids(await claim(line, 9)) == [A, B]


# --- beside pending and lanes -------------------------------------------------------------------


async def test_flat_jobs_and_lanes_share_a_claim_in_halves_after_what_is_urgent(
    queue: QueueStore, line: Line
):
    flat = [job_id(n) for n in range(10)]
    laned = [job_id(n) for n in range(100, 110)]
    await queue.enqueue([new_job(id_) for id_ in flat] + [in_lane(id_) for id_ in laned])
    await queue.enqueue([ranked(job_id(200), -1), ranked(job_id(201), 1)])

    first = ids(await claim(line, 9))

    assert first[0] == job_id(200)
    assert [len([id_ for id_ in first if id_ in some]) for some in (flat, laned)] == [4, 4]
    rest = ids(await claim(line, 99))
    assert rest[-1] == job_id(201), "what is above 0 comes when all the others have been served"


async def test_the_odd_share_alternates(queue: QueueStore, line: Line):
    flat = {job_id(n) for n in range(20)}
    await queue.enqueue([new_job(id_) for id_ in flat])
    await queue.enqueue([in_lane(job_id(n)) for n in range(100, 120)])

    shares = [len(flat & set(ids(await claim(line, 3)))) for _ in range(4)]
    one_by_one = [len(flat & set(ids(await claim(line, 1)))) for _ in range(6)]

    assert shares in ([2, 1, 2, 1], [1, 2, 1, 2])
    assert one_by_one in ([1, 0] * 3, [0, 1] * 3)


@pytest.mark.parametrize("side", ["flat", "lanes"])
async def test_a_side_without_work_leaves_all_to_the_other(
    queue: QueueStore, line: Line, side: str
):
    many = [job_id(n) for n in range(10)]
    await queue.enqueue([new_job(id_) if side == "flat" else in_lane(id_) for id_ in many])

    assert ids(await claim(line, 7)) == many[:7]


async def test_entries_of_the_ring_that_stand_for_nothing_cost_nobody_a_job(
    queue: QueueStore, line: Line, look: Look
):
    await queue.enqueue([in_lane(A), ranked(B, 0), ranked(C, 3)])
    stale = [f"LAN{number:011d}" for number in range(900_000, 900_030)]
    await look.do("LPUSH", look.keys.ring, *stale, "nonsense", "")

    assert sorted(ids(await claim(line, 9))) == [A, B, C]
    assert await look.do("LLEN", look.keys.ring) == 0


async def test_a_long_stretch_of_stale_entries_is_worn_off_claim_by_claim(
    queue: QueueStore, line: Line, look: Look
):
    await queue.enqueue([in_lane(A), ranked(C, 3)])
    await look.do("LPUSH", look.keys.ring, *(f"LAN{n:011d}" for n in range(900_000, 900_300)))

    got: list[JobId] = []
    for _ in range(8):
        told = await handout(line, 9)
        got += ids(told.jobs)

    assert sorted(got) == [A, C]


async def test_a_foreign_lane_stops_nobody(queue: QueueStore, line: Line, look: Look):
    await queue.enqueue([in_lane(A), ranked(B, 0), ranked(C, -3)])
    await look.do("DEL", look.keys.lane(LANE))
    await look.do("SET", look.keys.lane(LANE), "foreign")

    assert ids(await claim(line, 9)) == [C, B]
    await queue.enqueue([in_lane(D)])
    assert ids(await claim(line, 9)) == [D], "it waits in mint order instead"
    await look.do("DEL", look.keys.lane(LANE))
    await look.do("ZADD", look.keys.pending, 0, A)


async def test_a_settlement_hands_out_by_priority_too(queue: QueueStore, line: Line):
    await queue.enqueue([ranked(A, 0), ranked(B, 0)])
    held = await claim_one(line)
    await queue.enqueue([ranked(C, -1)])

    told = await line.settle([(held, Completed())], limit=2, lease_ms=LEASE_MS)

    assert ids(told.claimed.jobs) == [C, B]


async def test_an_unknown_priority_in_a_call_of_the_script_is_an_error(
    queue: QueueStore, look: Look
):
    await enqueue(queue, A)
    before = await look.dumps()
    args = {"caller": "", "call_number": 0, "again": "", "priority": "1e3x", "log_size": 0}
    with pytest.raises(EchoMQError, match="priority"):
        await queue._change("reprioritize", args, [A])
    assert await look.dumps() == before
