"""What the demonstration shows meanwhile, and the account that it gives in the end."""

import io
from collections import Counter
from dataclasses import replace

from echomq_worker.demo.account import account, account_for_programs
from echomq_worker.demo.audit import Summary
from echomq_worker.demo.lateness import Lateness
from echomq_worker.demo.screen import Screen

SUMMARY = Summary(
    jobs=2_002,
    seconds=4.0,
    completed=2_001,
    immediate=1_600,
    delayed=400,
    retried=1,
    dead=1,
    recovered=0,
    unreadable=0,
    files=2_000,
    size=3 << 20,
    lines=12_345,
    lateness=Lateness(400, 0, 1, 3, 5),
)


def test_off_a_terminal_there_is_no_bar():
    stream = io.StringIO()
    screen = Screen(stream, total=4)

    screen.progress(2, Counter())
    screen.finish()

    assert stream.getvalue() == ""


def test_the_bar_shows_how_far_it_is_and_what_has_happened():
    stream = io.StringIO()
    screen = Screen(stream, total=4, bar=True)

    screen.progress(2, Counter(retried=1, promoted=2))

    shown = stream.getvalue().rpartition("\x1b[2K")[2]
    assert shown == f"[{'#' * 14}{'-' * 14}]  2/4 jobs  2 came due  1 retried"


def test_lines_go_above_the_bar_which_is_taken_away_in_the_end():
    stream = io.StringIO()
    screen = Screen(stream, total=1, bar=True)
    screen.progress(1, Counter())

    screen.say("hello")
    screen.finish()

    assert "\r\x1b[2Khello\n[####" in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[2K")


def test_only_so_many_lines_of_a_kind_are_told():
    stream = io.StringIO()
    screen = Screen(stream, total=100)

    for _ in range(50):
        screen.happened("recovered", "JOB0NsUH6L9tuD")
        screen.happened("completed", "JOB0NsUH6L9tuD")
    screen.happened("dead", "JOB0NsUH6L9tuD")

    lines = stream.getvalue().splitlines()
    assert len(lines) == 5 + 1 + 1
    assert "out of attempts" in lines[-1]


def test_the_account_tells_every_outcome_and_that_it_adds_up():
    text = "\n".join(account(SUMMARY, "valkey 9.1.2", workers=1, killed=0))

    assert "2,002 jobs in 4.0 s, 500 a second, on valkey 9.1.2" in text
    assert "1,600  completed without waiting" in text
    assert "late by 1 ms (p50), 3 ms (p99), 5 ms (max), never early" in text
    assert "2,000 files read: 3MiB, 12,345 lines" in text
    assert "2,002 enqueued = 2,001 completed + 1 dead" in text
    assert "killed" not in text


def test_what_does_not_add_up_stands_at_the_end():
    broken = replace(SUMMARY, problems=["3 jobs still wait or run"], unreadable=2)

    lines = list(account(broken, "valkey 9.1.2", workers=2, killed=1))

    assert lines[-2:] == ["IT DOES NOT ADD UP:", "  3 jobs still wait or run"]
    assert "1 of 2 workers killed" in "\n".join(lines)
    assert "(2 could not be read)" in "\n".join(lines)


def test_programs_get_the_same_numbers():
    told = account_for_programs(SUMMARY, "valkey 9.1.2", workers=1, killed=0)

    assert told["adds_up"] is True
    assert told["lateness_ms"] == {"count": 400, "min": 0, "p50": 1, "p99": 3, "max": 5}
    assert told["completed"] == 2_001
    without = replace(SUMMARY, lateness=None, problems=["x"])
    told = account_for_programs(without, "valkey 9.1.2", workers=1, killed=0)
    assert (told["lateness_ms"], told["adds_up"]) == (None, False)
