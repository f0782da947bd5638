"""What each outcome writes, and how many are written with the next claim in one call."""

import pytest

from echomq_worker.domain.job import JobId
from echomq_worker.domain.outcome import (
    Buried,
    Completed,
    HandedBack,
    Outcome,
    Retried,
    Snoozed,
    Verdict,
)
from echomq_worker.store import QueueStore
from echomq_worker.store.line import Line
from tests.support.jobs import (
    A,
    B,
    C,
    D,
    E,
    F,
    claim,
    claim_one,
    enqueue,
    new_job,
    settle,
    settle_and_claim,
)
from tests.support.look import Look

HOUR_MS = 3_600_000
HISTORY = b'[{"attempt":1,"type":"ValueError"}]'

OUTCOMES: list[tuple[Outcome, dict[str, list[str]], dict[str, str]]] = [
    (Completed(), {}, {}),
    (
        Retried(HOUR_MS, "no", HISTORY),
        {"schedule": [A]},
        {"state": "scheduled", "last_error": "no", "failures": HISTORY.decode()},
    ),
    (
        Retried(HOUR_MS, "no", counted=False),
        {"schedule": [A]},
        {"state": "scheduled", "last_error": "no", "returned": "1"},
    ),
    (
        Buried("no", HISTORY),
        {"dead": [A]},
        {"state": "dead", "last_error": "no", "failures": HISTORY.decode()},
    ),
    (Snoozed(HOUR_MS), {"schedule": [A]}, {"state": "scheduled", "returned": "1"}),
    (HandedBack(), {"pending": [A]}, {"state": "pending", "returned": "1"}),
]


@pytest.mark.parametrize(("outcome", "places", "fields"), OUTCOMES)
async def test_an_outcome_puts_the_job_in_its_place(
    queue: QueueStore,
    line: Line,
    look: Look,
    outcome: Outcome,
    places: dict[str, list[str]],
    fields: dict[str, str],
):
    await enqueue(queue, A)
    job = await claim_one(line)

    assert await settle(line, job, outcome) is Verdict.OK

    assert await look.places() == places
    ended = {"attempts": "1", "payload": A, "claim": f"{job.claim}!"}
    assert await look.row(A) == (ended | fields if fields else {})


async def test_a_delay_counts_from_the_servers_clock(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, A, B)
    one, other = await claim(line, 2)
    before_us = await look.now_us()
    await line.settle([(one, Retried(50, "no")), (other, Snoozed(50))])
    after_us = await look.now_us()

    due = await look.scores(look.keys.schedule)
    assert set(due) == {A, B}
    assert all(before_us + 50_000 <= at * 1000 <= after_us + 50_999 for at in due.values())


async def test_a_retry_at_once_goes_through_the_schedule(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, A)
    await settle(line, await claim_one(line), Retried(0, "no"))

    assert await look.places() == {"schedule": [A]}
    assert [job.token for job in await claim(line, promote=1)] == [2]


async def test_completions_and_deaths_are_counted(queue: QueueStore, line: Line):
    await enqueue(queue, A, B, C, D)
    jobs = await claim(line, 4)
    outcomes = (Completed(), Completed(), Buried("no"), Retried(0, "no"))

    await line.settle(list(zip(jobs, outcomes, strict=True)))

    counts = await queue.counts()
    assert (counts.completed, counts.failed) == (2, 1)


async def test_a_death_has_its_time(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, A)
    before_ms = await look.now_us() // 1000
    await settle(line, await claim_one(line), Buried("no"))

    died = await look.scores(look.keys.dead_at)
    assert before_ms <= died[A] <= await look.now_us() // 1000
    assert await look.scores(look.keys.dead) == {A: 0}


async def test_a_completion_takes_the_parts_of_the_row_with_it(
    queue: QueueStore, line: Line, look: Look
):
    await enqueue(queue, A)
    await look.do("RPUSH", look.keys.job_part(A, "logs"), "line")
    await look.do("SET", look.keys.job_part(A, "lock"), "1")

    await settle(line, await claim_one(line), Completed())

    assert [key for key in await look.key_names() if f"job:{A}" in key] == []


async def test_the_last_history_of_failures_stands(queue: QueueStore, line: Line):
    await enqueue(queue, A)
    await settle(line, await claim_one(line), Retried(0, "first", b"[1]"))
    (again,) = await claim(line, promote=1)
    assert again.failures == b"[1]"
    await settle(line, again, Retried(0, "second", b"[1,2]"))

    view = await queue.inspect(A)
    assert view is not None
    assert (view.failures, view.last_error, view.attempts) == (b"[1,2]", "second", 2)


