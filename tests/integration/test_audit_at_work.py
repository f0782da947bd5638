"""The audit of a queue at work finds nothing; the repair of one damaged at random loses nothing."""

import asyncio
import random

import pytest

from echomq_worker.doctor.state import audit, repair
from echomq_worker.doctor.state.notes import StateFinding
from echomq_worker.domain.finding import Finding
from echomq_worker.store import QueueStore, Server
from echomq_worker.store.line import Line
from tests.support.audit import complaints_of
from tests.support.jobs import LEASE_MS, job_id, new_job
from tests.support.load import Load
from tests.support.look import Look

AUDITS = 50
SIZE = 30


def out_of_place(findings: list[Finding]) -> list[str]:
    """Return what a queue at work must never show."""
    return [str(each) for each in findings if not isinstance(each, StateFinding) or each.is_quiet]


async def test_a_queue_at_work_is_never_out_of_place(server: Server, queue: QueueStore):
    load = Load(queue, 3_000)
    work = asyncio.create_task(load.run())
    audits = 0
    while not work.done() or audits < AUDITS:
        assert out_of_place(await audit(server, queue.name)) == []
        audits += 1
    await work

    assert load.is_done()


async def test_a_queue_at_work_may_be_repaired(server: Server, queue: QueueStore, look: Look):
    load = Load(queue, 500)
    work = asyncio.create_task(load.run())
    # The rows are taken out under the hands of those who work on them.
    while not work.done():
        for id_ in (await look.members(look.keys.pending))[:2]:
            await look.do("ZREM", look.keys.pending, id_)
        await repair(server, queue.name, await audit(server, queue.name))
    await work

    assert load.is_done()
    assert set(load.completed.values()) == {1}
    assert out_of_place(await audit(server, queue.name)) == []


@pytest.mark.broken_state("a job may be due never, which only people can mend")
@pytest.mark.parametrize("seed", range(10))
async def test_random_damage_is_mended_without_losing_a_payload(
    seed: int, server: Server, queue: QueueStore, line: Line, look: Look, server_url: str
):
    dice = random.Random(seed)
    ids = [job_id(number) for number in range(SIZE)]
    await queue.enqueue([new_job(id_, after_ms=dice.choice((None, LEASE_MS))) for id_ in ids])
    await line.claim(limit=SIZE // 4, lease_ms=LEASE_MS, promote=0)
    places = (
        "pending",
        "active",
        "schedule",
        "dead",
        "dead:at",
        "g:LAN00000000001:pending",
        "prioritized",
    )
    for _ in range(SIZE):
        id_, place = dice.choice(ids), look.keys.root + dice.choice(places)
        row = look.keys.job(id_)
        damages: list[tuple[str | int, ...]] = [
            ("ZREM", place, id_),
            ("ZADD", place, dice.choice((0, 1, "inf")), id_),
            ("ZADD", place, 0, job_id(1_000 + dice.randrange(SIZE))),
            ("HSET", row, "state", dice.choice(("pending", "active", "dead", "x"))),
            ("HSET", row, "attempts", dice.choice(("x", "", "-1"))),
            ("HSET", row, "group", "LAN00000000001"),
            ("HSET", row, "priority", dice.choice((-5, 0, 9, "x")), "more", "1"),
            ("PEXPIRE", row, 600_000),
            ("HSET", look.keys.lane_actives, "LAN00000000001", dice.randrange(5)),
            ("DEL", look.keys.ring),
        ]
        await look.do(*dice.choice(damages))

    await repair(server, queue.name, await audit(server, queue.name))

    assert [each for each in await audit(server, queue.name) if each.repair] == []
    left = complaints_of(server_url, queue.name)
    assert [text for text in left if not text.startswith("endless-wait")] == []
    for id_ in ids:
        assert (await look.row(id_))["payload"] == id_
