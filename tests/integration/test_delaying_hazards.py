"""Putting off a job that runs: what goes wrong in the reference, H1 and H14, and here does not.

The names are those of the published lists: H1 and H14 of the advanced part, 9.1 of the core.
"""

from datetime import UTC, datetime

import pytest

from echomq_worker import EchoMQ, Snooze, testing
from echomq_worker.domain.outcome import Buried, Outcome, Retried, Snoozed, Verdict
from echomq_worker.store import QueueStore
from echomq_worker.store.line import Line
from tests.support.jobs import LEASE_MS, A, B, C, claim_one, enqueue, settle
from tests.support.look import Look
from tests.support.peers import LANE, Lanes
from tests.support.stores import NewLine

HOUR_MS = 3_600_000
FAR_MS = 4_000_000_000_000
DELAYS: dict[str, Outcome] = {
    "snooze": Snoozed(HOUR_MS),
    "snooze until": Snoozed(0, until_ms=FAR_MS),
    "snooze for want of a handler": Snoozed(HOUR_MS, unknown=True),
    "retry": Retried(HOUR_MS, "no"),
    "retry uncounted": Retried(HOUR_MS, "no", counted=False),
}
any_delay = pytest.mark.parametrize("delay", DELAYS.values(), ids=DELAYS)


@any_delay
async def test_h1_a_lane_at_its_ceiling_is_never_wedged_by_delays(
    queue: QueueStore, nameless_line: Line, look: Look, lanes: Lanes, delay: Outcome
):
    await lanes.enqueue(A, B, C)
    await lanes.limit(1)
    for number, id_ in enumerate((A, B, C)):
        job = await lanes.claim()
        assert (job.id, await lanes.active(), await lanes.ring()) == (id_, {LANE: "1"}, [])
        wakes = await lanes.wakes()

        assert await settle(nameless_line, job, delay) is Verdict.OK

        assert await lanes.active() == {}, "its slot is free"
        backlog = number < 2
        assert await lanes.ring() == ([LANE] if backlog else []), "the next one is rung for"
        assert await lanes.wakes() == wakes + backlog
    await look.make_due(A, B, C)
    assert (await queue.promote(9)).moved == 3
    assert (await lanes.waiting(), await lanes.ring()) == ([A, B, C], [LANE])
    assert (await lanes.claim()).token == 2


@any_delay
async def test_h14_a_delay_after_a_reap_leaves_the_job_in_one_place(
    queue: QueueStore, line: Line, look: Look, delay: Outcome
):
    await enqueue(queue, A)
    held = await claim_one(line)
    await look.expire_lease(A)
    await queue.reap(1)

    assert await settle(line, held, delay) is Verdict.OK, "nobody else has it"

    assert await look.places() == {"schedule": [A]}
    assert await queue.extend([held], LEASE_MS) == [Verdict.STALE]
    assert await look.places() == {"schedule": [A]}


@any_delay
async def test_h14_a_delay_after_a_reap_takes_the_job_of_a_lane_out_of_it(
    queue: QueueStore, nameless_line: Line, look: Look, lanes: Lanes, delay: Outcome
):
    await lanes.enqueue(A)
    await lanes.limit(1)
    held = await lanes.claim()
    await look.expire_lease(A)
    await queue.reap(1)

    assert await settle(nameless_line, held, delay) is Verdict.OK

    assert (await lanes.waiting(), await lanes.ring(), await lanes.active()) == ([], [], {})
    assert await look.places() == {"schedule": [A]}


@any_delay
async def test_h14_a_delay_after_a_reap_is_refused_once_somebody_else_runs_the_job(
    queue: QueueStore, line: Line, new_line: NewLine, look: Look, delay: Outcome
):
    await enqueue(queue, A)
    held = await claim_one(line)
    await look.expire_lease(A)
    await queue.reap(1)
    await claim_one(new_line())
    before = await look.everything()

    assert await settle(line, held, delay) is Verdict.STALE
    assert await look.everything() == before


@any_delay
@pytest.mark.parametrize("first", [Retried(HOUR_MS, "no"), Buried("no"), Snoozed(HOUR_MS)])
async def test_core_9_1_15_a_delay_after_a_retry_a_death_or_a_delay_changes_nothing(
    queue: QueueStore, line: Line, look: Look, first: Outcome, delay: Outcome
):
    await enqueue(queue, A)
    held = await claim_one(line)
    await settle(line, held, first)
    before = await look.everything()

    assert await settle(line, held, delay) is Verdict.ALREADY
    assert await look.everything() == before


@any_delay
async def test_core_9_1_15_a_job_that_was_never_claimed_cannot_be_delayed(
    queue: QueueStore, nameless_line: Line, look: Look, lanes: Lanes, delay: Outcome
):
    await lanes.enqueue(A)
    held = await lanes.claim()
    await lanes.enqueue(B)
    waiting = type(held)(queue=held.queue, id=B, payload=b"", token=0, claim="")
    before = await look.places()

    assert await settle(nameless_line, waiting, delay) is Verdict.STALE
    assert (await look.places(), await lanes.waiting()) == (before, [B])


@any_delay
async def test_core_9_1_15_a_delay_after_a_death_that_was_taken_back_is_refused(
    queue: QueueStore, line: Line, look: Look, delay: Outcome
):
    await enqueue(queue, A)
    held = await claim_one(line)
    await look.expire_lease(A)
    await queue.reap(1, crash_limit=1)
    assert await settle(line, held, delay) is Verdict.STALE, "it is dead"
    await queue.requeue([A])

    assert await settle(line, held, delay) is Verdict.STALE
    assert await look.places() == {"pending": [A]}


@pytest.mark.parametrize("end", ["reap", "retry", "death", "delay"])
async def test_core_9_1_3_extending_brings_no_lease_back(
    queue: QueueStore, line: Line, look: Look, end: str
):
    await enqueue(queue, A)
    held = await claim_one(line)
    if end == "reap":
        await look.expire_lease(A)
        await queue.reap(1)
    else:
        outcomes = {"retry": Retried(0, "no"), "death": Buried("no"), "delay": Snoozed(HOUR_MS)}
        await settle(line, held, outcomes[end])
    before = await look.places()

    # Whoever settled has ended its claim: `already` or `stale`, and no lease in either case.
    assert await queue.extend([held], LEASE_MS) != [Verdict.OK]
    assert await look.places() == before
    assert "active" not in before


async def test_a_snooze_until_an_instant_is_exact_by_the_clock_of_the_server(
    server_url: str, queue_name: str, look: Look
):
    app = EchoMQ(redis_url=server_url, default_queue=queue_name)
    until = datetime(2093, 1, 1, 0, 0, 0, 1_000, tzinfo=UTC)

    @app.job("work", max_attempts=1)
    async def work() -> None:
        raise Snooze(until=until)

    async with app:
        handle = await work.enqueue()
        report = await testing.run_worker(app, server_url)
        assert await look.scores(look.keys.schedule) == {handle.id: 3_881_606_400_001}
        assert await handle.promote()
        again = await testing.run_worker(app, server_url)
    assert (report.snoozed, again.snoozed) == (1, 1), "no attempt was counted"
