"""How jobs and outcomes are spelled for the scripts, and replies read back."""

from dataclasses import replace
from typing import Any

import pytest

from echomq_worker.domain.job import After, At, Claimed, Held, JobId, NewJob
from echomq_worker.domain.outcome import (
    Buried,
    Completed,
    HandedBack,
    Outcome,
    Retried,
    Snoozed,
    Verdict,
)
from echomq_worker.errors import InvalidArgumentError
from echomq_worker.protocol.rows import (
    held_operands,
    new_job_operands,
    outcome_operands,
    read_handout,
    read_ms,
    read_verdicts,
)

ID = JobId("JOB0NsUH6L9tuD")
HELD = Held(queue="mail", id=ID, payload=b"{}", token=3, claim="me.7")
WHO = (ID, 3, "me.7")


def test_a_plain_job_is_its_id_and_payload():
    assert new_job_operands(NewJob(ID, b"{}")) == [ID, b"{}", 0]


def test_a_due_job_says_when():
    assert new_job_operands(NewJob(ID, b"{}", At(99))) == [ID, b"{}", "at", 99, 0]
    assert new_job_operands(NewJob(ID, b"{}", After(5))) == [ID, b"{}", "in", 5, 0]


def test_only_what_is_not_default_is_spelled():
    job = NewJob(ID, b"{}", None, name="send", max_attempts=0, keep_result_ms=0)

    assert new_job_operands(job) == [ID, b"{}", 3, "name", "send", "max", 0, "keep", 0]


def test_what_few_jobs_have_is_announced_and_a_wait_to_be_started_comes_last():
    job = NewJob(ID, b"{}", timeout_ms=0, backoff="steps:1:none", expires=After(5))

    told = ["more", "1", "timeout", 0, "backoff", "steps:1:none", "expires_in", 5]
    assert new_job_operands(job) == [ID, b"{}", 4, *told]
    by = NewJob(ID, b"{}", At(1), expires=At(99))
    assert new_job_operands(by) == [ID, b"{}", "at", 1, 2, "more", "1", "expires", 99]


@pytest.mark.parametrize(
    ("unfit", "complaint"),
    [
        ({"name": "half \ud800"}, r"its name is 'half \\ud800': expected a text that UTF-8"),
        ({"name": b"x"}, "its name is b'x': expected a text"),
        ({"payload": "text"}, "its payload is a str: expected bytes"),
        ({"max_attempts": "3"}, "its max_attempts is '3': expected a whole number"),
        ({"keep_result_ms": 1.5}, "its keep_result_ms is 1.5: expected a whole number"),
        ({"timeout_ms": 1.5}, "its timeout_ms is 1.5: expected a whole number"),
        ({"backoff": b"x"}, "its backoff is b'x': expected a text"),
        ({"expires": After(1.5)}, "its expires is 1.5: expected a whole number"),  # pyright: ignore[reportArgumentType]
        ({"due": After(None)}, "its delay is None: expected a whole number"),  # pyright: ignore[reportArgumentType]
        ({"due": At(1.5)}, "its due time is 1.5: expected a whole number"),  # pyright: ignore[reportArgumentType]
    ],
)
def test_a_job_that_the_wire_cannot_carry_is_refused_by_its_id(
    unfit: dict[str, Any], complaint: str
):
    job = replace(NewJob(ID, b"{}"), **unfit)

    with pytest.raises(InvalidArgumentError, match=f"^job '{ID}': {complaint}"):
        new_job_operands(job)


OUTCOMES: list[tuple[Outcome, tuple[object, ...]]] = [
    (Completed(), ("C", *WHO, 0, b"", b"")),
    (Completed(b"7", 60), ("C", *WHO, 60, b"7", b"")),
    (Retried(50, "no", b"[]"), ("R", *WHO, 50, b"no", b"[]")),
    (Retried(50, "no", counted=False), ("r", *WHO, 50, b"no", b"")),
    (Buried("no", b"[]"), ("B", *WHO, 0, b"no", b"[]")),
    (Buried("no", b"[]", pauses=True), ("N", *WHO, 0, b"no", b"[]")),
    (Snoozed(50), ("S", *WHO, 50, b"", b"")),
    (Snoozed(50, unknown=True), ("U", *WHO, 50, b"", b"")),
    (Snoozed(50, until_ms=99), ("A", *WHO, 99, b"", b"")),
    (HandedBack(), ("H", *WHO, 0, b"", b"")),
    (HandedBack(started=True), ("h", *WHO, 0, b"", b"")),
]


