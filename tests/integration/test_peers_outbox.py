"""Children of flows whose parent is in another queue: their reports wait in the outbox."""

from collections.abc import Callable

import pytest

from echomq_worker.domain.outcome import (
    Buried,
    Completed,
    Retried,
    Verdict,
)
from echomq_worker.store import Places, QueueStore
from echomq_worker.store.line import Line
from tests.conformance.peer import MixedFleet
from tests.support.jobs import A, B, C, D, claim, claim_one, settle
from tests.support.look import Look
from tests.support.peers import PARENT, Flows


async def test_a_report_to_another_queue_goes_to_the_outbox(
    line: Line, flows: Flows, peer: MixedFleet, new_queue_name: Callable[[], str], queue_name: str
):
    home = new_queue_name()
    await flows.add(A, B, home=home)
    a, b = await claim(line, 2)

    await line.settle([(a, Completed(b"o\0ne")), (b, Completed())])

    assert await flows.outbox() == [
        f"{home}\0{PARENT}\0{A}\0o\0ne".encode(),
        f"{home}\0{PARENT}\0{B}\0{B}".encode(),
    ]
    await peer.sweep_outbox(queue_name)
    assert await peer.get_state(home, PARENT) == "pending"
    values = await peer.flow_children_values(home, PARENT)
    assert values == {A.encode(): b"o\0ne", B.encode(): B.encode()}


@pytest.mark.broken_state("peers write no time of death")
@pytest.mark.parametrize(("policy", "state"), [("fp", "dead"), ("id", "pending")])
async def test_a_death_is_told_to_another_queue_with_its_policy(
    line: Line,
    flows: Flows,
    peer: MixedFleet,
    new_queue_name: Callable[[], str],
    queue_name: str,
    policy: str,
    state: str,
):
    home = new_queue_name()
    await flows.add(A, home=home, ignore=policy == "id")

    await settle(line, await claim_one(line), Buried("bro\0ken"))

    assert await flows.outbox() == [f"\0fail\0{home}\0{PARENT}\0{A}\0{policy}\0bro\0ken".encode()]
    await peer.sweep_outbox(queue_name)
    assert await peer.get_state(home, PARENT) == state


async def test_losses_and_removals_are_told_to_another_queue_as_well(
    queue: QueueStore, line: Line, look: Look, flows: Flows, new_queue_name: Callable[[], str]
):
    home = new_queue_name()
    await flows.add(A, B, home=home)
    await claim_one(line)
    await look.expire_lease(A)
    await queue.reap(1, crash_limit=1)
    await queue.remove(B, Places.WAITING)

    lost, removed = await flows.outbox()
    assert lost.startswith(f"\0fail\0{home}\0{PARENT}\0{A}\0fp\0the lease was lost".encode())
    assert removed == f"\0fail\0{home}\0{PARENT}\0{B}\0fp\0removed".encode()


async def test_a_repeated_call_tells_once(
    queue: QueueStore, line: Line, flows: Flows, new_queue_name: Callable[[], str]
):
    await flows.add(A, home=new_queue_name())
    a = await claim_one(line)
    await settle(line, a, Buried("broken"))
    assert await settle(line, a, Buried("broken")) is Verdict.ALREADY
    assert await settle(line, a, Retried(0, "broken")) is Verdict.ALREADY

    assert len(await flows.outbox()) == 1
    assert (await queue.counts()).failed == 1


async def test_a_child_that_was_never_named_in_a_flow_tells_nobody(
    line: Line, look: Look, flows: Flows
):
    await look.do("HSET", look.keys.job(D), "state", "pending", "attempts", "0", "payload", "x")
    await look.do("ZADD", look.keys.pending, 0, D)
    await settle(line, await claim_one(line), Completed())

    assert await flows.outbox() == []
    assert C not in str(await look.key_names())
