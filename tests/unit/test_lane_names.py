"""What may name a lane, and which group of the wire that is."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echomq_worker.domain.ids import parse_id
from echomq_worker.domain.lanes import (
    LaneState,
    LaneView,
    OnFull,
    check_lane_count,
    check_on_full,
    lane_group,
)
from echomq_worker.errors import InvalidArgumentError

VISIBLE = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=200)


@given(VISIBLE)
def test_a_name_becomes_a_group_that_every_runtime_takes(name: str):
    assert parse_id(lane_group(name), None)


def test_the_group_holds_the_first_63_bits_of_the_names_sha_256():
    first = int(hashlib.sha256(b"acme").hexdigest()[:16], 16) // 2

    assert lane_group("acme") == "LAN5aRRQoeZFSa"
    assert parse_id("LAN5aRRQoeZFSa", "LAN").snowflake == first


@pytest.mark.parametrize("group", ["PRT0NsUH6L9tuD", "LAN5aRRQoeZFSa", "JOB0NsUH6L9tuD"])
def test_a_group_of_the_wire_names_itself(group: str):
    assert lane_group(group) == group


def test_what_only_looks_like_an_id_is_a_name_like_any_other():
    assert lane_group("LANzzzzzzzzzzz").startswith("LAN")
    assert lane_group("LANzzzzzzzzzzz") != "LANzzzzzzzzzzz"


@pytest.mark.parametrize(
    "name",
    ["", " ", "a b", "a\tb", "a\n", "\0", "ü", "é", "🚚", "x" * 201, None, 1, True, b"acme"],
)
def test_other_names_are_refused_and_the_error_says_what_is_expected(name: object):
    with pytest.raises(InvalidArgumentError, match="expected a text of 1 to 200 visible ASCII"):
        lane_group(name)


@pytest.mark.parametrize("number", [0, -1, 1.5, "3", True, None, 10**10])
def test_a_number_of_a_lane_is_whole_and_at_least_1(number: object):
    with pytest.raises(InvalidArgumentError, match=r"limit is .*: expected a whole number from 1"):
        check_lane_count("limit", number)


def test_a_full_lane_refuses_or_drops_and_nothing_else():
    assert check_on_full("refuse") is OnFull.REFUSE
    assert check_on_full("drop-oldest") is OnFull.DROP_OLDEST
    words: tuple[object, ...] = ("", "drop", None, 3, [])
    for word in words:
        with pytest.raises(InvalidArgumentError, match="'refuse' or 'drop-oldest'"):
            check_on_full(word)


@pytest.mark.parametrize(
    ("view", "state"),
    [
        (LaneView(group="g", name="a", waiting=0, active=3, limit=3), LaneState.IDLE),
        (LaneView(group="g", name="a", waiting=1, active=2, limit=3), LaneState.READY),
        (LaneView(group="g", name="a", waiting=1, active=3, limit=3), LaneState.FULL),
        (LaneView(group="g", name="a", waiting=1, active=0, kept_until_ms=9), LaneState.RATED),
        (LaneView(group="g", name="a", waiting=0, active=0, kept_until_ms=9), LaneState.IDLE),
    ],
)
def test_a_view_tells_why_a_lane_is_served_or_not(view: LaneView, state: LaneState):
    assert view.state is state
