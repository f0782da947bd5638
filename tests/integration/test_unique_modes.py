"""What becomes of a job whose key is held: replaced, debounced, or kept until the holder ended."""

import asyncio
from dataclasses import replace

import pytest

from echomq_worker.domain.job import Admission, After, Due
from echomq_worker.domain.lanes import lane_group
from echomq_worker.domain.outcome import Buried, Completed
from echomq_worker.domain.unique import debounce, throttle
from echomq_worker.domain.views import Places, Removed
from echomq_worker.store import QueueStore, Server, ServerOptions
from echomq_worker.store.line import Line
from echomq_worker.store.rights import Role
from tests.support.audit import complaints_of
from tests.support.jobs import A, B, C, D, claim, claim_one, new_job, settle
from tests.support.least_rights import least
from tests.support.look import Look
from tests.support.unique import HELD, KEEP, KEY, REJECT, REPLACE, later, now_ms, parked, send


@pytest.mark.parametrize("due", [None, After(60_000)])
async def test_a_holder_that_waits_gets_the_new_arguments_and_keeps_its_place(
    queue: QueueStore, look: Look, due: Due | None
):
    first = replace(new_job(A, payload=b"old"), due=due)
    await send(queue, first, REPLACE)
    await queue.enqueue([replace(new_job(B), due=due)])
    before = await look.places()

    assert await send(queue, new_job(C, payload=b"new"), REPLACE) == (Admission.REPLACED, A)

    assert await look.places() == before
    assert (await look.row(A))["payload"] == "new"
    assert not await look.do("EXISTS", look.keys.job(C))


async def test_the_arguments_go_with_the_handler_that_they_are_for(queue: QueueStore, look: Look):
    await send(queue, new_job(A, name="one"), REPLACE)
    await send(queue, new_job(B, name="other"), REPLACE)
    row = await look.row(A)
    assert (row["name"], row["payload"]) == ("other", B)


async def test_a_holder_that_runs_keeps_its_arguments(queue: QueueStore, line: Line, look: Look):
    await send(queue, A, REPLACE)
    await claim_one(line)
    assert await send(queue, new_job(B, payload=b"new"), REPLACE) == (HELD, A)
    assert (await look.row(A))["payload"] == A


async def test_a_debounced_job_waits_and_each_newer_one_lets_it_wait_again(
    queue: QueueStore, look: Look, line: Line
):
    quiet = debounce("1m")
    assert await send(queue, A, quiet) == (Admission.SCHEDULED, A)
    first = (await look.scores(look.keys.schedule))[A]
    assert await now_ms(look) + 50_000 < first
    await asyncio.sleep(0.01)

    assert await send(queue, new_job(B, payload=b"new"), quiet) == (Admission.POSTPONED, A)

    assert (await look.scores(look.keys.schedule))[A] > first
    assert (await look.row(A))["payload"] == "new"
    await queue.promote_now([A])
    assert await send(queue, C, quiet) == (Admission.REPLACED, A), "its time has come"
    await claim_one(line)
    assert await send(queue, D, quiet) == (Admission.SCHEDULED, D), "it has begun with what it had"


async def test_a_debounced_job_waits_no_longer_than_it_may(queue: QueueStore, look: Look):
    quiet = debounce("1m", max="90s")
    await send(queue, A, quiet)
    first = int((await look.row(A))["first"])
    await look.do("HSET", look.keys.job(A), "first", first - 80_000)

    assert await send(queue, B, quiet) == (Admission.POSTPONED, A)
    assert (await look.scores(look.keys.schedule))[A] == first + 10_000

    await look.do("HSET", look.keys.job(A), "first", first - 100_000)
    before_ms = await now_ms(look)
    await send(queue, C, quiet)
    assert before_ms <= (await look.scores(look.keys.schedule))[A] <= await now_ms(look)


