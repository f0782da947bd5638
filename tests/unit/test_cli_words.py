"""How the command line writes times and near misses."""

import pytest

from echomq_worker.cli.words import age, coming, count_of, installed, moment, near_misses, rfc3339


@pytest.mark.parametrize(
    ("ms", "written"),
    [
        (-5, "0.0s"),
        (0, "0.0s"),
        (4_249, "4.2s"),
        (11_900, "11s"),
        (662_000, "11m02s"),
        (3_900_000, "1h05m"),
        (2 * 86_400_000 + 4 * 3_600_000, "2d04h"),
    ],
)
def test_a_span_is_written_in_its_two_largest_units(ms: int, written: str):
    assert age(ms) == written


def test_an_instant_is_told_from_now():
    assert moment(1_000, 4_000) == "3.0s ago"
    assert moment(65_000, 5_000) == "in 1m00s"
    assert moment(None, 5_000) == "unknown"


def test_an_instant_to_come_is_due_once_it_is_past():
    assert coming(65_000, 5_000) == "in 1m00s"
    assert coming(5_000, 5_000) == "due 0.0s ago"
    assert coming(1_000, 4_000) == "due 3.0s ago"


def test_an_instant_for_machines_is_in_utc():
    assert rfc3339(1_704_067_200_001) == "2024-01-01T00:00:00.001Z"
    assert rfc3339(None) is None
    assert rfc3339(1 << 62) == "9999-12-31T23:59:59.999Z"


def test_near_misses_are_offered_whatever_their_case():
    assert near_misses("mial", ["mail", "reports"]) == " Did you mean mail?"
    assert near_misses("MAIL", ["mail", "mails"]) == " Did you mean mail or mails?"
    assert not near_misses("zzz", ["mail"])


def test_one_thing_is_not_many():
    assert [count_of(n, "job") for n in (0, 1, 2)] == ["0 jobs", "1 job", "2 jobs"]


def test_the_version_of_a_package_is_told_or_that_there_is_none():
    assert installed("click")[0].isdigit()
    assert installed("no-such-package-of-ours") == "not installed"
