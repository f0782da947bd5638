"""Durations as people write them."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echomq_worker.domain.duration import LONGEST_MS, format_duration, parse_duration_ms
from echomq_worker.errors import InvalidArgumentError


@pytest.mark.parametrize(
    ("written", "ms"),
    [
        ("30s", 30_000),
        ("500ms", 500),
        ("1h30m", 5_400_000),
        ("1d2h3m4s5ms", 93_784_005),
        ("1.5s", 1_500),
        ("0", 0),
        ("0s", 0),
        ("20", 20_000),
        ("0.25", 250),
        (" 5s ", 5_000),
        (3, 3_000),
        (0.1, 100),
        (timedelta(minutes=2), 120_000),
        (timedelta(microseconds=1), 1),
        (Decimal("0.1"), 100),
        (Decimal("1e-30"), 1),
    ],
)
def test_a_duration_is_a_number_with_units_or_a_number_of_seconds(written: Any, ms: int):
    assert parse_duration_ms(written) == ms


@pytest.mark.parametrize("written", ["0.1ms", "0.0001", 0.0001, 1e-9])
def test_a_fraction_of_a_millisecond_is_rounded_up_never_down_to_nothing(written: str | float):
    assert parse_duration_ms(written) == 1


@pytest.mark.parametrize(
    "nonsense",
    [
        "", " ", "s", "ten", "5 s", "5x", "30S", "-1", "-1s", "+1s", "1s30m", "1s1s", "1m1h",
        "1e3", "1_000", "٣s", ".5s", "5.s", "nan", "inf", "1h30", "9" * 65,
        -1, -0.5, float("nan"), float("inf"), True, None, b"5s", timedelta(days=-1), [],
        Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Decimal("1e999999"), Decimal(-1),
    ],
)  # fmt: skip
def test_nonsense_is_refused_with_an_example_of_what_was_expected(nonsense: object):
    with pytest.raises(InvalidArgumentError, match=r"expected one such as 30s, 500ms or 1h30m"):
        parse_duration_ms(nonsense)  # pyright: ignore[reportArgumentType]


def test_a_number_that_is_too_long_to_be_shown_is_refused_like_any_other():
    with pytest.raises(InvalidArgumentError, match="thousands of digits is no duration"):
        parse_duration_ms(10**5000)


def test_a_hundred_years_is_the_limit():
    assert parse_duration_ms("36525d") == LONGEST_MS
    with pytest.raises(InvalidArgumentError):
        parse_duration_ms("36525d1ms")


@pytest.mark.parametrize(
    ("ms", "written"),
    [
        (0, "0s"), (7, "7ms"), (1_000, "1s"), (1_500, "1.5s"), (1_234, "1.234s"),
        (90_000, "1m30s"), (61_001, "1m1.001s"), (3_600_000, "1h"), (86_400_000, "1d"),
        (90_061_000, "1d1h1m1s"),
    ],
)  # fmt: skip
def test_a_duration_is_written_in_the_largest_units_that_fit(ms: int, written: str):
    assert format_duration(ms) == written


@given(st.integers(min_value=0, max_value=LONGEST_MS))
def test_what_was_written_reads_back_as_the_same_duration(ms: int):
    assert parse_duration_ms(format_duration(ms)) == ms


@given(st.text(max_size=80) | st.floats() | st.integers())
def test_whatever_comes_in_the_answer_is_a_duration_or_a_named_error(value: str | float):
    try:
        ms = parse_duration_ms(value)
    except InvalidArgumentError:
        return
    assert 0 <= ms <= LONGEST_MS