async def test_while_one_runs_the_latest_is_kept_and_starts_when_it_has_ended(
    queue: QueueStore, line: Line, look: Look
):
    await send(queue, A, KEEP)
    held = await claim_one(line)

    assert await send(queue, B, KEEP) == (Admission.KEPT, B)
    assert await send(queue, new_job(C, payload=b"new"), KEEP) == (Admission.REPLACED, B)
    assert await later(look) == [B]
    assert await claim(line) == [], "not while the other runs"
    assert await queue.operator.holder(KEY) == A

    await settle(line, held, Completed())

    assert await queue.operator.holder(KEY) == B
    assert await look.places() == {"pending": [B]}
    after = await claim_one(line)
    assert (after.id, after.payload) == (B, b"new")
    await settle(line, after, Completed())
    assert await queue.operator.holder(KEY) is None
    assert not await look.do("EXISTS", parked(look))
    assert not await look.do("EXISTS", f"{look.keys.root}gates")


@pytest.mark.parametrize("end", ["dead", "crashed", "gone unseen", "dead unseen"])
async def test_what_is_kept_starts_however_the_other_one_ends(
    queue: QueueStore, line: Line, look: Look, end: str
):
    await send(queue, A, KEEP)
    (held,) = (await line.claim(limit=1, lease_ms=1, promote=0)).jobs
    await send(queue, B, KEEP)
    if end == "dead":
        await settle(line, held, Buried("no"))
    elif end == "crashed":
        await asyncio.sleep(0.01)
        await queue.reap(9, crash_limit=1)
    else:
        await look.do("ZREM", look.keys.active, A)
        if end == "gone unseen":
            await look.do("DEL", look.keys.job(A))
        else:
            await look.do("HSET", look.keys.job(A), "state", "dead")
            await look.do("ZADD", look.keys.dead, 0, A)
            await look.do("ZADD", look.keys.dead_at, await now_ms(look), A)
    assert [job.id for job in await claim(line)] == [B]
    assert await queue.operator.holder(KEY) == B


async def test_what_is_kept_may_be_taken_back(queue: QueueStore, line: Line, look: Look):
    await send(queue, A, KEEP)
    held = await claim_one(line)
    await send(queue, B, KEEP)

    assert await queue.remove(B, Places.WAITING) is Removed.OK
    assert await later(look) == []
    assert await queue.operator.holder(KEY) == A
    assert await send(queue, C, KEEP) == (Admission.KEPT, C)
    await queue.remove(C, Places.WAITING)
    await settle(line, held, Completed())
    assert not await look.do("EXISTS", f"{look.keys.root}gates")
    assert await send(queue, D, KEEP) == (Admission.ENQUEUED, D)


async def test_another_place_does_not_let_start_what_is_kept(
    queue: QueueStore, line: Line, look: Look
):
    await send(queue, A, KEEP)
    held = await claim_one(line)
    await send(queue, B, KEEP)

    await queue.reprioritize([B], -1)
    assert await claim(line) == []
    assert await look.do("ZRANGE", parked(look), 0, -1) == [B.encode()]
    await queue.lanes.reassign(B, "acme", flat=True)
    assert await claim(line) == []
    await settle(line, held, Completed())

    after = await claim_one(line)
    assert (after.id, after.group, after.lane) == (B, lane_group("acme"), "acme")


async def test_what_waits_is_replaced_rather_than_kept_beside(queue: QueueStore, look: Look):
    await send(queue, A, KEEP)
    assert await send(queue, new_job(B, payload=b"new"), KEEP) == (Admission.REPLACED, A)
    assert (await look.row(A))["payload"] == "new"


async def test_a_producer_with_the_least_rights_may_do_all_of_it(server_url: str, queue_name: str):
    async with Server(ServerOptions(url=least(server_url, Role.PRODUCER))) as server:
        queue = server.queue(queue_name)
        for mode in (REJECT, REPLACE, KEEP, debounce("1m", max="2m"), throttle("1h")):
            await send(queue, A, mode, key=f"{mode.mode}{mode.ttl_ms}")
            assert (await send(queue, B, mode, key=f"{mode.mode}{mode.ttl_ms}"))[1] == A
            await queue.remove(A, Places.WAITING)


async def test_the_doctor_has_nothing_to_say_about_held_keys_and_kept_jobs(
    queue: QueueStore, line: Line, server_url: str
):
    await send(queue, A, KEEP)
    await claim_one(line)
    await send(queue, B, KEEP)
    await send(queue, C, debounce("1h"), key="other")
    await send(queue, D, throttle("1h"), key="third")
    assert complaints_of(server_url, queue.name) == []
