"""Children of another runtime's flows: whatever we do to them, their parents hear of it once."""

from collections.abc import Callable

import pytest

from echomq_worker.domain.outcome import (
    Buried,
    Completed,
    HandedBack,
    Outcome,
    Retried,
    Snoozed,
    Verdict,
)
from echomq_worker.store import Places, QueueStore, Removed, Requeued
from echomq_worker.store.line import Line
from tests.support.jobs import A, B, claim, claim_one, job_id, settle
from tests.support.look import Look
from tests.support.peers import LANE, PARENT, Flows

ABOVE = job_id(60)
HOUR_MS = 3_600_000


async def test_the_last_child_that_completes_releases_the_parent(
    line: Line, look: Look, flows: Flows
):
    await flows.add(A, B)
    a, b = await claim(line, 2)
    await settle(line, a, Completed(b"one"))
    assert (await flows.left(), await flows.state()) == (1, "awaiting_children")

    await settle(line, b, Completed())

    assert (await flows.left(), await flows.state()) == (0, "pending")
    assert await flows.part("processed") == {A: "one", B: B}
    assert await look.places() == {"pending": [PARENT]}
    assert await look.bells() == 1


async def test_children_of_one_call_release_the_parent_to_the_claim_of_that_call(
    line: Line, flows: Flows
):
    await flows.add(A, B)
    jobs = await claim(line, 2)

    settled = await line.settle([(job, Completed()) for job in jobs], limit=5, lease_ms=9_000)

    assert [job.id for job in settled.claimed.jobs] == [PARENT]


async def test_a_parent_with_a_lane_is_released_into_it(line: Line, look: Look, flows: Flows):
    await flows.add(A)
    await look.do("HSET", look.keys.job(PARENT), "group", LANE)

    await settle(line, await claim_one(line), Completed())

    assert await look.members(look.keys.lane(LANE)) == [PARENT]
    assert await look.do("LRANGE", look.keys.ring, 0, -1) == [LANE.encode()]
    assert await look.places() == {}


@pytest.mark.parametrize("outcome", [Retried(HOUR_MS, "no"), Snoozed(HOUR_MS), HandedBack()])
async def test_a_child_that_goes_on_tells_nobody(line: Line, flows: Flows, outcome: Outcome):
    await flows.add(A)
    await settle(line, await claim_one(line), outcome)

    assert (await flows.left(), await flows.state()) == (1, "awaiting_children")
    assert await flows.outbox() == []


async def test_a_child_that_dies_takes_the_parent_with_it(
    queue: QueueStore, line: Line, look: Look, flows: Flows
):
    await flows.add(A, B)
    a, b = await claim(line, 2)

    await settle(line, a, Buried("broken"))

    assert await flows.part("failed") == {A: "broken"}
    assert await flows.state() == "dead"
    assert await look.places() == {"active": [B], "dead": [A, PARENT]}
    assert set(await look.members(look.keys.dead_at)) == {A, PARENT}
    assert (await queue.counts()).failed == 1
    assert await settle(line, b, Completed()) is Verdict.OK
    assert await flows.state() == "dead"


async def test_a_child_whose_death_is_ignored_counts_as_done(line: Line, look: Look, flows: Flows):
    await flows.add(A, B, ignore=True)
    a, b = await claim(line, 2)
    await settle(line, a, Buried("broken"))
    assert await flows.left() == 1

    await settle(line, b, Completed())

    assert await flows.part("unsuccessful") == {A: "broken"}
    assert await look.places() == {"pending": [PARENT], "dead": [A]}


async def test_a_child_that_dies_is_brought_back_and_completes_counts_once(
    queue: QueueStore, line: Line, flows: Flows
):
    await flows.add(A, B, ignore=True)
    a, _ = await claim(line, 2)
    await settle(line, a, Buried("broken"))
    assert await queue.requeue([A]) == [Requeued.OK]

    await settle(line, await claim_one(line), Completed())

    assert (await flows.left(), await flows.state()) == (1, "awaiting_children")


async def test_a_child_that_dies_twice_counts_once(queue: QueueStore, line: Line, flows: Flows):
    await flows.add(A, B, ignore=True)
    a, _ = await claim(line, 2)
    await settle(line, a, Buried("broken"))
    await queue.requeue([A])
    await settle(line, await claim_one(line), Buried("again"))

    assert await flows.left() == 1
    assert await flows.part("unsuccessful") == {A: "broken"}


@pytest.mark.case("LSE-23")
async def test_a_crash_that_buries_a_child_is_told(
    queue: QueueStore, line: Line, look: Look, flows: Flows
):
    await flows.add(A)
    await claim_one(line)
    await look.expire_lease(A)

    await queue.reap(1, crash_limit=1)

    assert await flows.part("failed") == {A: "the lease was lost 1 times in a row"}
    assert await look.places() == {"dead": [A, PARENT]}


async def test_a_lost_lease_tells_nobody(queue: QueueStore, line: Line, look: Look, flows: Flows):
    await flows.add(A)
    await claim_one(line)
    await look.expire_lease(A)
    await queue.reap(1)

    assert (await flows.left(), await flows.state()) == (1, "awaiting_children")


