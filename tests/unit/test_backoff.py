import logging
import math
import random
from collections.abc import Callable
from datetime import timedelta
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echomq_worker.domain.backoff import (
    DEFAULT_BACKOFF,
    Backoff,
    BackoffSpec,
    Duration,
    Exponential,
    backoff_from,
    custom,
    exponential,
    fixed,
    linear,
    steps,
)
from echomq_worker.errors import InvalidArgumentError


def highest(_low: float, high: float) -> float:
    return high


def lowest(low: float, _high: float) -> float:
    return low


def waits(backoff: Backoff, attempts: int) -> list[int]:
    """The longest wait after each of the first attempts."""
    return [backoff.delay_ms(attempt, highest) for attempt in range(1, attempts + 1)]


# --- the shapes -------------------------------------------------------------------------------


def test_the_default_doubles_from_one_second_to_ten_minutes_with_full_jitter():
    assert waits(DEFAULT_BACKOFF, 12) == [
        *(1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000),
        *(600_000, 600_000),
    ]
    assert DEFAULT_BACKOFF.delay_ms(3, lowest) == 0


@pytest.mark.case("RTY-01")
@pytest.mark.parametrize("attempt", [5_000, 10**9])
def test_a_very_high_attempt_waits_for_the_cap_and_does_not_overflow(attempt: int):
    assert exponential("1ms", "100d", jitter=False).delay_ms(attempt, lowest) == 8_640_000_000
    assert linear("1h", "1d").delay_ms(attempt, lowest) == 86_400_000


@given(st.integers(0, 10**13), st.integers(0, 10**13), st.integers(1, 200))
def test_an_exponential_wait_is_the_power_or_the_cap(base_ms: int, cap_ms: int, attempt: int):
    wait_ms = Exponential(base_ms, cap_ms, jitter=False).delay_ms(attempt, lowest)
    assert wait_ms == min(cap_ms, base_ms * 2 ** (attempt - 1))


@pytest.mark.case("RTY-07")
@given(st.integers(1, 20), st.integers(0, 10_000))
def test_jitter_spreads_over_the_whole_wait(attempt: int, seed: int):
    full = exponential(jitter=False).delay_ms(attempt, lowest)
    wait_ms = exponential().delay_ms(attempt, random.Random(seed).uniform)
    assert isinstance(wait_ms, int)
    assert 0 <= wait_ms <= full


def test_a_fixed_wait_is_the_same_after_each_attempt():
    assert waits(fixed("30s"), 3) == [30_000, 30_000, 30_000]


def test_a_linear_wait_grows_by_its_step_up_to_its_cap():
    assert waits(linear("10s", "25s"), 4) == [10_000, 20_000, 25_000, 25_000]


def test_steps_are_taken_one_by_one_and_the_last_stays():
    assert waits(steps(["1s", 5, timedelta(minutes=1)]), 5) == [
        *(1_000, 5_000, 60_000),
        *(60_000, 60_000),
    ]


@pytest.mark.parametrize(
    "jittered",
    [
        fixed("8s", jitter=True),
        linear("8s", jitter=True),
        steps(["8s"], jitter=True),
        exponential("8s"),
    ],
)
def test_every_shape_can_have_jitter(jittered: Backoff):
    assert jittered.delay_ms(1, lowest) == 0
    assert jittered.delay_ms(1, highest) == 8_000


@pytest.mark.parametrize(
    "make",
    [
        lambda: fixed("soon"),
        lambda: fixed(-1),
        lambda: fixed(math.nan),
        lambda: exponential("1s", "a while"),
        lambda: exponential(math.inf),
        lambda: linear("-1s"),
        lambda: steps(["1s", "later"]),
        lambda: steps(["101y"]),
    ],
)
def test_a_wait_that_is_no_duration_is_refused_at_once(make: Callable[[], Backoff]):
    with pytest.raises(InvalidArgumentError, match="is no duration"):
        make()


def test_an_empty_list_of_steps_is_refused():
    with pytest.raises(InvalidArgumentError, match="at least one duration"):
        steps([])


# --- the application's own function -----------------------------------------------------------


def test_a_function_gets_the_failed_attempt_and_returns_any_duration():
    asked: list[int] = []

    def own(attempt: int) -> Duration:
        asked.append(attempt)
        return {1: 2, 2: "3s", 3: timedelta(seconds=4), 4: 0.5}[attempt]

    assert waits(custom(own), 4) == [2_000, 3_000, 4_000, 500]
    assert asked == [1, 2, 3, 4]


class Float64(float):
    """A float that shows itself otherwise, as numpy's do."""

    def __repr__(self) -> str:
        return f"np.float64({float(self)})"


def test_a_function_may_return_a_float_of_another_library():
    assert custom(lambda _attempt: Float64(1.5)).delay_ms(1, highest) == 1_500


def raises(_attempt: int) -> Duration:
    msg = "out of luck"
    raise RuntimeError(msg)


NONSENSE: list[object] = [
    *(math.nan, math.inf, -1, 10**12, 10**400),
    *(None, "tomorrow", [1], True),
]


def returning(value: object) -> Callable[[int], Duration]:
    return cast("Callable[[int], Duration]", lambda _attempt: value)  # pyright: ignore[reportUnknownLambdaType]


@pytest.mark.case("RTY-01")
@pytest.mark.parametrize(
    "function",
    [
        raises,
        cast("Callable[[int], Duration]", lambda: 1),
        *(returning(value) for value in NONSENSE),
    ],
)
def test_a_function_that_fails_or_talks_nonsense_falls_back_to_the_default_and_says_so(
    function: Callable[[int], Duration], caplog: pytest.LogCaptureFixture
):
    with caplog.at_level(logging.WARNING):
        assert custom(function).delay_ms(4, highest) == DEFAULT_BACKOFF.delay_ms(4, highest)
    (line,) = caplog.messages
    assert "for attempt 4" in line
    assert "the default backoff is used" in line


def test_an_async_function_is_refused():
    async def later(_attempt: int) -> float:
        return 1

    with pytest.raises(InvalidArgumentError, match="a plain function, not an async one"):
        backoff_from(later)  # pyright: ignore[reportArgumentType]


# --- what a decorator accepts -----------------------------------------------------------------


class Mine:
    def delay_ms(self, attempt: int, dice: object) -> int:
        del dice
        return attempt


def the_attempt(attempt: int) -> Duration:
    return attempt


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("exponential", [1_000, 2_000, 4_000]),
        ("30s", [30_000] * 3),
        (5, [5_000] * 3),
        (0.25, [250] * 3),
        (timedelta(seconds=2), [2_000] * 3),
        (["1s", "2s"], [1_000, 2_000, 2_000]),
        ((1, 2), [1_000, 2_000, 2_000]),
        (the_attempt, [1_000, 2_000, 3_000]),
        (linear("1s"), [1_000, 2_000, 3_000]),
        (Mine(), [1, 2, 3]),
    ],
)
def test_a_backoff_is_made_of_what_was_given(spec: BackoffSpec, expected: list[int]):
    assert waits(backoff_from(spec), 3) == expected


@pytest.mark.parametrize("spec", [None, {"1s": 1}, object(), b"1s"])
def test_anything_else_is_refused_with_what_can_be_given(spec: BackoffSpec):
    with pytest.raises(InvalidArgumentError, match="expected 'exponential', a duration such as"):
        backoff_from(spec)


def test_a_word_that_is_no_backoff_is_refused():
    with pytest.raises(InvalidArgumentError, match="'quadratic' is no duration"):
        backoff_from("quadratic")
