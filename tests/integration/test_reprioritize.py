"""A job gets another priority: where it waits then, and what cannot have one."""

from dataclasses import replace

import pytest

from echomq_worker.domain.outcome import Buried, HandedBack
from echomq_worker.domain.priority import HIGHEST, priority_score
from echomq_worker.errors import InvalidArgumentError, InvalidIdError, WrongTypeError
from echomq_worker.store import (
    QueueStore,
    Reprioritized,
    Server,
    ServerOptions,
)
from echomq_worker.store.line import Line
from tests.support.jobs import (
    A,
    B,
    C,
    D,
    E,
    F,
    claim,
    enqueue,
    job_id,
    new_job,
    settle,
)
from tests.support.look import Look
from tests.support.ranked import GROUP, ids, in_lane, prioritized, ranked

FAR_MS = 4_000_000_000_000


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
    assert await look.members(look.keys.lane(GROUP)) == [E]
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
