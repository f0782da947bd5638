import math
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echomq_worker.domain.backoff import Duration
from echomq_worker.domain.scheduling.plan import upcoming
from echomq_worker.domain.scheduling.rule import LAST_INSTANT_MS, Every, every_rule
from echomq_worker.errors import InvalidArgumentError
from tests.unit.scheduling_fakes import DAY, HOUR, MINUTE, SECOND, START


def test_the_grid_of_an_interval_counts_from_1970():
    assert upcoming(every_rule("15m"), 3, after_ms=START) == [
        START + 15 * MINUTE,
        START + 30 * MINUTE,
        START + 45 * MINUTE,
    ]


def test_an_offset_shifts_the_grid():
    rule = every_rule("1h", offset="10m")
    assert upcoming(rule, 2, after_ms=START) == [START + 10 * MINUTE, START + 70 * MINUTE]


def test_a_grid_may_begin_anywhere_and_nothing_is_before_it():
    rule = every_rule("7d", anchor_ms=START + 5)
    assert rule.next_ms(0) == START + 5
    assert rule.next_ms(START + 5) == START + 5 + 7 * DAY


@given(
    period=st.integers(100, 10**9),
    offset=st.integers(0, 10**9),
    anchor=st.integers(0, START),
    after=st.integers(-DAY, 2 * START),
)
def test_the_next_instant_is_the_first_of_the_grid_that_is_strictly_later(
    period: int, offset: int, anchor: int, after: int
):
    rule = Every(period, offset % period, anchor)
    instant = rule.next_ms(after)
    assert instant is not None
    first = anchor + offset % period
    assert instant > after
    assert instant >= first
    assert (instant - first) % period == 0
    assert instant - period <= after or instant == first


def test_no_instant_is_later_than_ids_can_say():
    rule = Every(DAY)
    assert rule.next_ms(LAST_INSTANT_MS - DAY) is not None
    assert rule.next_ms(LAST_INSTANT_MS) is None
    assert Every(36_525 * DAY, 1, LAST_INSTANT_MS).next_ms(0) is None


@pytest.mark.parametrize(
    ("every", "period_ms"),
    [
        ("15m", 15 * MINUTE),
        (30, 30 * SECOND),
        (0.1, 100),
        (timedelta(hours=1), HOUR),
        ("1h30m", 90 * MINUTE),
    ],
)
def test_an_interval_is_a_duration(every: Duration, period_ms: int):
    assert every_rule(every).period_ms == period_ms


@pytest.mark.parametrize(
    ("every", "problem"),
    [
        (0, "the interval is 0s: expected at least 100ms"),
        (0.099, "the interval is 99ms: expected at least 100ms"),
        (-1, "-1 is no duration"),
        ("-15m", "'-15m' is no duration"),
        (math.nan, "nan is no duration"),
        (math.inf, "inf is no duration"),
        (timedelta(seconds=-1), "is no duration"),
        ("often", "'often' is no duration"),
        ("101y", "is no duration"),
        (True, "True is no duration"),
    ],
)
def test_what_is_no_interval_is_refused(every: Duration, problem: str):
    with pytest.raises(InvalidArgumentError, match=problem):
        every_rule(every)


@pytest.mark.parametrize("offset", ["1m", "2m"])
def test_an_offset_is_shorter_than_the_interval(offset: str):
    with pytest.raises(InvalidArgumentError, match="expected less than the interval, which is 1m"):
        every_rule("1m", offset=offset)


def test_a_negative_offset_or_a_grid_before_1970_is_refused():
    with pytest.raises(InvalidArgumentError, match="the offset is -5ms"):
        Every(1_000, -5)
    with pytest.raises(InvalidArgumentError, match="expected 1970 to 2093"):
        Every(1_000, 0, -1)


def test_an_interval_says_itself_in_english():
    assert every_rule("15m").describe() == "every 15m"
    assert every_rule(90, offset=5).describe() == "every 1m30s, 5s after the full interval"