async def test_a_failure_without_a_history_keeps_the_one_before(queue: QueueStore, line: Line):
    await enqueue(queue, A)
    await settle(line, await claim_one(line), Retried(0, "first", b"[1]"))
    (again,) = await claim(line, promote=1)
    await settle(line, again, Buried("second"))

    view = await queue.inspect(A)
    assert view is not None
    assert (view.failures, view.last_error) == (b"[1]", "second")


@pytest.mark.parametrize(
    "outcome", [Retried(HOUR_MS, "no"), Buried("no"), Snoozed(HOUR_MS), HandedBack()]
)
async def test_any_outcome_ends_a_row_of_crashes(
    queue: QueueStore, line: Line, look: Look, outcome: Outcome
):
    await enqueue(queue, A)
    await claim_one(line)
    await look.expire_lease(A)
    await queue.reap(1, crash_limit=5)
    job = await claim_one(line)
    assert job.crashes == 1

    await settle(line, job, outcome)

    assert "crashes" not in await look.row(A)


async def test_a_job_nobody_knows_remembers_since_when(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, A)
    before_ms = await look.now_us() // 1000
    await settle(line, await claim_one(line), Snoozed(0, unknown=True))
    (job,) = await claim(line, promote=1)
    since_ms = job.unknown_since_ms
    await settle(line, job, Snoozed(0, unknown=True))
    (job,) = await claim(line, promote=1)

    assert since_ms is not None
    assert before_ms <= since_ms <= await look.now_us() // 1000
    assert job.unknown_since_ms == since_ms


@pytest.mark.parametrize("outcome", [Snoozed(0), Retried(0, "no"), Buried("no")])
async def test_a_job_that_was_run_is_known_again(
    queue: QueueStore, line: Line, look: Look, outcome: Outcome
):
    await enqueue(queue, A)
    await settle(line, await claim_one(line), Snoozed(0, unknown=True))
    (job,) = await claim(line, promote=1)

    await settle(line, job, outcome)

    assert "unknown" not in await look.row(A)


async def test_an_error_that_utf_8_cannot_carry_is_kept_as_well_as_can_be(
    queue: QueueStore, line: Line
):
    await enqueue(queue, A)
    assert await settle(line, await claim_one(line), Buried("no \udcff")) is Verdict.OK

    view = await queue.inspect(A)
    assert view is not None
    assert view.last_error == r"no \udcff"


async def test_many_outcomes_and_the_next_claim_go_in_one_call(
    queue: QueueStore, line: Line, look: Look
):
    await enqueue(queue, A, B, C, D, E, F)
    a, b, c, d = await claim(line, 4)
    settlements: list[tuple[JobId, Outcome]] = [
        (A, Completed()),
        (B, Retried(HOUR_MS, "no")),
        (C, Buried("no")),
        (D, HandedBack()),
    ]
    held = {job.id: job for job in (a, b, c, d)}

    settled = await settle_and_claim(line, [(held[id_], what) for id_, what in settlements], 2)

    assert settled.verdicts == [Verdict.OK] * 4
    assert [job.id for job in settled.claimed.jobs] == [D, E]
    assert settled.claimed.left == 1
    assert await look.places() == {
        "pending": [F],
        "active": [D, E],
        "schedule": [B],
        "dead": [C],
    }


async def test_the_claim_of_a_settlement_promotes_what_is_due(
    queue: QueueStore, line: Line, look: Look
):
    await enqueue(queue, B)
    job = await claim_one(line)
    await queue.enqueue([new_job(A, at_ms=1), new_job(C, at_ms=2)])

    settled = await settle_and_claim(line, [(job, Completed())], 5, promote=1)

    assert [job.id for job in settled.claimed.jobs] == [A]
    assert settled.claimed.next_due_ms == 2
    assert await look.places() == {"active": [A], "schedule": [C]}


async def test_nothing_to_settle_is_no_reason_not_to_claim(queue: QueueStore, line: Line):
    await enqueue(queue, A)

    settled = await settle_and_claim(line, [], 1)

    assert (settled.verdicts, [job.id for job in settled.claimed.jobs]) == ([], [A])


async def test_a_paused_queue_takes_outcomes_and_hands_out_nothing(
    queue: QueueStore, line: Line, look: Look
):
    await enqueue(queue, A, B)
    job = await claim_one(line)
    await queue.pause()

    settled = await settle_and_claim(line, [(job, Completed())], 5)

    assert settled.verdicts == [Verdict.OK]
    assert (settled.claimed.paused, list(settled.claimed.jobs)) == (True, [])
    assert await look.places() == {"pending": [B]}


async def test_one_job_settled_twice_in_a_call_counts_once(
    queue: QueueStore, line: Line, look: Look
):
    await enqueue(queue, A)
    job = await claim_one(line)

    settled = await line.settle([(job, Completed()), (job, Retried(0, "no"))])

    assert settled.verdicts == [Verdict.OK, Verdict.ALREADY]
    assert await look.places() == {}
    assert (await queue.counts()).completed == 1