@pytest.mark.parametrize(("outcome", "operands"), OUTCOMES)
def test_an_outcome_is_seven_operands(outcome: Outcome, operands: tuple[object, ...]):
    assert outcome_operands(HELD, outcome) == operands
    assert len(operands) == 7


@pytest.mark.parametrize("outcome", [Retried(0, "h\xe9 \udcff"), Buried("h\xe9 \udcff")])
def test_an_error_may_hold_what_utf_8_cannot_carry(outcome: Outcome):
    assert outcome_operands(HELD, outcome)[5] == b"h\xc3\xa9 \\udcff"


def test_held_jobs_are_three_operands_each():
    assert held_operands([]) == []
    assert held_operands([HELD, HELD]) == [*WHO, *WHO]


def test_verdicts_are_read_one_character_each():
    assert read_verdicts(b"0123") == [Verdict.GONE, Verdict.OK, Verdict.ALREADY, Verdict.STALE]
    assert read_verdicts(b"") == []


@pytest.mark.parametrize(
    ("score", "ms"),
    [
        (b"", None),
        (b"0", 0),
        (b"-3", -3),
        (b"1793491200123", 1_793_491_200_123),
        (b"1793491200123.001", 1_793_491_200_124),
        (b"1.793491200123e+12", 1_793_491_200_123),
        (b"-0.5", 0),
        (b"inf", None),
        (b"-inf", None),
        (b"nan", None),
    ],
)
def test_a_score_is_read_up_to_the_next_whole_ms(score: bytes, ms: int | None):
    assert read_ms(score) == ms


def handout(*row: Any) -> Claimed:
    return read_handout([99, b"120", 4, 1, 2, [list(row)] if row else [], []], "mail", "me.7")


def test_a_handout_is_read_whole():
    assert handout() == Claimed(
        now_ms=99, next_due_ms=120, left=4, paused=True, set_aside=2, jobs=[]
    )


def test_a_job_of_a_handout_is_read_whole():
    row = (b"JOB0NsUH6L9tuD", 3, b"\xff", b"send", b"9", b"1", b"2", b"[]", b"77", b"60", b"LAN")
    newer = (b"5000", b"steps:1:none", b"88", b"nightly", b"86", b"-7", b"acme")

    assert handout(*row, *newer).jobs == [
        Held(
            queue="mail",
            id=ID,
            payload=b"\xff",
            token=3,
            claim="me.7",
            name="send",
            max_attempts=9,
            returned=1,
            crashes=2,
            failures=b"[]",
            unknown_since_ms=77,
            keep_result_ms=60,
            group="LAN",
            timeout_ms=5_000,
            backoff="steps:1:none",
            expires_ms=88,
            scheduler="nightly",
            instant_ms=86,
            priority=-7,
            lane="acme",
        )
    ]


def test_a_job_of_another_runtime_has_only_a_payload():
    (job,) = handout(b"JOB0NsUH6L9tuD", b"1", b"{}", *[None] * 8).jobs

    assert job == Held(queue="mail", id=ID, payload=b"{}", token=1, claim="me.7")


@pytest.mark.parametrize("nonsense", [b"", b"-1", b"1.5", b"many", b"\xff", b"9" * 5_000])
def test_nonsense_in_a_number_is_read_as_if_it_were_not_there(nonsense: bytes):
    row = (b"JOB0NsUH6L9tuD", b"1", b"{}", None, *[nonsense] * 3, None, nonsense, nonsense, None)
    newer = (nonsense, None, nonsense, None, nonsense, b"-" + nonsense, None)

    (job,) = handout(*row, *newer).jobs

    assert (job.max_attempts, job.returned, job.crashes) == (None, 0, 0)
    assert (job.unknown_since_ms, job.keep_result_ms) == (None, None)
    assert (job.timeout_ms, job.expires_ms, job.instant_ms) == (None, None, None)
    assert job.priority == 0


def test_a_name_that_is_no_text_is_read_all_the_same():
    (job,) = handout(b"JOB0NsUH6L9tuD", b"1", b"{}", b"\xff", *[None] * 7).jobs

    assert job.name == "\N{REPLACEMENT CHARACTER}"


def test_a_limit_of_0_on_a_row_is_no_limit_of_its_own():
    (held,) = handout(ID.encode(), 1, b"{}", b"mail", b"0", b"0", b"0", None, b"", b"", None).jobs

    assert held.max_attempts is None
