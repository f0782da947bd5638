"""Keys of uniqueness: what they may be, and which modes and releases go together."""

import re
from typing import Any

import pytest

from echomq_worker import InvalidArgumentError, debounce, throttle
from echomq_worker.domain.unique import Conflict, Mode, Release, conflict_of, wire_key

ON_THE_WIRE = re.compile(r"[A-Za-z0-9._-]{1,255}")


@pytest.mark.parametrize("key", ["a", "order-42", "A.b_c-9", "x" * 200])
def test_a_plain_key_is_itself_on_the_wire(key: str) -> None:
    assert wire_key(key) == key


@pytest.mark.parametrize("key", ["order:42", "a b", "é", "x" * 201, "x" * 1_000, "\ud800", "a\n"])
def test_any_other_key_is_its_digest_there(key: str) -> None:
    assert ON_THE_WIRE.fullmatch(wire_key(key))
    assert wire_key(key) != wire_key(key + "x" if len(key) < 1_000 else key[1:])


def test_a_number_is_the_same_key_as_its_digits() -> None:
    assert wire_key(42) == wire_key("42")


@pytest.mark.parametrize("key", ["", "x" * 1_001, b"x", True, 1.5, None, ["a"]])
def test_what_is_no_key_is_an_error(key: object) -> None:
    with pytest.raises(InvalidArgumentError, match="expected a text of 1 to 1000 characters"):
        wire_key(key)


@pytest.mark.parametrize(
    ("mode", "release", "expected"),
    [
        ("reject", None, Conflict(Mode.REJECT)),
        ("reject", "finish", Conflict(Mode.REJECT)),
        ("reject", "start", Conflict(Mode.REJECT, release=Release.START)),
        ("replace", "1h", Conflict(Mode.REPLACE, release=Release.TTL, ttl_ms=3_600_000)),
        ("keep-latest", "finish", Conflict(Mode.KEEP_LATEST)),
        (throttle("1m"), None, Conflict(Mode.REJECT, release=Release.TTL, ttl_ms=60_000)),
        (debounce("5s"), None, Conflict(Mode.DEBOUNCE, 5_000, 0, Release.START)),
        (debounce(5, max="1m"), None, Conflict(Mode.DEBOUNCE, 5_000, 60_000, Release.START)),
        (debounce("5s", max="5s"), None, Conflict(Mode.DEBOUNCE, 5_000, 5_000, Release.START)),
    ],
)
def test_modes_and_releases(mode: Any, release: Any, expected: Conflict) -> None:
    assert conflict_of(mode, release) == expected


@pytest.mark.parametrize(
    ("mode", "release", "hint"),
    [
        ("debounce", None, "expected 'reject', 'replace', 'keep-latest', debounce"),
        (7, None, "the mode is 7"),
        (["reject"], None, "the mode is"),
        ("reject", "end", "'end'"),
        ("reject", 0, "expected 'start', 'finish', or a duration above 0"),
        ("keep-latest", "start", "expected 'finish', which it waits for"),
        ("keep-latest", "1h", "expected 'finish', which it waits for"),
        (throttle("1m"), "start", "release is given with debounce or throttle"),
    ],
)
def test_what_does_not_go_together_is_an_error(mode: Any, release: Any, hint: str) -> None:
    with pytest.raises(InvalidArgumentError, match=hint):
        conflict_of(mode, release)


@pytest.mark.parametrize(
    ("wait", "most"), [(0, None), ("5s", "4s"), ("5s", 0), ("soon", None), ("1s", "x"), (-1, None)]
)
def test_a_debounce_needs_a_wait_and_a_maximum_not_below(wait: Any, most: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        debounce(wait, max=most)


@pytest.mark.parametrize("period", [0, "", "soon", -1])
def test_a_throttle_needs_a_period(period: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        throttle(period)
