"""What each item of a cron expression means."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echomq_worker.domain.cron import cron_rule
from echomq_worker.domain.cron.days import Days, length_of
from echomq_worker.domain.cron.offsets import Offsets
from echomq_worker.domain.cron.search import WallTimes
from tests.support.cron_oracle import instants

THURSDAY = "2026-11-05T00:00Z"


def days(expression: str, count: int, after: str = "2026-11-01T00:00Z") -> list[str]:
    found = instants(cron_rule(expression), after, count)
    assert all(text.endswith("T00:00Z") for text in found)
    return [text[2:10] for text in found]


def times(expression: str, count: int) -> list[str]:
    return [text[11:-1] for text in instants(cron_rule(expression), THURSDAY, count)]


@pytest.mark.case("CPA-08")
@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("5/15 * * * *", ["00:05", "00:20", "00:35", "00:50", "01:05"]),
        ("50/5 * * * *", ["00:50", "00:55", "01:50"]),
        ("*/25 * * * *", ["00:25", "00:50", "01:00"]),
        ("10-20/5 * * * *", ["00:10", "00:15", "00:20", "01:10"]),
        ("30,10-11 * * * *", ["00:10", "00:11", "00:30", "01:10"]),
        ("0 22-2 * * *", ["01:00", "02:00", "22:00", "23:00", "00:00"]),
        ("0 22-2/2 * * *", ["02:00", "22:00", "00:00"]),
        ("@hourly", ["01:00", "02:00"]),
        ("*/20 0 12 * * *", ["12:00", "12:00:20", "12:00:40", "12:00"]),
        ("15 * * * * *", ["00:00:15", "00:01:15"]),
        ("*/90 * * * *", ["01:00", "02:00"]),
    ],
)
def test_times_of_the_day(expression: str, expected: list[str]):
    assert times(expression, len(expected)) == expected


@pytest.mark.case("CPA-01", "CPA-04", "CPA-05", "CPA-08")
@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("0 0 L * *", ["26-11-30", "26-12-31", "27-01-31", "27-02-28"]),
        ("0 0 l * *", ["26-11-30", "26-12-31", "27-01-31", "27-02-28"]),
        ("0 0 L-2 * *", ["26-11-28", "26-12-29", "27-01-29", "27-02-26"]),
        ("0 0 L-29 * *", ["26-12-02", "27-01-02", "27-03-02", "27-04-01"]),
        ("0 0 LW * *", ["26-11-30", "26-12-31", "27-01-29", "27-02-26"]),
        ("0 0 15W * *", ["26-11-16", "26-12-15", "27-01-15", "27-02-15", "27-03-15", "27-04-15",
                         "27-05-14"]),
        ("0 0 1W * *", ["26-11-02", "26-12-01", "27-01-01", "27-02-01", "27-03-01", "27-04-01",
                        "27-05-03"]),
        ("0 0 31W * *", ["26-12-31", "27-01-29", "27-03-31", "27-05-31", "27-07-30"]),
        ("0 0 1,L * *", ["26-11-30", "26-12-01", "26-12-31"]),
        ("0 0 * * 5L", ["26-11-27", "26-12-25", "27-01-29"]),
        ("0 0 * * L5", ["26-11-27", "26-12-25", "27-01-29"]),
        ("0 0 * * friL", ["26-11-27", "26-12-25", "27-01-29"]),
        ("0 0 * * 7L", ["26-11-29", "26-12-27", "27-01-31"]),
        ("0 0 * * 5#2", ["26-11-13", "26-12-11", "27-01-08"]),
        ("0 0 * * MON#2", ["26-11-09", "26-12-14", "27-01-11"]),
        ("0 0 * * sun#5", ["26-11-29", "27-01-31", "27-05-30"]),
        ("0 0 * * 7#1,3#1", ["26-11-04", "26-12-02", "26-12-06"]),
        ("0 0 * * sat-mon", ["26-11-02", "26-11-07", "26-11-08", "26-11-09", "26-11-14"]),
        ("0 0 * * FRI-MON", ["26-11-02", "26-11-06", "26-11-07", "26-11-08", "26-11-09"]),
        ("0 0 * * 7-2", ["26-11-02", "26-11-03", "26-11-08", "26-11-09"]),
        ("0 0 * * 6-7", ["26-11-07", "26-11-08", "26-11-14"]),
        ("0 0 * * 5/2", ["26-11-06", "26-11-08", "26-11-13"]),
        ("0 0 * * 0", ["26-11-08", "26-11-15"]),
        ("0 0 * * 7", ["26-11-08", "26-11-15"]),
        ("0 0 1 nov-feb *", ["26-12-01", "27-01-01", "27-02-01", "27-11-01"]),
        ("0 0 ? * *", ["26-11-02", "26-11-03"]),
        ("0 0 ? * ?", ["26-11-02", "26-11-03"]),
        ("0 0 13 * ?", ["26-11-13", "26-12-13"]),
        ("0 0 13 * FRI", ["26-11-06", "26-11-13", "26-11-20", "26-11-27", "26-12-04", "26-12-11",
                          "26-12-13"]),
        ("0 0 */2 * 1", ["26-11-09", "26-11-23", "26-12-07", "26-12-21"]),
        ("0 0 1-31/2 * 1", ["26-11-02", "26-11-03", "26-11-05"]),
        ("0 0 13 * */5", ["26-11-13", "26-12-13", "27-06-13"]),
        ("0 0 */10 * *", ["26-11-11", "26-11-21", "26-12-01"]),
        ("0 0 *,5 * 1", ["26-11-02", "26-11-09"]),
        ("0 0 5,* * 1", ["26-11-02", "26-11-03"]),
        ("0 0 31 2 1", ["27-02-01", "27-02-08", "27-02-15", "27-02-22"]),
        ("@daily", ["26-11-02", "26-11-03"]),
        ("@midnight", ["26-11-02", "26-11-03"]),
        ("@weekly", ["26-11-08", "26-11-15"]),
        ("@Monthly", ["26-12-01", "27-01-01"]),
        ("@yearly", ["27-01-01", "28-01-01"]),
        ("@annually", ["27-01-01", "28-01-01"]),
        ("0 0 29 2 *", ["28-02-29", "32-02-29"]),
    ],
)  # fmt: skip
def test_days(expression: str, expected: list[str]):
    assert days(expression, len(expected)) == expected


@pytest.mark.case("CPA-01", "CPA-02", "CPA-04", "CPA-05")
@pytest.mark.parametrize(
    ("expression", "after", "expected"),
    [
        ("48 14 31 jun sun", "2027-05-31T00:00Z",
         "2027-06-06T14:48Z 2027-06-13T14:48Z 2027-06-20T14:48Z"),
        ("30 6 31 2 1", "2027-01-01T00:00Z",
         "2027-02-01T06:30Z 2027-02-08T06:30Z 2027-02-15T06:30Z 2027-02-22T06:30Z"),
        ("0 9 29 2 *", THURSDAY, "2028-02-29T09:00Z"),
        ("0 9 29 2 *", "2096-02-29T09:00Z", "2104-02-29T09:00Z"),
        ("0 0 */10 * *", "2027-02-20T00:00Z",
         "2027-02-21T00:00Z 2027-03-01T00:00Z 2027-03-11T00:00Z 2027-03-21T00:00Z"),
        ("0 0 */2 * 1", THURSDAY,
         "2026-11-09T00:00Z 2026-11-23T00:00Z 2026-12-07T00:00Z 2026-12-21T00:00Z"),
        ("0 0 29 2 */7", "2072-03-01T00:00Z", "2088-02-29T00:00Z 2128-02-29T00:00Z"),
    ],
)  # fmt: skip
def test_instants_that_once_could_not_be_found(expression: str, after: str, expected: str):
    assert instants(cron_rule(expression), after, len(expected.split())) == expected.split()


# The rows of a table of libraries, with what is right in it.
@pytest.mark.parametrize(
    ("expression", "zone", "after", "expected"),
    [
        ("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z", "2026-03-29T01:00Z 2026-03-30T00:30Z"),
        ("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00Z", "2026-10-25T00:30Z 2026-10-26T01:30Z"),
        ("30 1 * * *", "America/New_York", "2026-10-31T12:00Z",
         "2026-11-01T05:30Z 2026-11-02T06:30Z"),
        ("*/30 * * * *", "America/New_York", "2026-11-01T04:59Z",
         "2026-11-01T05:00Z 2026-11-01T05:30Z 2026-11-01T06:00Z 2026-11-01T06:30Z"),
        ("*/30 * * * *", "Europe/Berlin", "2026-03-29T00:15Z",
         "2026-03-29T00:30Z 2026-03-29T01:00Z 2026-03-29T01:30Z 2026-03-29T02:00Z"),
        ("*/10 0 12 * * *", "UTC", "2026-11-05T12:00:25Z",
         "2026-11-05T12:00:30Z 2026-11-05T12:00:40Z"),
        ("0 0 * * *", "America/Santiago", "2026-09-05T12:00Z",
         "2026-09-06T04:00Z 2026-09-07T03:00Z"),
        ("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00Z",
         "2026-10-03T15:30Z 2026-10-04T15:15Z"),
        ("30 1 * * *", "America/New_York", "2026-11-01T06:15Z", "2026-11-02T06:30Z"),
    ],
)  # fmt: skip
def test_cases_that_libraries_get_wrong(expression: str, zone: str, after: str, expected: str):
    rule = cron_rule(expression, tz=zone)
    assert instants(rule, after, len(expected.split())) == expected.split()


class Counted:
    """Counts how often a method is called."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> None:
        self.calls = 0
        method = getattr(owner, name)

        def count(*args: object) -> object:
            self.calls += 1
            return method(*args)

        monkeypatch.setattr(owner, name, count)


def test_what_is_decades_away_is_found_in_a_few_steps(monkeypatch: pytest.MonkeyPatch):
    steps = Counted(monkeypatch, WallTimes, "first_from")
    years = Counted(monkeypatch, Offsets, "_of_year")
    months = Counted(monkeypatch, Days, "_matching")
    after = int(datetime(2088, 3, 2, tzinfo=UTC).timestamp() * 1000)
    rule = cron_rule("0 0 29 2 */7", tz="America/Punta_Arenas")
    other = cron_rule("* * 29 2 */7", tz="America/Asuncion")

    for one in (rule, other):
        found = one.next_ms(after)
        assert datetime.fromtimestamp((found or 0) / 1000, UTC).year == 2128
    assert steps.calls < 16
    assert years.calls < 10
    assert months.calls <= 2 * 28


@given(st.integers(1900, 2400), st.integers(1, 12))
def test_a_month_has_as_many_days_as_the_calendar_says(year: int, month: int):
    first = datetime(year, month, 1, tzinfo=UTC)
    after = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
    assert length_of(year, month) == (after - first).days
