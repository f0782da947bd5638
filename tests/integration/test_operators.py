"""What an operator does: pause and resume, bring back, remove, forget."""

from dataclasses import replace

import pytest

from echomq_worker.domain.job import JobId
from echomq_worker.domain.lanes import lane_group
from echomq_worker.domain.outcome import Buried, Completed
from echomq_worker.errors import InvalidIdError, WireVersionError
from echomq_worker.store import Order, Places, QueueStore, Removed, Requeued
from echomq_worker.store.line import Line
from tests.support.jobs import (
    A,
    B,
    C,
    D,
    E,
    claim,
    claim_one,
    enqueue,
    handout,
    job_id,
    new_job,
    settle,
)
from tests.support.look import Look

FAR_MS = 4_000_000_000_000


async def bury(queue: QueueStore, line: Line, *ids: JobId) -> None:
    await enqueue(queue, *ids)
    await line.settle([(job, Buried("no")) for job in await claim(line, len(ids))])


async def fill_every_place(queue: QueueStore, line: Line) -> None:
    """Put A into `dead`, B into `active`, C into `pending`, D into `schedule`."""
    await bury(queue, line, A)
    await enqueue(queue, B)
    await claim_one(line)
    await queue.enqueue([new_job(C), new_job(D, at_ms=FAR_MS)])


async def test_a_pause_says_why_by_whom_and_since_when(queue: QueueStore, look: Look):
    before_ms = await look.now_us() // 1000
    await queue.pause(reason="deploy", by="ann")

    meta = await look.hash(look.keys.meta)
    assert (meta["paused"], meta["paused_reason"], meta["paused_by"]) == ("1", "deploy", "ann")
    assert before_ms <= int(meta["paused_at"]) <= await look.now_us() // 1000


async def test_the_newest_pause_stands(queue: QueueStore, look: Look):
    await queue.pause(reason="deploy", by="ann")
    await queue.pause()

    meta = await look.hash(look.keys.meta)
    assert {name for name in meta if name.startswith("paused")} == {"paused", "paused_at"}


async def test_resuming_leaves_no_trace_of_the_pause(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, A)
    await look.do("HSET", look.keys.meta, "max", "5")
    await queue.pause(reason="deploy", by="ann")
    await queue.resume()

    assert await look.hash(look.keys.meta) == {"max": "5", "ext": "1"}
    assert [job.id for job in await claim(line)] == [A]


async def test_pausing_does_not_stop_running_jobs(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, A)
    job = await claim_one(line)
    await queue.pause()

    assert await settle(line, job, Buried("no")) == "ok"
    assert (await queue.counts()).paused


async def test_a_dead_job_comes_back_with_all_its_attempts(
    queue: QueueStore, line: Line, look: Look
):
    await bury(queue, line, A)
    assert await queue.requeue([A]) == [Requeued.OK]

    assert await look.places() == {"pending": [A]}
    assert await look.members(look.keys.dead_at) == []
    row = await look.row(A)
    assert (row["state"], row["attempts"], row["returned"]) == ("pending", "1", "1")
    assert "last_error" not in row
    again = await claim_one(line)
    assert (again.token, again.attempt) == (2, 1)


async def test_requeueing_answers_for_each_job(queue: QueueStore, line: Line, look: Look):
    await fill_every_place(queue, line)

    verdicts = await queue.requeue([E, A, B, C, D, A])

    assert verdicts == [
        Requeued.GONE,
        Requeued.OK,
        Requeued.NOT_DEAD,
        Requeued.NOT_DEAD,
        Requeued.NOT_DEAD,
        Requeued.NOT_DEAD,
    ]
    assert await look.places() == {"pending": [A, C], "active": [B], "schedule": [D]}


async def test_requeueing_no_jobs_does_nothing(queue: QueueStore):
    assert await queue.requeue([]) == []


async def test_more_dead_jobs_than_one_script_takes_come_back_all_the_same(
    queue: QueueStore, line: Line
):
    ids = [job_id(number) for number in range(4_500)]
    await enqueue(queue, *ids)
    while jobs := await claim(line, 1_000):
        await line.settle([(job, Buried("no")) for job in jobs])

    assert await queue.requeue(ids) == [Requeued.OK] * len(ids)
    counts = await queue.counts()
    assert (counts.pending, counts.dead) == (len(ids), 0)


REMOVED = {
    Places.WAITING: {A: Removed.ELSEWHERE, C: Removed.OK, D: Removed.OK},
    Places.DEAD: {A: Removed.OK, C: Removed.ELSEWHERE, D: Removed.ELSEWHERE},
    Places.ANY: {A: Removed.OK, C: Removed.OK, D: Removed.OK},
}


@pytest.mark.parametrize("places", Places)
async def test_a_job_is_removed_from_the_places_that_are_named(
    queue: QueueStore, line: Line, look: Look, places: Places
):
    await fill_every_place(queue, line)

    removed = {id_: await queue.remove(id_, places) for id_ in (A, B, C, D, E)}

    wanted = REMOVED[places] | {B: Removed.ACTIVE, E: Removed.GONE}
    assert removed == wanted
    left = {id_ for id_, how in wanted.items() if how not in {Removed.OK, Removed.GONE}}
    assert {id_ for ids in (await look.places()).values() for id_ in ids} == left
    assert {id_ for id_ in (A, B, C, D, E) if await look.row(id_)} == left