async def test_a_late_completion_is_told_once(
    queue: QueueStore, line: Line, look: Look, flows: Flows
):
    await flows.add(A, B)
    late = await claim_one(line)
    await look.expire_lease(A)
    await queue.reap(1)

    assert await settle(line, late, Completed()) is Verdict.OK
    assert await settle(line, late, Completed()) is Verdict.GONE

    assert await flows.left() == 1


@pytest.mark.parametrize("policy", ["id", "fp"])
async def test_a_removed_child_is_told_like_a_death(
    queue: QueueStore, look: Look, flows: Flows, policy: str
):
    ignore = policy == "id"
    await flows.add(A, ignore=ignore)

    assert await queue.remove(A, Places.WAITING) is Removed.OK

    assert await flows.part("unsuccessful" if ignore else "failed") == {A: "removed"}
    assert await look.places() == ({"pending": [PARENT]} if ignore else {"dead": [PARENT]})


async def test_a_dead_child_that_is_removed_tells_nothing_more(
    queue: QueueStore, line: Line, flows: Flows
):
    await flows.add(A, B, ignore=True)
    a, _ = await claim(line, 2)
    await settle(line, a, Buried("broken"))
    await queue.remove(A, Places.DEAD)

    assert await flows.left() == 1
    assert await flows.part("unsuccessful") == {A: "broken"}


@pytest.mark.broken_state("the parent is said to run, without a lease")
async def test_a_parent_that_runs_is_not_killed(line: Line, look: Look, flows: Flows):
    await flows.add(A)
    a = await claim_one(line)
    await look.do("HSET", look.keys.job(PARENT), "state", "active")

    await settle(line, a, Buried("broken"))

    assert await flows.state() == "active"
    assert await look.places() == {"dead": [A]}


@pytest.mark.parametrize("outcome", [Completed(), Buried("no")])
async def test_a_parent_that_is_gone_is_not_made_up(
    line: Line, look: Look, flows: Flows, outcome: Outcome
):
    await flows.add(A)
    await look.do("DEL", look.keys.job(PARENT), look.keys.job_part(PARENT, "dependencies"))

    assert await settle(line, await claim_one(line), outcome) is Verdict.OK

    assert [key for key in await look.key_names() if PARENT in key] == []


async def test_a_parent_that_dies_tells_its_own_parent(
    line: Line, look: Look, flows: Flows, queue_name: str
):
    await flows.add(A)
    above = ("parent", ABOVE, "parent_queue", "up", "parent_policy", "id")
    await look.do("HSET", look.keys.job(PARENT), *above)
    await settle(line, await claim_one(line), Buried("broken"))
    assert await flows.outbox() == [f"\0fail\0up\0{ABOVE}\0{PARENT}\0id\0broken".encode()]

    await look.do("DEL", look.keys.outbox, look.keys.job(A), look.keys.dead)
    await flows.add(A)
    await look.do("DEL", look.keys.job_part(PARENT, "failed"))
    await look.do("HDEL", look.keys.job(PARENT), "parent_queue")
    await settle(line, await claim_one(line), Buried("broken"))
    assert await flows.outbox() == [f"\0fail\0{queue_name}\0{ABOVE}\0{PARENT}\0id\0broken".encode()]


async def test_a_parent_released_and_killed_in_one_call_is_in_one_place(
    line: Line, look: Look, flows: Flows
):
    await flows.add(A, B)
    await look.do("SET", look.keys.job_part(PARENT, "dependencies"), 1)
    a, b = await claim(line, 2)

    await line.settle([(a, Completed()), (b, Buried("broken"))])

    assert await look.places() == {"dead": [B, PARENT]}


DAMAGES: dict[str, Callable[[Look], tuple[str, ...]]] = {
    "the row": lambda look: (look.keys.job(PARENT),),
    "the results": lambda look: (look.keys.job_part(PARENT, "processed"),),
    "the failures": lambda look: (look.keys.job_part(PARENT, "failed"),),
    "the count": lambda look: (look.keys.job_part(PARENT, "dependencies"),),
}


@pytest.mark.broken_state("a key of the parent is of another type")
@pytest.mark.parametrize("outcome", [Completed(), Buried("no")])
@pytest.mark.parametrize("what", DAMAGES)
async def test_a_parent_that_cannot_take_a_report_does_not_hold_its_child_up(
    line: Line, look: Look, flows: Flows, what: str, outcome: Outcome
):
    await flows.add(A, B)
    (key,) = DAMAGES[what](look)
    await look.do("SET", key, "foreign")
    a, b = await claim(line, 2)

    settled = await line.settle([(a, outcome), (b, Completed())])

    assert settled.verdicts == [Verdict.OK, Verdict.OK]
    assert "active" not in await look.places()
    assert await look.do("GET", key) == b"foreign"
    told = {entry["id"] for entry in await look.quarantine()}
    assert told <= {PARENT}
    assert all("could not report" in entry["reason"] for entry in await look.quarantine())
