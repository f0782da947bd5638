import pytest
from hypothesis import given
from hypothesis import strategies as st

from echomq_worker.domain.scheduling.misfire import (
    Misfire,
    all_missed,
    latest_missed,
    misfire_from,
    no_missed,
)
from echomq_worker.domain.scheduling.overlap import Overlap, overlap_from
from echomq_worker.errors import InvalidArgumentError
from tests.unit.scheduling_fakes import DAY


@pytest.mark.parametrize(
    ("text", "policy"),
    [
        ("latest", latest_missed()),
        (" latest ", latest_missed()),
        ("latest(within=1h)", latest_missed(within="1h")),
        ("none", no_missed()),
        ("none(within=5m)", no_missed(within="5m")),
        ("all", all_missed()),
        ("all()", all_missed()),
        ("all(max=5)", all_missed(max=5)),
        ("all(max=5, within=1d)", all_missed(max=5, within="1d")),
        ("all( within = '1d' , max = 100 )", all_missed(max=100, within="1d")),
    ],
)
def test_a_policy_may_be_given_as_a_text(text: str, policy: Misfire):
    assert misfire_from(text) == policy


@given(
    st.one_of(
        st.builds(Misfire, st.just("all"), st.integers(1, 100), st.none() | st.integers(1, DAY)),
        st.builds(
            Misfire, st.sampled_from(["latest", "none"]), within_ms=st.none() | st.integers(1, DAY)
        ),
    )
)
def test_a_policy_writes_itself_as_it_is_read(policy: Misfire):
    assert misfire_from(str(policy)) == policy
    assert misfire_from(policy) is policy


@pytest.mark.parametrize(
    "text",
    [
        *("", "newest", "all(", "all(5)", "all(max=)", "all(max=1.5)", "all(max=5, max=6)"),
        *("latest(max=5)", "all(max=5,)", "all(most=5)", "ALL", "latest" * 100),
    ],
)
def test_a_text_that_is_no_policy_is_refused_with_what_is(text: str):
    with pytest.raises(InvalidArgumentError, match=r"is no misfire policy|takes no max"):
        misfire_from(text)


@pytest.mark.parametrize("given", [None, 5, b"latest", ["latest"]])
def test_what_is_no_text_is_no_policy(given: str):
    with pytest.raises(InvalidArgumentError, match="expected 'latest', 'none', 'all'"):
        misfire_from(given)


@pytest.mark.parametrize("most", [0, 101, -1, True, 2.0])
def test_a_number_of_made_up_runs_is_1_to_100(most: int):
    with pytest.raises(InvalidArgumentError, match="expected a whole number, 1 to 100"):
        all_missed(max=most)


def test_only_all_takes_a_number():
    with pytest.raises(InvalidArgumentError, match="only 'all' fires more than one"):
        Misfire("latest", 5)
    with pytest.raises(InvalidArgumentError, match="only 'all' fires more than one"):
        misfire_from("none(max=3)")


@pytest.mark.parametrize("within", ["0s", 0])
def test_a_bound_of_no_time_is_refused(within: str):
    with pytest.raises(InvalidArgumentError, match="expected 1ms to 100 years"):
        latest_missed(within=within)
    with pytest.raises(InvalidArgumentError, match="is no duration"):
        misfire_from("latest(within=soon)")


def test_an_overlap_policy_is_one_of_three_words():
    assert [overlap_from(word) for word in ("allow", "skip", "queue-one")] == list(Overlap)
    with pytest.raises(InvalidArgumentError, match="one of 'allow', 'skip', 'queue-one'"):
        overlap_from("wait")