async def test_a_removed_job_leaves_nothing_of_itself(queue: QueueStore, line: Line, look: Look):
    await bury(queue, line, A)
    await look.do("RPUSH", look.keys.job_part(A, "logs"), "line")

    await queue.remove(A, Places.DEAD)

    assert [key for key in await look.key_names() if A in key or "dead" in key] == []


@pytest.mark.parametrize("lock", ["key", "field"])
async def test_a_locked_job_is_not_removed(queue: QueueStore, look: Look, lock: str):
    await enqueue(queue, A)
    if lock == "key":
        await look.do("SET", look.keys.job_part(A, "lock"), "1")
    else:
        await look.do("HSET", look.keys.job(A), "lock", "1")

    assert await queue.remove(A, Places.ANY) is Removed.LOCKED
    assert await look.places() == {"pending": [A]}


@pytest.mark.broken_state("an id stays with a job that was never there")
async def test_removing_a_job_frees_its_own_deduplication_id_only(queue: QueueStore, look: Look):
    await enqueue(queue, A, B)
    await look.do("SET", look.keys.dedup("mine"), A)
    await look.do("SET", look.keys.dedup("theirs"), A)

    await queue.remove(B, Places.ANY, dedup_id="theirs")
    await queue.remove(A, Places.ANY, dedup_id="mine")

    assert await look.do("GET", look.keys.dedup("mine")) is None
    assert await look.do("GET", look.keys.dedup("theirs")) == A.encode()


async def test_the_counts_add_up(queue: QueueStore, line: Line):
    await fill_every_place(queue, line)
    await queue.enqueue([new_job(E)])

    counts = await queue.counts()

    assert (counts.pending, counts.active, counts.scheduled, counts.dead) == (2, 1, 1, 1)
    assert (counts.completed, counts.failed, counts.paused, counts.workers) == (0, 1, False, 0)


async def test_an_empty_queue_is_forgotten_and_one_with_jobs_is_not(
    queue: QueueStore, line: Line, look: Look
):
    await fill_every_place(queue, line)
    before = await look.dumps()
    assert not await queue.forget()
    assert await look.dumps() == before

    for id_ in (A, C, D):
        await queue.remove(id_, Places.ANY)
    await look.expire_lease(B)
    await queue.reap(1, crash_limit=1)
    await queue.remove(B, Places.DEAD)
    assert await queue.forget()
    left = {key.removeprefix(look.keys.root).split(":")[0] for key in await look.key_names()}
    assert left <= {"call"}


@pytest.mark.parametrize("bad", ["", "JOB", "JOBzzzzzzzzzzz", "../../meta"])
async def test_looking_for_what_is_no_id_is_refused(queue: QueueStore, bad: str):
    with pytest.raises(InvalidIdError):
        await queue.inspect(JobId(bad))
    with pytest.raises(InvalidIdError):
        await queue.result(JobId(bad))
    with pytest.raises(InvalidIdError):
        await queue.remove(JobId(bad), Places.ANY)


async def test_a_resumed_queue_is_handed_out_again(queue: QueueStore, line: Line):
    await enqueue(queue, A)
    await queue.pause()
    assert (await handout(line)).paused
    await queue.resume()
    assert not (await handout(line)).paused


@pytest.mark.parametrize("gated", [False, True])
async def test_a_queue_with_a_job_that_has_a_priority_is_not_forgotten(
    queue: QueueStore,
    line: Line,
    look: Look,
    gated: bool,  # noqa: FBT001 - a parameter
):
    job = replace(new_job(A, name="mail"), priority=5)
    await queue.enqueue([job])
    if gated:
        await queue.gates.strike("name:mail")
        assert (await handout(line)).jobs == []
    before = await look.dumps()

    assert not await queue.forget()
    assert await look.dumps() == before


async def test_a_forgotten_queue_leaves_none_of_its_limits_and_marks(
    queue: QueueStore, line: Line, look: Look
):
    laned = replace(new_job(B), lane="acme", group=lane_group("acme"))
    await queue.enqueue([replace(new_job(A, name="mail"), priority=5), laned, new_job(C)])
    await queue.gates.strike("name:sms")
    await queue.gates.limit_concurrency("name:mail", 3)
    await queue.put_order(Order.MINT)
    for key in ("glimit", "gweight", "gmax"):
        await look.do("HSET", look.keys.root + key, lane_group("acme"), "2")
    for held in [*await claim(line, 9), *await claim(line, 9)]:
        await settle(line, held, Completed())

    assert await queue.forget()

    left = {key.removeprefix(look.keys.root).split(":")[0] for key in await look.key_names()}
    assert left <= {"call"}


async def test_a_queue_with_jobs_in_lanes_is_not_forgotten(queue: QueueStore, look: Look):
    await look.do("RPUSH", look.keys.ring, "LAN00000000001")
    await look.do("HSET", look.keys.meta, "ext", "1")

    assert not await queue.forget()
    assert await look.do("EXISTS", look.keys.meta) == 1


async def test_an_operator_leaves_a_queue_of_another_layout_alone(queue: QueueStore, look: Look):
    await look.do("HSET", look.keys.meta, "ext", "99")
    before = await look.dumps()

    for call in (queue.pause(), queue.resume(), queue.requeue([A]), queue.forget(), queue.reap(1)):
        with pytest.raises(WireVersionError, match="layout '99'"):
            await call

    assert await look.dumps() == before


async def test_an_operator_claims_no_layout_for_a_queue_that_is_not_there(
    queue: QueueStore, look: Look
):
    assert await queue.requeue([A]) == [Requeued.GONE]
    assert await look.key_names() == []
