"""What rules do when the clocks change, and what is said of it beforehand."""

import time
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from echomq_worker.domain.cron import clock_changes, cron_rule
from echomq_worker.zones import find_zone
from tests.support.changing_zones import behaviours
from tests.support.cron_oracle import fires

MINUTE, HOUR, YEAR = 60_000, 3_600_000, 366 * 86_400_000


def ms(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1000)


def local(expression: str, zone: str, after: str, count: int, dst: str = "cron") -> list[str]:
    """Return the next instants as the wall clock shows them, with its offset."""
    rule, found, at = cron_rule(expression, tz=zone, dst=dst), list[str](), ms(after)
    for _ in range(count):
        at = rule.next_ms(at) or 0
        wall = datetime.fromtimestamp(at / 1000, UTC).astimezone(find_zone(zone))
        found.append(wall.isoformat(timespec="minutes"))
    return found


@pytest.mark.case("CDS-01", "CDS-03", "CDS-04", "CDS-06", "CDS-10")
@pytest.mark.parametrize(
    ("expression", "zone", "after", "expected"),
    [
        ("0 20 * * *", "Europe/Paris", "2026-10-25T00:00+02:00",
         ["2026-10-25T20:00+01:00", "2026-10-26T20:00+01:00", "2026-10-27T20:00+01:00"]),
        ("10 3 * * 0", "Europe/Prague", "2026-10-18T12:00+02:00",
         ["2026-10-25T03:10+01:00", "2026-11-01T03:10+01:00"]),
        ("0 0 * * 0-4", "US/Central", "2027-03-12T00:00-06:00",
         ["2027-03-14T00:00-06:00", "2027-03-15T00:00-05:00", "2027-03-16T00:00-05:00"]),
        ("0 12 * * 0", "Europe/Berlin", "2027-03-25T12:00+01:00", ["2027-03-28T12:00+02:00"]),
        ("0 0 * * *", "US/Pacific", "2026-03-08T00:00-08:00", ["2026-03-09T00:00-07:00"]),
        ("0 2 * * *", "US/Eastern", "2026-03-07T12:00-05:00",
         ["2026-03-08T03:00-04:00", "2026-03-09T02:00-04:00"]),
        ("4 16 * * *", "America/New_York", "2026-03-07T20:00-05:00",
         ["2026-03-08T16:04-04:00", "2026-03-09T16:04-04:00"]),
        ("30 1 * * *", "America/New_York", "2026-11-01T01:15-05:00", ["2026-11-02T01:30-05:00"]),
        ("*/30 1 1 11 *", "America/New_York", "2026-11-01T01:45-04:00",
         ["2026-11-01T01:00-05:00", "2026-11-01T01:30-05:00", "2027-11-01T01:00-04:00"]),
    ],
)  # fmt: skip
def test_a_rule_keeps_its_wall_time_from_one_offset_to_the_next(
    expression: str, zone: str, after: str, expected: list[str]
):
    assert local(expression, zone, after, len(expected)) == expected


@pytest.mark.parametrize(
    ("expression", "zone", "after", "expected"),
    [
        ("30 2 * * *", "Europe/Berlin", "2027-03-27T12:00+01:00",
         ["2027-03-29T02:30+02:00", "2027-03-30T02:30+02:00"]),
        ("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00+02:00",
         ["2026-10-25T02:30+02:00", "2026-10-26T02:30+01:00"]),
        ("*/30 * * * *", "America/New_York", "2026-11-01T01:15-04:00",
         ["2026-11-01T01:30-04:00", "2026-11-01T02:00-05:00"]),
        ("*/30 * * * *", "Europe/Berlin", "2027-03-28T01:15+01:00",
         ["2027-03-28T01:30+01:00", "2027-03-28T03:00+02:00"]),
        ("0 12 30 12 *", "Pacific/Apia", "2011-12-01T00:00-10:00", ["2012-12-30T12:00+14:00"]),
        ("0 3 * * *", "Europe/Berlin", "2027-03-27T12:00+01:00", ["2027-03-28T03:00+02:00"]),
    ],
)  # fmt: skip
def test_skip_runs_nothing_in_a_gap_and_everything_once_in_an_overlap(
    expression: str, zone: str, after: str, expected: list[str]
):
    assert local(expression, zone, after, len(expected), "skip") == expected


def test_seconds_follow_the_same_rules():
    gap, overlap = "2027-03-28T01:59:58+01:00", "2026-10-25T02:59:58+02:00"

    assert local("5,50 30 2 * * *", "Europe/Berlin", gap, 2) == [
        "2027-03-28T03:00+02:00",
        "2027-03-29T02:30+02:00",
    ]
    assert local("*/20 30 2 * * *", "Europe/Berlin", gap, 1) == ["2027-03-29T02:30+02:00"]
    assert local("*/20 30 2 * * *", "Europe/Berlin", overlap, 1) == ["2026-10-25T02:30+01:00"]
    assert local("5,50 30 2 * * *", "Europe/Berlin", overlap, 1) == ["2026-10-26T02:30+01:00"]


@pytest.mark.case("CDS-07")
def test_a_rule_of_minutes_goes_on_through_every_change_of_every_zone():
    for zone, changes in behaviours():
        rule = cron_rule("*/7 * * * *", tz=zone)
        for before, after in changes:
            at = after.start * 1000
            found = fires(rule, at - 3 * HOUR, at + 3 * HOUR)
            forward = max(0, after.offset - before.offset) * 1000
            assert all(a < b < a + 14 * MINUTE + forward for a, b in pairwise(found)), zone
            assert len(found) > 6 * 8, zone


