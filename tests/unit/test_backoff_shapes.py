"""The factor of an exponential backoff, and the ways to spread any backoff."""

import math
import random
import statistics
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echomq_worker.domain.backoff import (
    Backoff,
    Duration,
    Exponential,
    Jitter,
    JitterSpec,
    Linear,
    Steps,
    exponential,
    fixed,
    linear,
    steps,
)
from echomq_worker.errors import InvalidArgumentError

HOUR = 3_600_000


def highest(_low: float, high: float) -> float:
    return high


def lowest(low: float, _high: float) -> float:
    return low


def seeded(seed: int) -> Callable[[float, float], float]:
    return random.Random(seed).uniform


# --- the factor -------------------------------------------------------------------------------


@pytest.mark.case("RTY-01")
@pytest.mark.parametrize("factor", [2, 5])
def test_the_wait_is_the_power_or_the_cap_after_every_attempt(factor: int):
    backoff = exponential("1s", "1h", factor=factor, jitter=False)
    for attempt in (*range(1, 65), 1_024, 1_025, 10_000):
        assert backoff.delay_ms(attempt, lowest) == min(HOUR, 1_000 * factor ** (attempt - 1))


@pytest.mark.case("RTY-01")
@pytest.mark.parametrize(
    ("factor", "jitter"),
    [(2, "full"), (5, "full"), (2, "equal"), (5, "equal"), (2, "decorrelated")],
)
def test_a_spread_wait_stays_between_nothing_and_the_cap(factor: int, jitter: Any):
    backoff = exponential("1s", "1h", factor=factor, jitter=jitter)
    dice = seeded(7)
    for attempt in (*range(1, 65), 1_024, 1_025, 10_000):
        for _ in range(20):
            assert 0 <= backoff.delay_ms(attempt, dice) <= HOUR


@given(
    base=st.integers(0, 10**12),
    cap=st.integers(0, 10**12),
    factor=st.integers(1, 1_000),
    attempt=st.integers(1, 10**6),
)
def test_no_exponential_is_longer_than_its_cap_or_than_its_power(
    base: int, cap: int, factor: int, attempt: int
):
    wait = Exponential(base, cap, False, factor).delay_ms(attempt, lowest)  # noqa: FBT003
    assert wait == min(cap, base * factor ** min(attempt - 1, 60))


def test_a_factor_may_be_a_fraction():
    backoff = exponential("1s", "10s", factor=1.5, jitter=False)
    waits = [backoff.delay_ms(attempt, lowest) for attempt in (1, 2, 3, 4, 10_000)]
    assert waits == [1_000, 1_500, 2_250, 3_375, 10_000]


def test_a_factor_of_one_is_a_fixed_wait():
    assert exponential("1s", factor=1, jitter=False).delay_ms(9_999, lowest) == 1_000


@pytest.mark.parametrize("factor", [0, 0.99, -2, 1_001, math.nan, math.inf, True, "2", None])
def test_a_factor_that_cannot_grow_is_refused(factor: Any):
    with pytest.raises(InvalidArgumentError, match="expected 1 to 1000"):
        exponential(factor=factor)


def one_step(wait: Duration, *, jitter: JitterSpec) -> Backoff:
    return steps([wait], jitter=jitter)


# --- jitter -----------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [fixed, linear, one_step])
def test_equal_jitter_keeps_half_of_the_wait(make: Callable[..., Backoff]):
    backoff = make("8s", jitter="equal")
    assert backoff.delay_ms(1, lowest) == 4_000
    assert backoff.delay_ms(1, highest) == 8_000


def test_equal_jitter_of_an_odd_wait_reaches_the_whole_of_it():
    assert Steps((7,), "equal").delay_ms(1, highest) == 7
    assert Steps((7,), "equal").delay_ms(1, lowest) == 3
    assert Steps((0,), "equal").delay_ms(1, highest) == 0


def test_decorrelated_jitter_grows_from_the_wait_before_up_to_the_cap():
    backoff = exponential("1s", "20s", jitter="decorrelated")
    assert [backoff.delay_ms(attempt, highest) for attempt in range(1, 6)] == [
        *(3_000, 9_000, 20_000, 20_000, 20_000)
    ]
    assert backoff.delay_ms(9, lowest) == 1_000


