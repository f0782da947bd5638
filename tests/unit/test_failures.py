import json
from dataclasses import replace

import pytest

from echomq_worker.domain.failures import (
    Failure,
    read_failures,
    remember,
    shorten,
)
from echomq_worker.domain.limits import FAILURES, FAILURES_BYTES

FAILURE = Failure(
    attempt=2, type="ValueError", message="no such user", at_ms=5, traceback="tb", worker="w:1"
)


def test_a_failure_is_kept_under_the_names_that_others_read():
    assert json.loads(remember(None, FAILURE)) == [
        {
            "attempt": 2,
            "type": "ValueError",
            "message": "no such user",
            "traceback": "tb",
            "worker": "w:1",
            "at": 5,
        }
    ]


def test_what_was_written_is_read_back():
    assert read_failures(remember(None, FAILURE)) == [FAILURE]


def test_only_the_last_five_are_kept_newest_last():
    history = None
    for attempt in range(1, 9):
        history = remember(history, replace(FAILURE, attempt=attempt))
    assert [failure.attempt for failure in read_failures(history)] == [4, 5, 6, 7, 8]


def test_a_history_stays_within_its_bounds_whatever_is_said():
    history = None
    for text in ("x" * 10**6, "\x00" * 10**5, "𝄞" * 10**5, "\ud800" * 10**5):
        failure = replace(FAILURE, message=text, traceback=text, type=text, worker=text)
        for _ in range(FAILURES):
            history = remember(history, failure)
            assert len(history) <= FAILURES_BYTES
            assert read_failures(history)[-1].message == shorten(shorten(text))


def test_when_space_is_short_old_tracebacks_go_before_old_messages():
    history = None
    for attempt in range(1, 6):
        failure = replace(FAILURE, attempt=attempt, traceback="\x01" * 900)
        history = remember(history, failure)
    failures = read_failures(history)
    assert [failure.message for failure in failures] == ["no such user"] * 5
    assert failures[0].traceback == ""
    assert failures[-1].traceback != ""


@pytest.mark.parametrize(
    "garbage", [b"", b"nonsense", b"\xff", b"{}", b"7", b"[1,null]", b"[" * 100_000]
)
def test_a_history_that_cannot_be_read_counts_as_none(garbage: bytes):
    assert read_failures(garbage) == []
    assert read_failures(remember(garbage, FAILURE)) == [FAILURE]


def test_entries_of_another_program_are_read_as_far_as_they_make_sense():
    (failure,) = read_failures(b'[{"type":7,"message":"m","attempt":true,"at":"x"}]')
    assert failure == Failure(attempt=0, type="", message="m", at_ms=0)


def test_a_long_text_loses_its_middle_and_says_so():
    short = shorten("a" * 600 + "b" * 600, 300)
    assert len(short) <= 300
    assert short.startswith("aaa")
    assert short.endswith("bbb")
    assert "900 characters left out" in short
