import logging
from dataclasses import replace
from typing import Any

import pytest

from echomq_worker.domain.backoff import fixed, steps
from echomq_worker.domain.decision import (
    RetryPolicy,
    after_discard,
    after_failure,
    without_handler,
)
from echomq_worker.domain.failures import Failure, read_failures
from echomq_worker.domain.job import Held, JobId
from echomq_worker.domain.limits import UNCOUNTED
from echomq_worker.domain.outcome import Buried, Retried, Snoozed

HELD = Held("mail", JobId("JOB0NsUH6L9tuD"), b"{}", token=1, claim="c")
POLICY = RetryPolicy(max_attempts=3)
HOUR_MS = 3_600_000


def longest(_low: float, high: float) -> float:
    return high


def failure(error: BaseException, attempt: int = 1) -> Failure:
    return Failure(attempt=attempt, type=type(error).__name__, message=str(error), at_ms=7)


def decide(
    held: Held = HELD,
    error: BaseException | None = None,
    policy: RetryPolicy = POLICY,
    after_ms: int | None = None,
) -> Retried | Buried:
    error = ValueError("no such user") if error is None else error
    return after_failure(
        held, error, failure(error, held.attempt), policy, longest, after_ms=after_ms
    )


def test_a_failed_attempt_is_tried_again_after_the_backoff():
    outcome = decide(policy=replace(POLICY, backoff=steps(["4s", "9s"])))
    assert isinstance(outcome, Retried)
    assert (outcome.delay_ms, outcome.counted) == (4_000, True)
    assert outcome.error == "ValueError: no such user"
    assert [kept.message for kept in read_failures(outcome.failures)] == ["no such user"]


def test_the_wait_grows_with_the_attempt():
    held = replace(HELD, token=2)
    outcome = decide(held, policy=replace(POLICY, backoff=steps(["4s", "9s"])))
    assert isinstance(outcome, Retried)
    assert outcome.delay_ms == 9_000


def test_after_the_last_attempt_the_job_is_buried():
    outcome = decide(replace(HELD, token=3))
    assert isinstance(outcome, Buried)
    assert outcome.error == "ValueError: no such user"
    assert read_failures(outcome.failures)[-1].attempt == 3


def test_the_jobs_own_number_of_attempts_wins():
    assert isinstance(decide(replace(HELD, max_attempts=1)), Buried)
    assert isinstance(decide(replace(HELD, token=3, max_attempts=4)), Retried)


def test_claims_that_do_not_count_use_up_no_attempt():
    assert isinstance(decide(replace(HELD, token=9, returned=7)), Retried)
    assert isinstance(decide(replace(HELD, token=10, returned=7)), Buried)


def test_listed_exceptions_bury_at_once_and_so_do_their_kinds():
    assert isinstance(decide(policy=replace(POLICY, bury_on=(ValueError,))), Buried)
    kind = UnicodeError("bad text")
    assert isinstance(decide(error=kind, policy=replace(POLICY, bury_on=(ValueError,))), Buried)
    assert isinstance(decide(policy=replace(POLICY, bury_on=(KeyError,))), Retried)


def test_an_exception_that_does_not_count_is_tried_again_even_after_the_last_attempt():
    outcome = decide(replace(HELD, token=3), policy=replace(POLICY, uncounted_on=(ValueError,)))
    assert isinstance(outcome, Retried)
    assert not outcome.counted


def test_the_wait_grows_although_the_attempt_stands_still():
    policy = replace(POLICY, uncounted_on=(ValueError,))
    held, waits = HELD, list[int]()
    for _ in range(6):
        outcome = decide(held, policy=policy)
        assert isinstance(outcome, Retried)
        waits.append(outcome.delay_ms)
        held = replace(held, token=held.token + 1, returned=held.returned + 1)
        held = replace(held, failures=outcome.failures)
    assert waits == [1_000, 2_000, 4_000, 8_000, 16_000, 16_000]


def test_exceptions_that_do_not_count_count_once_there_were_too_many():
    held = replace(HELD, token=UNCOUNTED + 1, returned=UNCOUNTED)
    outcome = decide(held, policy=replace(POLICY, uncounted_on=(ValueError,)))
    assert isinstance(outcome, Retried)
    assert outcome.counted


def test_the_handlers_own_wait_wins_over_the_backoff():
    outcome = decide(after_ms=123)
    assert isinstance(outcome, Retried)
    assert outcome.delay_ms == 123


def test_a_wait_asked_for_does_not_get_around_the_last_attempt():
    assert isinstance(decide(replace(HELD, token=3), after_ms=123), Buried)


@pytest.mark.parametrize(
    "answer", [float("nan"), float("inf"), -1, None, "5s", 10**30, ZeroDivisionError()]
)
def test_a_backoff_that_fails_or_answers_nonsense_is_replaced_by_the_default(
    answer: Any, caplog: pytest.LogCaptureFixture
):
    class Broken:
        def delay_ms(self, attempt: int, dice: Any) -> int:  # noqa: ARG002
            if isinstance(answer, Exception):
                raise answer
            return answer

    with caplog.at_level(logging.WARNING):
        outcome = decide(replace(HELD, token=2), policy=replace(POLICY, backoff=Broken()))
    assert isinstance(outcome, Retried)
    assert outcome.delay_ms == 2_000
    assert "the default backoff is used" in caplog.text


def test_a_long_error_is_cut():
    outcome = decide(error=ValueError("x" * 10**6))
    assert len(outcome.error) < 1_100


def test_an_error_without_a_text_is_named_by_its_kind():
    assert decide(error=ValueError()).error == "ValueError"


def test_a_discarded_job_is_buried_with_the_reason():
    outcome = after_discard(HELD, failure(RuntimeError("gone for good")))
    assert outcome.error == "RuntimeError: gone for good"
    assert len(read_failures(outcome.failures)) == 1


def unknown(since_ms: int | None, now_ms: int) -> Snoozed | Buried:
    held = replace(HELD, unknown_since_ms=since_ms)
    return without_handler(held, now_ms, failure(LookupError("no handler")))


def test_a_job_without_handler_is_put_back_for_a_second_first():
    assert unknown(None, 5) == Snoozed(1_000, unknown=True)


def test_it_waits_twice_as_long_each_time_up_to_a_minute():
    now_ms, waits = 10_000, list[int]()
    for _ in range(9):
        outcome = unknown(None if not waits else 10_000, now_ms)
        assert isinstance(outcome, Snoozed)
        waits.append(outcome.delay_ms)
        now_ms += outcome.delay_ms
    assert waits == [1_000, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]


def test_it_is_buried_only_when_it_was_unknown_for_an_hour():
    assert isinstance(unknown(1_000, 1_000 + HOUR_MS - 1), Snoozed)
    outcome = unknown(1_000, 1_000 + HOUR_MS)
    assert isinstance(outcome, Buried)
    assert outcome.error == "LookupError: no handler"


def test_a_server_clock_that_was_set_back_does_no_harm():
    assert unknown(1_000_000, 5) == Snoozed(1_000, unknown=True)


def test_a_fixed_backoff_is_used_as_it_is():
    outcome = decide(policy=replace(POLICY, backoff=fixed("7s")))
    assert isinstance(outcome, Retried)
    assert outcome.delay_ms == 7_000
