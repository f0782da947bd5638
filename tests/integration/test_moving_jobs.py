"""Jobs that wait for their time: moved to another, or let run now."""

import asyncio

import pytest

from echomq_worker.domain.job import After, At, Due
from echomq_worker.domain.outcome import Buried, Completed, Retried, Verdict
from echomq_worker.errors import InvalidArgumentError, InvalidIdError
from echomq_worker.store import Moved, QueueStore, Server, ServerOptions
from echomq_worker.store.line import Line
from tests.support.jobs import A, B, C, D, E, F, claim, claim_one, job_id, new_job, settle
from tests.support.look import Look
from tests.support.peers import LANE

HOUR_MS = 3_600_000
FAR_MS = 4_000_000_000_000
END_OF_IDS_MS = 3_903_090_455_551
"""The last millisecond that an id can tell, in the year 2093."""


async def fill_every_place(queue: QueueStore, line: Line) -> None:
    """Put A into `dead`, B into `active`, C into `pending`, D and F into `schedule`."""
    await queue.enqueue([new_job(A), new_job(B)])
    first, _ = await claim(line, 2)
    await settle(line, first, Buried("no"))
    await queue.enqueue([new_job(C), new_job(D, at_ms=FAR_MS), new_job(F, at_ms=FAR_MS)])


@pytest.mark.parametrize("due_ms", [1, FAR_MS - 1, FAR_MS + 1, END_OF_IDS_MS])
async def test_a_job_is_due_exactly_when_it_was_moved_to(
    queue: QueueStore, look: Look, due_ms: int
):
    await queue.enqueue([new_job(A, at_ms=FAR_MS)])

    assert await queue.reschedule([A], At(due_ms)) == [Moved.OK]

    assert await look.scores(look.keys.schedule) == {A: due_ms}
    assert (await look.row(A))["state"] == "scheduled"


async def test_a_delay_counts_from_now_by_the_clock_of_the_server(queue: QueueStore, look: Look):
    await queue.enqueue([new_job(A, at_ms=FAR_MS)])
    before_us = await look.now_us()

    await queue.reschedule([A], After(HOUR_MS))

    after_us = await look.now_us()
    due_us = (await look.scores(look.keys.schedule))[A] * 1_000
    assert before_us + HOUR_MS * 1_000 <= due_us < after_us + (HOUR_MS + 1) * 1_000


async def test_every_job_gets_an_answer_and_only_those_that_wait_are_moved(
    queue: QueueStore, line: Line, look: Look
):
    await fill_every_place(queue, line)
    before = await look.places()

    assert await queue.reschedule([A, B, C, D, E, D], At(7)) == [
        Moved.NOT_SCHEDULED,
        Moved.NOT_SCHEDULED,
        Moved.NOT_SCHEDULED,
        Moved.OK,
        Moved.GONE,
        Moved.OK,
    ]
    assert await look.places() == before
    assert await look.scores(look.keys.schedule) == {D: 7, F: FAR_MS}


async def test_every_job_gets_an_answer_and_only_those_that_wait_are_let_run(
    queue: QueueStore, line: Line, look: Look
):
    await fill_every_place(queue, line)
    bells = await look.bells()

    assert await queue.promote_now([A, B, C, D, E, D]) == [
        Moved.NOT_SCHEDULED,
        Moved.NOT_SCHEDULED,
        Moved.NOT_SCHEDULED,
        Moved.OK,
        Moved.GONE,
        Moved.NOT_SCHEDULED,
    ]
    assert await look.places() == {"dead": [A], "active": [B], "pending": [C, D], "schedule": [F]}
    assert (await look.row(D))["state"] == "pending"
    assert await look.bells() == bells + 1


async def test_moving_no_jobs_does_nothing(queue: QueueStore, look: Look):
    assert await queue.reschedule([], At(1)) == []
    assert await queue.promote_now([]) == []
    assert await look.key_names() == []


async def test_more_jobs_than_one_call_takes_are_moved(queue: QueueStore, look: Look):
    ids = [job_id(number) for number in range(2_500)]
    await queue.enqueue([new_job(id_, at_ms=FAR_MS) for id_ in ids])

    assert await queue.reschedule(ids, At(FAR_MS + 1)) == [Moved.OK] * len(ids)
    assert set((await look.scores(look.keys.schedule)).values()) == {FAR_MS + 1}
    assert await queue.promote_now(ids) == [Moved.OK] * len(ids)
    assert (await queue.counts()).pending == len(ids)


@pytest.mark.parametrize("due", [After(-1), After(2**53), At(2**53), At(-(2**53))])
async def test_a_time_out_of_range_moves_nothing(queue: QueueStore, look: Look, due: Due):
    await queue.enqueue([new_job(A, at_ms=FAR_MS)])
    before = await look.dumps()

    with pytest.raises(InvalidArgumentError):
        await queue.reschedule([A], due)
    assert await look.dumps() == before


