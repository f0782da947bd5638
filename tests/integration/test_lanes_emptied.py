"""Lanes that are drained, and leases of one lane that are taken back."""

import pytest

from echomq_worker.domain.outcome import Completed
from echomq_worker.store import QueueStore, lanes
from echomq_worker.store.line import Line
from tests.support.jobs import A, B, C, D, E, F, claim, claim_one, settle
from tests.support.lanes import ACME, BOLT, put, ring
from tests.support.look import Look
from tests.support.peers import PARENT, Flows


async def test_a_drained_lane_leaves_nothing_but_what_is_set_for_it(
    queue: QueueStore, line: Line, look: Look, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(lanes, "DRAINED", 2)
    await put(queue, "acme", A, B, C, D, E)
    await put(queue, "bolt", F)
    running = await claim_one(line)
    await queue.lanes.limit("acme", 7)
    await look.do("RPUSH", look.keys.job_part(C, "logs"), "line")

    assert await queue.lanes.drain("acme") == 4

    view = await queue.lanes.inspect("acme")
    assert (view.waiting, view.active, view.limit) == (0, 1, 7)
    assert await ring(look) == [BOLT]
    assert await look.do("EXISTS", look.keys.job(C), look.keys.job_part(C, "logs")) == 0
    await settle(line, running, Completed())
    assert await queue.lanes.drain("acme") == 0


async def test_what_comes_while_a_lane_is_drained_stays(
    queue: QueueStore, look: Look, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(lanes, "DRAINED", 1)
    await put(queue, "acme", A, B)
    run = queue.lanes._change

    async def meanwhile(name: str, *operands: object) -> object:
        answer = await run(name, *operands)  # type: ignore[arg-type]
        if name == "lane_drain":
            await put(queue, "acme", C, D)
        return answer

    monkeypatch.setattr(queue.lanes, "_change", meanwhile)

    assert await queue.lanes.drain("acme") == 2
    assert await look.members(look.keys.lane(ACME)) == [C, D]
    assert await ring(look) == [ACME]


async def test_a_parent_is_told_of_drained_children(queue: QueueStore, look: Look, flows: Flows):
    await flows.add(A, B)
    await queue.lanes.reassign(A, "acme", flat=True)

    await queue.lanes.drain("acme")

    assert (await look.row(PARENT))["state"] == "dead"


async def test_a_parent_that_goes_with_its_children_leaves_no_ghost(
    queue: QueueStore, look: Look, flows: Flows
):
    await flows.add(A, B, ignore=True)
    for id_ in (A, B):
        await queue.lanes.reassign(id_, "acme", flat=True)
    await look.do("HSET", look.keys.job(PARENT), "group", ACME, "state", "pending")
    await look.do("ZADD", look.keys.lane(ACME), 0, PARENT)

    assert await queue.lanes.drain("acme") == 3

    assert await look.do("EXISTS", look.keys.job(PARENT)) == 0
    assert await look.places() == {}
    await look.do("DEL", look.keys.job_part(PARENT, "dependencies"))


# --- reap ------------------------------------------------------------------------------------


async def test_a_lane_is_reaped_past_any_number_of_expired_siblings(
    queue: QueueStore, line: Line, look: Look, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(lanes, "SCANNED", 2)
    await put(queue, "bolt", A, B, C, D, E)
    await put(queue, "acme", F)
    for job in await claim(line, 9):
        await look.do("ZADD", look.keys.active, 2 if job.id == F else 1, job.id)

    assert (await queue.lanes.reap("acme", 1)).recovered == (F,)

    assert await look.members(look.keys.lane(ACME)) == [F]
    assert await look.hash(look.keys.lane_actives) == {BOLT: "5"}
    assert (await queue.lanes.reap("bolt", 3)).recovered == (A, B, C)
    assert (await queue.lanes.reap("bolt")).recovered == (D, E)
    assert (await queue.lanes.reap("bolt")).recovered == ()


async def test_a_live_lease_is_left_alone(queue: QueueStore, line: Line):
    await put(queue, "acme", A)
    await claim_one(line)

    assert (await queue.lanes.reap("acme")).recovered == ()


async def test_a_job_out_of_attempts_is_buried_by_a_reap_of_its_lane(
    queue: QueueStore, line: Line, look: Look
):
    await put(queue, "acme", A, max_attempts=1)
    await put(queue, "acme", B)
    for job in await claim(line, 2):
        await look.expire_lease(job.id)

    reaped = await queue.lanes.reap("acme", crash_limit=1)

    assert (reaped.recovered, sorted(reaped.buried)) == ((), [A, B])
