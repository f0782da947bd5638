"""Keys of uniqueness when things go wrong: no ending and no death leaves one held."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from random import Random

import pytest

from echomq_worker import EchoMQ, UnavailableError
from echomq_worker.client.handle import JobHandle
from echomq_worker.domain.job import Admission, JobId, State
from echomq_worker.domain.lanes import lane_group
from echomq_worker.domain.outcome import Buried, Completed, Verdict
from echomq_worker.domain.unique import Conflict, Mode, Unique, wire_key
from echomq_worker.domain.views import Places
from echomq_worker.protocol.scripts import Operand
from echomq_worker.store import QueueStore
from echomq_worker.store.calls import random_name
from echomq_worker.store.line import Line
from echomq_worker.store.unique import Once, enqueue_unique
from echomq_worker.store.wire import Reply
from tests.support.crew import crew
from tests.support.cut_wire import CutWire, Fault
from tests.support.gates import never
from tests.support.jobs import claim, claim_one, job_id, new_job, settle

KEY = "order:42"
ENDINGS = ("done", "dead", "deleted", "cancelled", "expired", "cleaned", "emptied", "obliterated")


async def ended(app: EchoMQ, queue: QueueStore, url: str, ending: str) -> JobHandle[None]:
    """Enqueue a job under the key and let it end in some way; return it."""
    runs: list[str] = []

    @app.job("ship", key=KEY, max_attempts=1)
    async def ship(how: str) -> None:
        runs.append(how)
        if how in {"dead", "cleaned"}:
            raise ValueError(how)

    handle = await ship.options(expires="1ms" if ending == "expired" else "1h").enqueue(ending)
    assert not (await ship.enqueue("again")).created
    match ending:
        case "deleted":
            await queue.remove(handle.id, Places.ANY)
        case "cancelled":
            assert await handle.cancel()
        case "emptied":
            await app.queues.drain()
        case "obliterated":
            await queue.pause()
            await app.queues.obliterate(queue.name)
        case _:
            await asyncio.sleep(0.005)
            async with crew(app, url, 1):
                over = {State.DEAD, State.ABSENT}
                async with asyncio.timeout(10):
                    while await handle.state() not in over:  # noqa: ASYNC110
                        await asyncio.sleep(0.005)
    if ending == "cleaned":
        await queue.remove(handle.id, Places.DEAD)
    assert runs == ([ending] if ending in {"done", "dead", "cleaned"} else [])
    return handle


@pytest.mark.case("UNQ-01")
@pytest.mark.parametrize("ending", ENDINGS)
async def test_no_ending_leaves_a_key_held_and_an_old_job_frees_no_newer_ones(
    server_url: str, queue: QueueStore, ending: str
):
    async with EchoMQ(redis_url=server_url, default_queue=queue.name) as app:
        old = await ended(app, queue, server_url, ending)

        newer = await app.enqueue_by_name("ship", {"how": "anew"})

        assert newer.created
        assert newer.id != old.id
        await queue.remove(old.id, Places.ANY)
        assert await app.queues.holder(wire_key(KEY)) == newer.id
        assert not (await app.enqueue_by_name("ship", {"how": "more"})).created


@pytest.mark.slow
@pytest.mark.case("UNQ-02")
async def test_no_death_at_any_point_leaves_a_key_held(queue: QueueStore):
    """Each round a producer and a worker are killed somewhere: before a call, or after it."""
    dice = Random(11)
    unique = Unique("order-42", Conflict(Mode.REJECT))
    for number in range(0, 2_000, 2):
        first = replace(new_job(job_id(number)), unique=unique)
        with suppress(UnavailableError):
            await enqueue_unique(dying_caller(queue, dice), first, unique)
        if dice.random() < 0.3:
            second = replace(new_job(job_id(number + 1)), unique=unique)
            admission, holder = await queue.enqueue_unique(second, unique)
            # Either the first one never reached the server, or it is there and will run.
            assert (admission, holder) in {
                (Admission.ENQUEUED, second.id),
                (Admission.HELD, first.id),
            }
        await work_and_die(queue, dice)
        await work_off(queue, dice)
        assert await queue.operator.holder("order-42") is None, f"after round {number}"


def dying_caller(queue: QueueStore, dice: Random) -> Once:
    """Return what runs a script once or never; either way its caller hears nothing."""

    async def once(name: str, args: Mapping[str, Operand], rest: Sequence[Operand]) -> Reply:
        given = {"caller": random_name(), "call_number": 1, "again": "0", "log_size": 0}
        if dice.random() < 0.5:
            await queue._run(name, {**args, **given}, rest)
        msg = "killed by the test"
        raise UnavailableError(msg)

    return once


async def work_and_die(queue: QueueStore, dice: Random) -> None:
    """Claim and settle; one of the two calls is never sent, or never answered."""
    line = queue.line(trouble=never)
    line.wire = wire = CutWire(line.wire)
    faults = [Fault.LOST, Fault.UNANSWERED]
    with suppress(UnavailableError):
        if dice.random() < 0.5:
            wire.next_calls(dice.choice(faults))
        for held in (await line.claim(limit=1, lease_ms=1, promote=0)).jobs:
            wire.next_calls(dice.choice(faults))
            await line.settle([(held, some_end(dice))])
    await line.aclose()


async def work_off(queue: QueueStore, dice: Random) -> None:
    """Run what there is, after what has been lost is taken back."""
    line = queue.line(trouble=never)
    counts = await queue.counts()
    async with asyncio.timeout(5):
        while counts.pending or counts.active:
            await queue.reap(9)
            for held in await claim(line, 9):
                await line.settle([(held, some_end(dice))])
            counts = await queue.counts()
    await line.aclose()


def some_end(dice: Random) -> Completed | Buried:
    return dice.choice([Completed(), Buried("no")])


@pytest.mark.case("UNQ-04")
async def test_a_job_enqueued_at_the_very_moment_another_is_aborted_runs(
    queue: QueueStore, line: Line
):
    """The second one comes before, while or after the first one ends: it is kept, or goes in."""
    unique = Unique("order-42", Conflict(Mode.KEEP_LATEST))
    seen: Counter[Admission] = Counter()
    for number in range(0, 1_000, 2):
        first, second = (replace(new_job(job_id(number + n)), unique=unique) for n in (0, 1))
        await queue.enqueue_unique(first, unique)
        held = await claim_one(line)

        abort = line.settle([(held, Buried("aborted"))])
        again = queue.enqueue_unique(second, unique)
        if number % 4:
            _, (admission, winner) = await asyncio.gather(abort, again)
        else:
            (admission, winner), _ = await asyncio.gather(again, abort)
        seen[admission] += 1

        assert winner == second.id
        ran = await claim_one(line)
        assert (ran.id, ran.payload) == (second.id, second.payload)
        assert (await settle(line, ran, Completed())) is Verdict.OK
    assert set(seen) <= {Admission.KEPT, Admission.ENQUEUED}


@pytest.mark.case("UNQ-05")
async def test_others_of_a_lane_run_after_the_first_of_them_was_replaced_while_it_waited(
    queue: QueueStore, line: Line
):
    lane = lane_group("acme")
    await queue.lanes.limit("acme", 1)  # one at a time: an ordered group
    replacing = Conflict(Mode.REPLACE)

    async def put(id_: JobId, key: str, payload: bytes) -> tuple[Admission, JobId]:
        unique = Unique(key, replacing)
        job = replace(new_job(id_, payload=payload), group=lane, lane="acme", unique=unique)
        return await queue.enqueue_unique(job, unique)

    for n in range(20):
        await put(job_id(n), f"part-{n}", b"old")
    assert await put(job_id(99), "part-0", b"new") == (Admission.REPLACED, job_id(0))

    ran: list[tuple[JobId, bytes]] = []
    while jobs := await claim(line, 5):
        (held,) = jobs
        ran.append((held.id, held.payload))
        await settle(line, held, Completed())
    assert ran == [(job_id(0), b"new")] + [(job_id(n), b"old") for n in range(1, 20)]