async def test_what_is_no_id_is_refused_before_anything_is_sent(queue: QueueStore, look: Look):
    await queue.enqueue([new_job(A, at_ms=FAR_MS)])
    for call in (queue.reschedule([A, "x"], At(1)), queue.promote_now([A, "x"])):  # pyright: ignore[reportArgumentType]
        with pytest.raises(InvalidIdError):
            await call
    assert await look.scores(look.keys.schedule) == {A: FAR_MS}


async def test_a_job_that_comes_nearer_wakes_who_sleeps_until_the_next(
    queue: QueueStore, look: Look
):
    await queue.enqueue([new_job(A, at_ms=FAR_MS), new_job(B, at_ms=FAR_MS + 9)])
    await look.do("DEL", look.keys.clock)

    await queue.reschedule([B], At(FAR_MS + 5))
    assert await look.do("LLEN", look.keys.clock) == 0
    told = asyncio.create_task(queue.wait_hint(bell=False, clock=True, timeout_ms=5_000))
    await queue.reschedule([B], After(HOUR_MS))
    assert await told


async def test_a_retry_waits_for_its_time_too(queue: QueueStore, line: Line, look: Look):
    await queue.enqueue([new_job(A), new_job(B)])
    for job in await claim(line, 2):
        await settle(line, job, Retried(HOUR_MS, "no", b"[]"))

    assert await queue.promote_now([A]) == [Moved.OK]
    assert await queue.reschedule([B], At(1)) == [Moved.OK]

    again = await claim(line, 2, promote=2)
    assert [(job.id, job.attempt, job.failures) for job in again] == [
        (A, 2, b"[]"),
        (B, 2, b"[]"),
    ]
    assert "last_error" in await look.row(A)


async def test_who_held_a_job_before_cannot_settle_what_was_moved(queue: QueueStore, line: Line):
    await queue.enqueue([new_job(A)])
    held = await claim_one(line)
    await settle(line, held, Retried(HOUR_MS, "no"))
    await queue.promote_now([A])

    assert await settle(line, held, Completed()) is Verdict.ALREADY
    assert [job.token for job in await claim(line)] == [2]


async def test_a_job_of_a_lane_goes_to_its_lane(queue: QueueStore, look: Look):
    await queue.enqueue([new_job(A, at_ms=FAR_MS)])
    await look.do("HSET", look.keys.job(A), "group", LANE)

    assert await queue.promote_now([A]) == [Moved.OK]

    assert await look.members(look.keys.lane(LANE)) == [A]
    assert await look.do("LRANGE", look.keys.ring, 0, -1) == [LANE.encode()]
    assert await look.do("LLEN", look.keys.wake) == 1
    assert await look.places() == {}


@pytest.mark.parametrize("damage", [("DEL",), ("HDEL", "payload"), ("HSET", "attempts", "x")])
async def test_what_cannot_be_used_is_set_aside_and_its_neighbours_move(
    queue: QueueStore, look: Look, damage: tuple[str, ...]
):
    await queue.enqueue([new_job(id_, at_ms=FAR_MS) for id_ in (A, B, C, D)])
    for broken in (A, C):
        await look.do(damage[0], look.keys.job(broken), *damage[1:])

    assert await queue.reschedule([A, A, B], At(7)) == [Moved.GONE, Moved.GONE, Moved.OK]
    assert await queue.promote_now([C, D]) == [Moved.GONE, Moved.OK]

    assert await look.places() == {"schedule": [B], "pending": [D]}
    assert [entry["id"] for entry in await look.quarantine()] == [A, C]


async def test_a_member_that_is_no_id_and_a_row_of_another_type_are_no_trouble(
    queue: QueueStore, look: Look
):
    await queue.enqueue([new_job(A, at_ms=FAR_MS)])
    await look.do("DEL", look.keys.job(A))
    await look.do("SET", look.keys.job(A), "foreign")

    assert await queue.promote_now([A]) == [Moved.GONE]
    assert await look.places() == {}


async def test_the_log_tells_of_moves(server_url: str, queue_name: str):
    async with Server(ServerOptions(url=server_url, log_size=100)) as server:
        queue = server.queue(queue_name)
        await queue.enqueue([new_job(A, at_ms=FAR_MS)])
        await queue.reschedule([A], At(FAR_MS + 1))
        await queue.promote_now([A])

        events = [(entry.event, entry.id) for entry in await queue.log()]
    assert events == [("scheduled", A), ("rescheduled", A), ("promoted", A)]