@pytest.mark.case("CDS-09")
def test_the_next_instant_is_later_than_any_minute_around_any_change():
    expressions = [
        "* * * * *",
        "30 1 * * *",
        "0 2 * * *",
        "15 2 * * *",
        "0 0 * * *",
        "*/20 1-3 * * *",
    ]
    for zone, changes in behaviours():
        rules = [cron_rule(expression, tz=zone) for expression in expressions]
        for _, after in changes[:2]:
            at = after.start * 1000
            for minute in range(at - 3 * HOUR, at + 3 * HOUR, MINUTE):
                for rule in rules:
                    found = rule.next_ms(minute)
                    assert found is not None
                    assert found > minute, (rule, minute)


@pytest.mark.case("CDS-13")
def test_a_daily_rule_fires_every_day_of_the_year_at_its_time():
    found = local("0 5 * * *", "America/New_York", "2026-01-01T00:00-05:00", 365)

    days = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=number) for number in range(365)]
    assert [text[:16] for text in found] == [f"{day:%Y-%m-%d}T05:00" for day in days]
    assert {text[16:] for text in found} == {"-05:00", "-04:00"}


@pytest.mark.case("CTZ-03")
def test_the_time_zone_of_the_process_means_nothing(monkeypatch: pytest.MonkeyPatch):
    row = ("0 9 * * *", "Asia/Tokyo", "2026-11-25T00:00Z", 10)
    days = [datetime(2026, 11, 26, tzinfo=UTC) + timedelta(days=number) for number in range(10)]
    expected = [f"{day:%Y-%m-%d}T09:00+09:00" for day in days]
    try:
        for zone in ("America/New_York", "Pacific/Kiritimati", "UTC"):
            monkeypatch.setenv("TZ", zone)
            time.tzset()
            assert local(*row) == expected
    finally:
        monkeypatch.undo()
        time.tzset()


CHANGES = "2026-12-01T00:00Z"


@pytest.mark.parametrize(
    ("expression", "zone", "dst", "says"),
    [
        ("30 2 * * *", "Europe/Berlin", "cron",
         ["2027-03-28: it runs at 03:00", "2027-10-31: it runs once, at the first 02:30"]),
        ("30 2 * * *", "Europe/Berlin", "skip",
         ["2027-03-28: it does not run at 02:30", "2027-10-31: it runs once, at the first 02:30"]),
        ("0,30 2 * * *", "Europe/Berlin", "cron",
         ["2027-03-28: it runs once, at 03:00",
          "2027-10-31: it runs only the first time that 02:00 to 03:00 is shown"]),
        ("0,30 2 * * *", "Europe/Berlin", "skip",
         ["2027-03-28: it does not run from 02:00 to 03:00",
          "2027-10-31: it runs only the first time that 02:00 to 03:00 is shown"]),
        ("15 30 2 * * *", "Europe/Berlin", "skip",
         ["2027-03-28: it does not run at 02:30:15",
          "2027-10-31: it runs once, at the first 02:30:15"]),
        ("*/10 * * * *", "Europe/Berlin", "cron", []),
        ("*/10 * * * *", "Europe/Berlin", "skip",
         ["2027-10-31: it runs only the first time that 02:00 to 03:00 is shown"]),
        ("0 2-3 * * *", "Europe/Berlin", "cron",
         ["2027-03-28: it runs at 03:00", "2027-10-31: it runs once, at the first 02:00"]),
        ("0 3 * * *", "Europe/Berlin", "cron", []),
        ("30 2 * * 1-5", "Europe/Berlin", "cron", []),
        ("30 2 * * *", "Asia/Tokyo", "cron", []),
        ("30 2 * * *", "UTC", "cron", []),
        ("15 2 * * *", "Australia/Lord_Howe", "cron", ["2027-10-03: it runs at 02:30"]),
        ("0 0 * * *", "Africa/Cairo", "cron", ["2027-04-30: it runs at 01:00"]),
    ],
)  # fmt: skip
def test_a_change_into_which_a_rule_falls_is_told(
    expression: str, zone: str, dst: str, says: list[str]
):
    rule = cron_rule(expression, tz=zone, dst=dst)
    found = clock_changes(rule, after_ms=ms(CHANGES), until_ms=ms(CHANGES) + YEAR)

    start = f"{expression} in {zone} falls into a clock change on "
    assert [change.text for change in found] == [start + text for text in says]
    assert all(change.kind == ("overlap" if "first" in change.text else "gap") for change in found)


def test_a_gap_of_a_whole_day_says_the_other_day_too():
    rule = cron_rule("0 12 * * *", tz="Pacific/Apia")
    (change,) = clock_changes(
        rule, after_ms=ms("2011-12-01T00:00Z"), until_ms=ms("2012-01-31T00:00Z")
    )

    assert change.text.endswith("on 2011-12-30: it runs at 00:00 on 2011-12-31")
    assert change.at_ms == ms("2011-12-30T10:00Z") == rule.next_ms(change.at_ms - 1)


def test_the_bounds_of_the_time_that_is_looked_at_are_kept():
    rule, at = cron_rule("30 2 * * *", tz="Europe/Berlin"), ms("2027-03-28T01:00Z")

    assert len(clock_changes(rule, after_ms=at - 1000, until_ms=at)) == 1
    assert clock_changes(rule, after_ms=at, until_ms=at + HOUR) == []
    assert clock_changes(rule, after_ms=at - HOUR, until_ms=at - 1000) == []
