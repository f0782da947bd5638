"""The demonstration's numbers: what adds up, and that it notices when something does not."""

from dataclasses import replace

import pytest

from echomq_worker.demo.audit import Evidence, audit
from echomq_worker.demo.files import FileFacts
from echomq_worker.demo.lateness import lateness_of
from echomq_worker.demo.ledger import Ledger
from echomq_worker.domain.job import JobId
from echomq_worker.store import Counts, LogEntry

NOW, LATER, FAILING, DYING = (JobId(f"JOB0000000000{n}") for n in range(4))
DELAY_MS = 200
FACTS = FileFacts(size=10, lines=2, sha256="0" * 64)

HISTORY = [
    (1_000, "scheduled", LATER, 0),
    (1_001, "enqueued", NOW, 0),
    (1_001, "enqueued", FAILING, 0),
    (1_001, "enqueued", DYING, 0),
    (1_002, "claimed", NOW, 1),
    (1_002, "claimed", FAILING, 1),
    (1_003, "completed", NOW, 1),
    (1_004, "scheduled", FAILING, 1),
    (1_050, "promoted", FAILING, 1),
    (1_051, "claimed", FAILING, 2),
    (1_060, "scheduled", FAILING, 2),
    (1_080, "claimed", FAILING, 3),
    (1_090, "completed", FAILING, 3),
    (1_100, "claimed", DYING, 1),
    (1_101, "dead", DYING, 1),
    (1_203, "promoted", LATER, 0),
    (1_204, "claimed", LATER, 1),
    (1_205, "completed", LATER, 1),
]
COUNTS = Counts(
    pending=0, active=0, scheduled=0, dead=1, completed=3, failed=1, paused=False, workers=1
)


def ledger(history: list[tuple[int, str, JobId, int]]) -> Ledger:
    read = Ledger()
    read.read(
        LogEntry(f"{at_ms}-{number}", event, job_id, token)
        for number, (at_ms, event, job_id, token) in enumerate(history)
    )
    return read


EVIDENCE = Evidence(
    delays={NOW: 0, LATER: DELAY_MS},
    failing=FAILING,
    dying=DYING,
    ledger=ledger(HISTORY),
    facts={NOW: FACTS, LATER: None},
    dead=[DYING],
    counts=COUNTS,
)


def without(*dropped: tuple[str, JobId]) -> Evidence:
    kept = [entry for entry in HISTORY if (entry[1], entry[2]) not in dropped]
    return replace(EVIDENCE, ledger=ledger(kept))


def test_what_redis_says_is_added_up():
    summary = audit(EVIDENCE)

    assert summary.problems == []
    assert (summary.jobs, summary.completed, summary.dead) == (4, 3, 1)
    assert summary.seconds == 0.205
    assert (summary.immediate, summary.delayed, summary.retried) == (1, 1, 1)
    assert (summary.files, summary.unreadable, summary.size, summary.lines) == (1, 1, 10, 2)
    assert summary.recovered == 0


def test_lateness_is_counted_from_the_due_time_to_the_first_claim():
    lateness = audit(EVIDENCE).lateness

    assert lateness is not None
    assert (lateness.count, lateness.p50, lateness.highest) == (1, 4, 4)


@pytest.mark.parametrize(
    ("evidence", "complaint"),
    [
        (without(("completed", NOW)), "completed 0 times"),
        (without(("claimed", LATER)), "0 of 1 delayed"),
        (without(("scheduled", FAILING)), "failed 0 times: expected 2"),
        (replace(EVIDENCE, facts={NOW: FACTS}), "1 files have no result"),
        (replace(EVIDENCE, dead=[]), "dead"),
        (replace(EVIDENCE, dead=[NOW]), "dead"),
        (replace(EVIDENCE, counts=replace(COUNTS, scheduled=1)), "1 jobs still wait"),
        (replace(EVIDENCE, counts=replace(COUNTS, completed=2)), "counted 2 completed"),
        (replace(EVIDENCE, delays={NOW: 0}), "1 jobs that were not enqueued here"),
        (replace(EVIDENCE, delays={NOW: 0, LATER: 300}), "96 ms too early"),
    ],
)
def test_whatever_does_not_add_up_is_said(evidence: Evidence, complaint: str):
    assert complaint in " / ".join(audit(evidence).problems)


def test_a_job_that_completes_twice_does_not_add_up():
    twice = ledger([*HISTORY, (1_300, "completed", NOW, 2)])

    assert "completed 2 times" in " / ".join(audit(replace(EVIDENCE, ledger=twice)).problems)


def test_the_ledger_tells_a_retry_from_a_delay_and_counts_what_is_over():
    read = ledger(HISTORY)

    assert read.events["retried"] == 2
    assert read.events["scheduled"] == 1
    assert read.over == 4
    assert read.position == f"1205-{len(HISTORY) - 1}"


def test_a_recovered_job_is_counted_and_need_not_complete_at_once():
    history = [
        (1, "enqueued", NOW, 0),
        (2, "claimed", NOW, 1),
        (9, "recovered", NOW, 1),
        (10, "claimed", NOW, 2),
    ]

    read = ledger(history)

    assert read.stories[NOW].recoveries == 1
    assert read.stories[NOW].first_claim_ms == 2
    assert read.over == 0


def test_percentiles_are_values_that_were_measured():
    lateness = lateness_of([float(value) for value in range(1, 201)])

    assert lateness is not None
    assert (lateness.p50, lateness.p99, lateness.highest) == (100, 198, 200)
    assert lateness_of([]) is None
