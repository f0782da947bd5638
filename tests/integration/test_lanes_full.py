"""Lanes that hold as many waiting jobs as they may: one more is refused, or the oldest goes."""

import pytest

from echomq_worker import EchoMQ, LaneFullError
from echomq_worker.domain.job import Admission, JobId, NewJob
from echomq_worker.domain.lanes import OnFull, lane_group
from echomq_worker.domain.outcome import HandedBack, Retried
from echomq_worker.store import QueueStore
from echomq_worker.store.line import Line
from tests.support.jobs import A, B, C, D, E, claim, job_id, settle
from tests.support.lanes import ACME, put
from tests.support.look import Look
from tests.support.peers import PARENT, Flows


def job(id_: JobId, lane: str = "acme") -> NewJob:
    """Make a job of a lane."""
    return NewJob(id_, b"x", group=lane_group(lane), lane=lane)


async def waiting(look: Look) -> list[str]:
    """Return what waits in the lane."""
    return await look.members(look.keys.lane(ACME))


async def test_a_full_lane_refuses_and_leaves_no_trace(queue: QueueStore, look: Look):
    await queue.lanes.maximum("acme", 2)

    admissions = await put(queue, "acme", A, B, C)

    assert admissions == [Admission.ENQUEUED, Admission.ENQUEUED, Admission.FULL]
    assert await waiting(look) == [A, B]
    assert await look.row(C) == {}
    assert await put(queue, "acme", A) == [Admission.DUPLICATE]


async def test_other_lanes_and_flat_jobs_are_not_concerned(queue: QueueStore):
    await queue.lanes.maximum("acme", 1)

    admissions = await queue.enqueue([job(A), job(B, "bolt"), job(C, "bolt"), NewJob(D, b"x")])

    assert admissions == [Admission.ENQUEUED] * 4


async def test_running_jobs_take_no_room(queue: QueueStore, line: Line):
    await queue.lanes.maximum("acme", 1)
    await put(queue, "acme", A)
    await claim(line)

    assert await put(queue, "acme", B) == [Admission.ENQUEUED]


async def test_the_oldest_goes_with_all_that_belongs_to_it(queue: QueueStore, look: Look):
    await queue.lanes.maximum("acme", 2, OnFull.DROP_OLDEST)
    await put(queue, "acme", A, B)
    await look.do("RPUSH", look.keys.job_part(A, "logs"), "line")

    assert await put(queue, "acme", C) == [Admission.ENQUEUED]

    assert await waiting(look) == [B, C]
    assert await look.row(A) == {}
    assert await look.do("EXISTS", look.keys.job_part(A, "logs")) == 0


async def test_the_new_job_stays_even_if_it_was_minted_first(queue: QueueStore, look: Look):
    await queue.lanes.maximum("acme", 1, OnFull.DROP_OLDEST)
    await put(queue, "acme", C)
    await put(queue, "acme", A)

    assert await waiting(look) == [A]
    assert await look.do("LRANGE", look.keys.ring, 0, -1) == [ACME.encode()]


async def test_one_goes_for_one_though_the_maximum_was_lowered(queue: QueueStore, look: Look):
    await put(queue, "acme", A, B, C, D)
    await queue.lanes.maximum("acme", 1, OnFull.DROP_OLDEST)

    await put(queue, "acme", E)

    assert await waiting(look) == [B, C, D, E]


async def test_what_comes_back_stays(queue: QueueStore, line: Line, look: Look):
    await put(queue, "acme", A, B)
    jobs = await claim(line, 2)
    await queue.lanes.maximum("acme", 1)
    await put(queue, "acme", C)

    await settle(line, jobs[0], HandedBack())
    await settle(line, jobs[1], Retried(0, "again"))
    await queue.promote(9)

    assert await waiting(look) == [A, B, C]


async def test_the_parent_of_a_dropped_job_is_told(queue: QueueStore, look: Look, flows: Flows):
    await flows.add(A, B)
    await queue.lanes.reassign(A, "acme", flat=True)
    await queue.lanes.maximum("acme", 1, OnFull.DROP_OLDEST)

    await put(queue, "acme", C)

    assert await waiting(look) == [C]
    assert (await look.row(PARENT))["state"] == "dead"


async def test_a_lifted_maximum_holds_no_more(queue: QueueStore):
    await queue.lanes.maximum("acme", 1)
    await queue.lanes.maximum("acme", None)

    assert await put(queue, "acme", A, B) == [Admission.ENQUEUED] * 2


async def test_a_producer_is_told_which_jobs_were_refused(app: EchoMQ, queue_name: str):
    @app.job("mail.send", queue=queue_name)
    async def send(number: int) -> None: ...

    await app.lanes.maximum("acme", 2, queue=queue_name)
    ids = [job_id(n) for n in range(4)]
    calls = [send.options(lane="acme", job_id=id_).call(number) for number, id_ in enumerate(ids)]

    with pytest.raises(LaneFullError, match=r"lane acme .* is full: 2 of 4 jobs") as refusal:
        await app.enqueue_many(calls)

    assert refusal.value.ids == (ids[2], ids[3])
    assert await app.lanes.depth("acme", queue=queue_name) == 2