def test_decorrelated_jitter_takes_no_factor():
    with pytest.raises(InvalidArgumentError, match="factor 3 and jitter 'decorrelated'"):
        exponential("1s", factor=3, jitter="decorrelated")


def test_decorrelated_jitter_with_a_base_over_the_cap_waits_for_the_cap():
    assert Exponential(9_000, 1_000, "decorrelated").delay_ms(3, highest) == 1_000
    assert Exponential(0, 1_000, "decorrelated").delay_ms(3, highest) == 0


def test_decorrelated_jitter_draws_a_bounded_number_of_times():
    drawn: list[float] = []

    def counting(low: float, high: float) -> float:
        drawn.append(high)
        return low

    exponential(jitter="decorrelated").delay_ms(10**9, counting)
    assert len(drawn) <= 500


def test_decorrelated_jitter_spreads_as_its_formula_does_when_the_wait_is_remembered():
    def remembering(dice: Callable[[float, float], float]) -> float:
        wait = 1_000.0
        for _ in range(4):
            wait = min(60_000, dice(1_000, wait * 3))
        return wait

    dice = seeded(5)
    ours = [exponential("1s", "1m", jitter="decorrelated").delay_ms(4, dice) for _ in range(4_000)]
    theirs = [remembering(dice) for _ in range(4_000)]
    assert statistics.mean(ours) == pytest.approx(statistics.mean(theirs), rel=0.1)
    assert statistics.stdev(ours) == pytest.approx(statistics.stdev(theirs), rel=0.1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: fixed("1s", jitter="decorrelated"),
        lambda: linear("1s", jitter="decorrelated"),
        lambda: steps(["1s"], jitter="decorrelated"),
    ],
)
def test_decorrelated_jitter_belongs_to_exponential_only(make: Callable[[], Backoff]):
    with pytest.raises(InvalidArgumentError, match="expected it with exponential only"):
        make()


@pytest.mark.parametrize("jitter", ["some", "", None, 1, 0.5, ["full"]])
def test_what_is_no_jitter_is_refused_with_the_words(jitter: Any):
    with pytest.raises(InvalidArgumentError, match="'none', 'full', 'equal', 'decorrelated'"):
        exponential(jitter=jitter)
    with pytest.raises(InvalidArgumentError, match="'none', 'full', 'equal', 'decorrelated'"):
        fixed("1s", jitter=jitter)


def test_true_is_full_jitter_and_false_is_none():
    assert exponential(jitter=True) == exponential(jitter="full") == Exponential(1_000, 600_000)
    assert linear("1s", jitter=False) == Linear(1_000, 600_000, Jitter.NONE)
    assert fixed("1s", jitter=True) == Steps((1_000,), "full")


@pytest.mark.parametrize("jitter", ["full", "equal", "decorrelated"])
@given(seed=st.integers(0, 10_000), attempt=st.integers(1, 50))
def test_a_seeded_die_gives_the_same_waits_again(jitter: Any, seed: int, attempt: int):
    backoff = exponential(jitter=jitter)
    once, again = seeded(seed), seeded(seed)
    assert [backoff.delay_ms(attempt, once) for _ in range(5)] == [
        backoff.delay_ms(attempt, again) for _ in range(5)
    ]


@pytest.mark.case("RTY-07")
def test_jobs_that_failed_together_do_not_come_back_together():
    dice = seeded(1)
    for jitter in ("full", "equal", "decorrelated"):
        waits = [exponential("1s", "1m", jitter=jitter).delay_ms(4, dice) for _ in range(1_000)]
        in_the_busiest_tenth = max(
            sum(first <= wait < first + 800 for wait in waits) for first in range(0, 60_000, 800)
        )
        assert in_the_busiest_tenth < 400


def test_a_text_is_no_list_of_steps():
    with pytest.raises(InvalidArgumentError, match="a list of durations"):
        steps("12")


def test_decorrelated_jitter_reaches_a_cap_that_is_far_away():
    backoff = exponential("1ms", "1d", jitter="decorrelated")

    assert backoff.delay_ms(400, lambda low, high: low + 0.38 * (high - low)) == 86_400_000
