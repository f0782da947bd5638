from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echomq_worker.domain.backoff import (
    DEFAULT_BACKOFF,
    Backoff,
    Exponential,
    Linear,
    Steps,
    backoff_from,
    backoff_text,
    custom,
    exponential,
    fixed,
    linear,
    read_backoff,
    steps,
)
from echomq_worker.errors import InvalidArgumentError

MS = st.integers(0, 10**12)
SHAPED = st.sampled_from(["none", "full", "equal"])
BACKOFFS = st.one_of(
    st.builds(
        Exponential,
        MS,
        MS,
        SHAPED | st.just("decorrelated"),
        st.integers(1, 1_000) | st.floats(1, 1_000, allow_nan=False),
    ),
    st.builds(Linear, MS, MS, SHAPED),
    st.builds(Steps, st.lists(MS, min_size=1, max_size=12).map(tuple), SHAPED),
)


@pytest.mark.parametrize(
    ("backoff", "text"),
    [
        (DEFAULT_BACKOFF, "exponential:1000:600000:2:full"),
        (exponential("1s", "1h", factor=1.5, jitter=False), "exponential:1000:3600000:1.5:none"),
        (exponential(jitter="decorrelated"), "exponential:1000:600000:2:decorrelated"),
        (linear("5s", jitter="equal"), "linear:5000:600000:equal"),
        (steps(["1s", "5s"]), "steps:1000,5000:none"),
        (fixed("30s", jitter=True), "steps:30000:full"),
    ],
)
def test_a_backoff_is_a_short_text(backoff: Backoff, text: str):
    assert backoff_text(backoff) == text
    assert read_backoff(text) == backoff
    assert backoff_from(text) == backoff


@given(BACKOFFS)
def test_what_is_written_is_read_back(backoff: Backoff):
    text = backoff_text(backoff)
    assert len(text) <= 200
    read = read_backoff(text)
    assert read is not None
    assert backoff_text(read) == text
    if isinstance(backoff, Exponential):
        assert isinstance(read, Exponential)
        assert read.factor == pytest.approx(backoff.factor)
    else:
        assert read == backoff


class Mine:
    def delay_ms(self, attempt: int, dice: Callable[[float, float], float]) -> int:
        del dice
        return attempt


@pytest.mark.parametrize("backoff", [custom(lambda _attempt: 1), Mine()])
def test_what_is_a_program_cannot_go_with_a_job(backoff: Backoff):
    with pytest.raises(InvalidArgumentError, match="belongs to the handler's declaration"):
        backoff_text(backoff)


@pytest.mark.parametrize(
    "backoff", [steps(["10m"] * 40), Steps((10**14,)), Linear(-5, 10), Steps(())]
)
def test_what_the_text_cannot_carry_is_refused(backoff: Backoff):
    with pytest.raises(InvalidArgumentError, match="at most 200 characters and waits up to 100"):
        backoff_text(backoff)


@pytest.mark.parametrize(
    "text",
    [
        *("", "exponential", "fixed:1000:none", "exponential:1000:600000:full", "steps::none"),
        *("exponential:1000:600000:0:full", "exponential:1000:600000:1001:full"),
        *("exponential:1000:600000:2:half", "exponential:-1:600000:2:full", "steps:1,:none"),
        *("linear:1000:600000:decorrelated", "steps:1000:decorrelated", "steps:9999999999999:none"),
        *("exponential:1000:600000:2:full\n", "exponential:\u0661:600000:2:full", "steps:1:none:2"),
        "steps:" + "1," * 200 + "1:none",
    ],
)
def test_any_other_text_is_none(text: str):
    assert read_backoff(text) is None


@given(st.text(max_size=60) | st.from_regex(r"(steps|linear|exponential)(:[0-9a-z.,]{0,9}){1,5}"))
def test_whatever_a_text_holds_it_is_read_or_none(text: Any):
    backoff = read_backoff(text)
    assert backoff is None or backoff.delay_ms(3, lambda low, _high: low) >= 0
