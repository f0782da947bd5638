"""Log lines for people at a terminal."""

import time
from typing import Any

import pytest

from echomq_worker.domain.printable import printable
from echomq_worker.observe.console import _LIFE, _SENTENCES, Console, seconds

EIGHTEEN = time.struct_time((2026, 11, 30, 18, 0, 1, 0, 334, 0))
JOB: dict[str, Any] = {
    "queue": "default",
    "job_name": "email.send",
    "job_id": "JOB0NsUH6L9tuD",
    "attempt": 1,
}
FAILURE: dict[str, Any] = {
    **JOB,
    "max_attempts": 3,
    "duration": 2.1,
    "error_type": "TimeoutError",
    "error_message": "pdf service",
}


def shown(
    event: str, level: str = "info", *, console: Console | None = None, **fields: object
) -> str:
    console = console or Console(clock=lambda: EIGHTEEN)
    return console(
        None, level, {"timestamp": "", "level": level, "event": event, **fields}
    ).decode()


def test_a_completed_job_is_one_short_line():
    assert shown("job.completed", **JOB, duration=0.182, age=0.034) == (
        "18:00:01 ✓ email.send JOB0NsUH6L9tuD 182 ms (started 34 ms after its enqueue)"
    )


def test_a_failed_attempt_says_why_and_when_the_next_one_is():
    assert shown("job.failed", "warning", **FAILURE, next_run_in=1.0) == (
        "18:00:01 ! email.send JOB0NsUH6L9tuD attempt 1/3 failed after 2.1 s: "
        "TimeoutError: pdf service; next try in 1.0 s"
    )


def test_a_dead_job_says_why():
    assert shown("job.buried", "error", **FAILURE, reason="out of attempts") == (
        "18:00:01 ✗ email.send JOB0NsUH6L9tuD attempt 1/3 failed after 2.1 s: "
        "TimeoutError: pdf service; dead: out of attempts"
    )


def test_a_dead_job_does_not_say_the_same_thing_twice():
    assert shown("job.buried", "error", **FAILURE, reason="TimeoutError: pdf service") == (
        "18:00:01 ✗ email.send JOB0NsUH6L9tuD attempt 1/3 failed after 2.1 s: "
        "TimeoutError: pdf service; dead"
    )


def test_a_stop_is_told_in_sentences():
    assert shown("worker.started", queues=["mail:2", "default"], slots=32) == (
        "18:00:01 started: claims jobs from mail:2, default"
    )
    assert shown("worker.draining", reason="SIGINT", running=0, job_names=[]) == (
        "18:00:01 draining (SIGINT): nothing runs"
    )
    names = ["report.render"]
    assert shown("worker.draining", reason="SIGINT", running=1, job_names=names, budget=25.0) == (
        "18:00:01 draining (SIGINT): 1 running (report.render), up to 25.0 s. Ctrl-C again cancels."
    )
    assert shown("worker.stopped", exit_code=0, after=11.0, did="2 completed, 1 retried") == (
        "18:00:01 stopped cleanly after 11.0 s: 2 completed, 1 retried"
    )
    assert "exit code 75" in shown("worker.stopped", exit_code=75, after=25.0, did="no jobs")


def test_a_job_that_was_handed_back_or_asked_for_later_says_so():
    assert "handed back after 3.2 s (shutdown)" in shown("job.returned", **JOB, duration=3.2)
    assert "asked to run again in 1m30s" in shown("job.snoozed", **JOB, next_run_in=90)


def test_a_line_that_lacks_everything_is_still_a_line():
    for event in (*_SENTENCES, *_LIFE):
        assert len(shown(event).splitlines()) == 1


def test_other_events_are_shown_with_their_fields():
    assert shown("worker.dump", running=7, budget="25 s") == (
        '18:00:01 worker.dump running=7 budget="25 s"'
    )
    assert shown("loop.blocked", "warning", lag=1.4) == "18:00:01 warning loop.blocked lag=1.4"


def test_what_is_the_same_on_every_line_is_left_out():
    assert shown("x", worker="h:1", logger="echomq") == "18:00:01 x"


def test_a_traceback_stands_below_its_line_but_not_for_an_attempt_that_is_repeated():
    traceback = "Traceback:\n  File x"
    verbose = Console(tracebacks=True, clock=lambda: EIGHTEEN)

    assert shown("oops", exception=traceback).splitlines()[1:] == ["    Traceback:", "      File x"]
    assert len(shown("job.failed", **FAILURE, exception=traceback).splitlines()) == 1
    assert (
        len(shown("job.failed", **FAILURE, exception=traceback, console=verbose).splitlines()) == 3
    )
    assert len(shown("job.buried", **FAILURE, exception=traceback).splitlines()) == 3


HOSTILE = "\x1b[2J\x9b1m\rover\nnew\u2028line\x00"


@pytest.mark.parametrize("event", ["job.completed", "job.failed", "other", HOSTILE])
def test_job_text_cannot_move_the_cursor_or_make_lines_of_its_own(event: str):
    text = shown(
        event,
        job_name=HOSTILE,
        job_id=HOSTILE,
        error_type=HOSTILE,
        error_message=HOSTILE,
        reason=HOSTILE,
    )

    assert len(text.splitlines()) == 1
    assert not set("\x1b\x9b\r\x00") & set(text)


def test_a_traceback_cannot_send_codes_to_the_terminal():
    text = shown("x", exception=f"a\n{HOSTILE}")

    assert not set("\x1b\x9b\r\x00") & set(text)


def test_colours_and_signs_are_used_where_they_can_be():
    plain = Console(unicode=False, clock=lambda: EIGHTEEN)
    bright = Console(colour=True, clock=lambda: EIGHTEEN)

    assert shown("job.completed", **JOB, duration=1, console=plain).startswith("18:00:01 + email")
    assert "\x1b[32m✓\x1b[0m" in shown("job.completed", **JOB, duration=1, console=bright)
    assert "\x1b[33mwarning\x1b[0m" in shown("x", "warning", console=bright)
    assert shown("ä", console=plain) == "18:00:01 \\xe4"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0001, "0.1 ms"), (0.182, "182 ms"), (1, "1.0 s"), (59.94, "59.9 s"), (90, "1m30s"),
        (7200, "2h"), (0, "0.0 ms"), (None, "?"), (-1, "?"), ("x", "?"),
    ],
)  # fmt: skip
def test_seconds_are_written_for_people(value: object, text: str):
    assert seconds(value) == text


def test_printable_text_is_left_as_it_is():
    assert printable("ä ✓ \t x") == "ä ✓ \t x"
