"""What is told about lanes, and what is refused because a key holds something else."""

import pytest

from echomq_worker.domain.lanes import LaneState, OnFull
from echomq_worker.domain.outcome import Completed
from echomq_worker.errors import WrongTypeError
from echomq_worker.store import QueueStore, lanes
from echomq_worker.store.line import Line
from tests.support.jobs import A, B, C, enqueue, job_id, settle
from tests.support.lanes import ACME, BOLT, put
from tests.support.look import Look


async def test_depths_are_told_in_the_words_they_were_asked_in(queue: QueueStore):
    await put(queue, "acme", A, B)

    depths = await queue.lanes.depths(["acme", ACME, "bolt"])

    assert depths == {"acme": 2, ACME: 2, "bolt": 0}


async def test_every_way_to_know_a_lane_brings_it_into_the_list(
    queue: QueueStore, line: Line, look: Look
):
    await put(queue, "ready", A)
    await put(queue, "active", B)
    await settle(
        line, (await line.claim_lane(limit=1, lease_ms=1, lane="ready")).jobs[0], Completed()
    )
    await line.claim_lane(limit=1, lease_ms=60_000, lane="active")
    await put(queue, "ready", C)
    await queue.lanes.pause("paused")
    await queue.lanes.limit("limited", 5)
    await queue.lanes.weight("weighted", 2)
    await queue.lanes.first("first")
    await queue.lanes.maximum("bounded", 3, OnFull.DROP_OLDEST)
    await look.do("SADD", look.keys.lanes_paused, BOLT)

    views = {view.name: view for view in await queue.lanes.list()}

    known = {"ready", "active", "paused", "limited", "weighted", "bounded", "first"}
    assert set(views) == known | {BOLT}
    assert [views[name].state for name in ("ready", "paused", "limited")] == [
        LaneState.READY,
        LaneState.PAUSED,
        LaneState.IDLE,
    ]
    assert (views["bounded"].maximum, views["bounded"].on_full) == (3, OnFull.DROP_OLDEST)
    assert views["active"].active == 1


async def test_a_list_of_many_lanes_is_read_by_pages_and_has_each_once(
    queue: QueueStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(lanes, "PAGE", 3)
    names = {f"tenant-{n}" for n in range(20)}
    for n, name in enumerate(sorted(names)):
        await put(queue, name, job_id(n))
        await queue.lanes.weight(name, 2)

    pages = [await queue.lanes.list(8, offset=offset) for offset in (0, 8, 16, 24)]

    assert [len(page) for page in pages] == [8, 8, 4, 0]
    assert {view.name for page in pages for view in page} == names


async def test_nonsense_that_somebody_has_left_is_read_as_nothing(queue: QueueStore, look: Look):
    await enqueue(queue, A)
    for key in (look.keys.lane_limits, look.keys.lane_weights, look.keys.lane_actives):
        await look.do("HSET", key, ACME, "lots")
    await look.do("HSET", look.keys.lane_maxima, ACME, "many drop")
    await look.do("SADD", look.keys.lanes_paused, ACME)
    await look.do("HSET", look.keys.lane_pauses, ACME, "yesterday {")

    view = await queue.lanes.inspect("acme")

    assert (view.limit, view.weight, view.active, view.maximum) == (None, 1, 0, None)
    assert view.paused is not None
    for key in (look.keys.lane_limits, look.keys.lane_weights, look.keys.lane_actives):
        await look.do("DEL", key)


@pytest.mark.parametrize(
    "key", ["ring", "paused", "glimit", "gweight", "gmax", "lane:pauses", "lane:first"]
)
async def test_a_key_of_another_type_is_named_and_nothing_is_changed(
    queue: QueueStore, look: Look, key: str
):
    await put(queue, "acme", A)
    await look.do("DEL", look.keys.root + key)
    await look.do("SET", look.keys.root + key, "foreign")
    before = await look.dumps()

    for change in (
        queue.lanes.pause("acme"),
        queue.lanes.resume("acme"),
        queue.lanes.limit("acme", 1),
        queue.lanes.weight("acme", 1),
        queue.lanes.maximum("acme", 1),
        queue.lanes.first("acme"),
        queue.lanes.reassign(A, "bolt"),
        queue.lanes.drain("acme"),
        queue.lanes.reap("acme"),
    ):
        with pytest.raises(WrongTypeError, match=key):
            await change

    assert await look.dumps() == before
    for name in await look.key_names():
        await look.do("DEL", name)
