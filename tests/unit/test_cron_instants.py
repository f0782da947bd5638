"""When rules fire: each instant that the known cases of cron expect.

They were computed by counting through the minutes of the wall clock; two rows depend on the version
of the time zone data, and have the answers of both.
"""

from datetime import UTC, datetime

import pytest

from echomq_worker.domain.cron import cron_rule
from echomq_worker.zones import newer_data, zone_data_version
from tests.support.changing_zones import zone_of
from tests.support.cron_oracle import instants

ROWS = [
    ("CRN-01", "30 2 * * *", "America/New_York", "2026-03-07T12:00-05:00",
     "2026-03-08T07:00Z 2026-03-09T06:30Z 2026-03-10T06:30Z"),
    ("CRN-02", "30 1 * * *", "America/New_York", "2026-10-31T12:00-04:00",
     "2026-11-01T05:30Z 2026-11-02T06:30Z 2026-11-03T06:30Z"),
    ("CRN-03", "*/30 * * * *", "America/New_York", "2026-11-01T00:45-04:00",
     ("2026-11-01T05:00Z 2026-11-01T05:30Z 2026-11-01T06:00Z 2026-11-01T06:30Z "
      "2026-11-01T07:00Z 2026-11-01T07:30Z")),
    ("CRN-06", "0 2 * * *", "US/Eastern", "2026-03-07T12:00-05:00",
     "2026-03-08T07:00Z 2026-03-09T06:00Z"),
    ("CRN-07", "0,30 2 * * *", "America/New_York", "2026-03-08T00:00-05:00",
     "2026-03-08T07:00Z 2026-03-09T06:00Z 2026-03-09T06:30Z"),
    ("CRN-10", "0 0 * * 0", "America/New_York", "2026-10-30T12:00-04:00",
     "2026-11-01T04:00Z 2026-11-08T05:00Z"),
    ("CRN-12", "10 3 * * 0", "Europe/Prague", "2026-10-18T12:00+02:00",
     "2026-10-25T02:10Z 2026-11-01T02:10Z"),
    ("CRN-13", "30 2 * * *", "Europe/Berlin", "2026-10-24T12:00+02:00",
     "2026-10-25T00:30Z 2026-10-26T01:30Z 2026-10-27T01:30Z"),
    ("CRN-14", "30 2 * * *", "Europe/Berlin", "2027-03-27T12:00+01:00",
     "2027-03-28T01:00Z 2027-03-29T00:30Z 2027-03-30T00:30Z"),
    ("CRN-15", "1 2 * * *", "Europe/Berlin", "2027-03-28T01:59+01:00",
     "2027-03-28T01:00Z 2027-03-29T00:01Z"),
    ("CRN-16", "55 12 * * *", "Europe/Berlin", "2027-03-26T00:00+01:00",
     "2027-03-26T11:55Z 2027-03-27T11:55Z 2027-03-28T10:55Z 2027-03-29T10:55Z"),
    ("CRN-17", "0 0 * * *", "US/Pacific", "2026-03-08T00:00-08:00",
     "2026-03-09T07:00Z 2026-03-10T07:00Z"),
    ("CRN-18", "0 0 * * 0-4", "US/Central", "2027-03-12T00:00-06:00",
     "2027-03-14T06:00Z 2027-03-15T05:00Z 2027-03-16T05:00Z"),
    ("CRN-19", "0 12 * * 0", "Europe/Berlin", "2027-03-25T12:00+01:00",
     "2027-03-28T10:00Z 2027-04-04T10:00Z"),
    ("CRN-21", "0 0 * * *", "Africa/Cairo", "2026-04-22T12:00+02:00",
     "2026-04-22T22:00Z 2026-04-23T22:00Z 2026-04-24T21:00Z 2026-04-25T21:00Z"),
    ("CRN-22", "30 0 * * *", "Asia/Beirut", "2026-03-28T12:00+02:00",
     "2026-03-28T22:00Z 2026-03-29T21:30Z 2026-03-30T21:30Z"),
    ("CRN-25", "15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00+10:30",
     "2026-10-03T15:30Z 2026-10-04T15:15Z 2026-10-05T15:15Z"),
    ("CRN-27", "*/15 * * * *", "Australia/Lord_Howe", "2027-04-04T01:25+11:00",
     ("2027-04-03T14:30Z 2027-04-03T14:45Z 2027-04-03T15:00Z 2027-04-03T15:15Z "
      "2027-04-03T15:30Z 2027-04-03T15:45Z")),
    ("CRN-28", "30 1 * * *", "Antarctica/Troll", "2027-03-27T12:00+00:00",
     "2027-03-28T01:00Z 2027-03-28T23:30Z 2027-03-29T23:30Z"),
    ("CRN-30", "30 1 * * *", "Europe/London", "2027-03-27T12:00+00:00",
     "2027-03-28T01:00Z 2027-03-29T00:30Z 2027-03-30T00:30Z"),
    ("CRN-31", "0 9 * * *", "Asia/Kathmandu", "2026-11-05T00:00+00:00",
     "2026-11-05T03:15Z 2026-11-06T03:15Z"),
    ("CRN-33", "0 0 * * *", "Asia/Tehran", "2027-03-20T00:00+03:30",
     "2027-03-20T20:30Z 2027-03-21T20:30Z 2027-03-22T20:30Z"),
    ("CRN-34", "0 2 * * *", "Africa/Casablanca", "2026-02-14T12:00+01:00",
     "2026-02-15T01:00Z 2026-02-16T02:00Z 2026-02-17T02:00Z"),
    ("CRN-35", "0 9 29 2 *", "UTC", "2026-11-05T00:00+00:00",
     "2028-02-29T09:00Z 2032-02-29T09:00Z"),
    ("CRN-36", "0 9 29 2 *", "UTC", "2096-02-29T09:00+00:00",
     "2104-02-29T09:00Z"),
    ("CRN-39", "0 0 31 * *", "UTC", "2026-11-05T00:00+00:00",
     "2026-12-31T00:00Z 2027-01-31T00:00Z 2027-03-31T00:00Z 2027-05-31T00:00Z"),
    ("CRN-40", "0 0 30 * *", "UTC", "2027-01-30T00:00+00:00",
     "2027-03-30T00:00Z 2027-04-30T00:00Z"),
    ("CRN-42", "0 0 */10 * *", "UTC", "2027-02-20T00:00+00:00",
     "2027-02-21T00:00Z 2027-03-01T00:00Z 2027-03-11T00:00Z 2027-03-21T00:00Z"),
    ("CRN-43", "0 0 */2 * 1", "UTC", "2026-11-05T00:00+00:00",
     "2026-11-09T00:00Z 2026-11-23T00:00Z 2026-12-07T00:00Z 2026-12-21T00:00Z"),
    ("CRN-44", "48 14 31 jun sun", "UTC", "2027-05-31T00:00+00:00",
     "2027-06-06T14:48Z 2027-06-13T14:48Z 2027-06-20T14:48Z"),
    ("CRN-45", "30 6 31 2 1", "UTC", "2027-01-01T00:00+00:00",
     "2027-02-01T06:30Z 2027-02-08T06:30Z 2027-02-15T06:30Z 2027-02-22T06:30Z"),
    ("CRN-46", "0 0 1,15 * 3", "UTC", "2026-11-05T00:00+00:00",
     "2026-11-11T00:00Z 2026-11-15T00:00Z 2026-11-18T00:00Z 2026-11-25T00:00Z"),
    ("CRN-48", "0 0 * * 7", "UTC", "2026-11-05T00:00+00:00",
     "2026-11-08T00:00Z 2026-11-15T00:00Z"),
    ("CRN-49", "0 22 * * 1-5", "Asia/Tokyo", "2026-11-06T13:00+00:00",
     "2026-11-09T13:00Z 2026-11-10T13:00Z"),
    ("CRN-51", "0 0 1 1 *", "Pacific/Pago_Pago", "2026-12-30T00:00+00:00",
     "2027-01-01T11:00Z"),
    ("CRN-54", "*/7 * * * *", "UTC", "2026-11-05T00:50+00:00",
     "2026-11-05T00:56Z 2026-11-05T01:00Z 2026-11-05T01:07Z 2026-11-05T01:14Z"),
    ("CRN-55", "0 0 1 */5 *", "UTC", "2026-11-05T00:00+00:00",
     "2027-01-01T00:00Z 2027-06-01T00:00Z 2027-11-01T00:00Z"),
    ("CRN-57", "0 0,12 1 */2 *", "UTC", "2026-11-05T00:00+00:00",
     "2027-01-01T00:00Z 2027-01-01T12:00Z 2027-03-01T00:00Z"),
    ("CRN-58", "0 0-23 * * *", "America/New_York", "2026-11-01T00:30-04:00",
     "2026-11-01T05:00Z 2026-11-01T07:00Z 2026-11-01T08:00Z"),
    ("CRN-59", "30 1 * * *", "America/New_York", "2026-11-01T01:15-05:00",
     "2026-11-02T06:30Z"),
    ("CRN-60", "30 1 * * *", "America/New_York", "2026-11-01T01:15-04:00",
     "2026-11-01T05:30Z 2026-11-02T06:30Z"),
    ("CRN-61", "*/30 * * * *", "America/New_York", "2026-11-01T01:15-05:00",
     "2026-11-01T06:30Z 2026-11-01T07:00Z"),
    ("CRN-63", "30 2 8 3 *", "America/New_York", "2026-03-01T00:00-05:00",
     "2026-03-08T07:00Z 2027-03-08T07:30Z"),
    ("CRN-64", "30 2 * 3 0", "America/New_York", "2026-03-07T00:00-05:00",
     "2026-03-08T07:00Z 2026-03-15T06:30Z"),
    ("CRN-66", "0 0 29-31 * *", "UTC", "2027-01-31T12:00+00:00",
     "2027-03-29T00:00Z 2027-03-30T00:00Z 2027-03-31T00:00Z"),
    ("CRN-67", "15 14 1 * *", "UTC", "2026-11-05T00:00+00:00",
     "2026-12-01T14:15Z 2027-01-01T14:15Z"),
    ("CRN-69", "0 12 * * fri", "America/Los_Angeles", "2026-11-05T00:00-08:00",
     "2026-11-06T20:00Z"),
    ("CRN-70", "0 0 24 12 *", "Asia/Manila", "2026-11-05T00:00+00:00",
     "2026-12-23T16:00Z"),
    ("CRN-72", "*/20 1-3 * * *", "America/New_York", "2026-11-01T00:50-04:00",
     ("2026-11-01T05:00Z 2026-11-01T05:20Z 2026-11-01T05:40Z 2026-11-01T06:00Z "
      "2026-11-01T06:20Z 2026-11-01T06:40Z 2026-11-01T07:00Z")),
    ("CRN-73", "0 2 * * *", "Europe/Paris", "2027-03-27T12:00+01:00",
     "2027-03-28T01:00Z 2027-03-29T00:00Z"),
    ("CRN-75", "0 0 1 * *", "America/Sao_Paulo", "2026-11-05T00:00-03:00",
     "2026-12-01T03:00Z"),
    ("CRN-76", "0 12 30 12 *", "Pacific/Apia", "2011-12-01T00:00-10:00",
     "2011-12-30T10:00Z"),
]  # fmt: skip


@pytest.mark.case(
    "CRN-01", "CRN-02", "CRN-03", "CRN-06", "CRN-07", "CRN-10", "CRN-12", "CRN-13", "CRN-14",
    "CRN-15", "CRN-16", "CRN-17", "CRN-18", "CRN-19", "CRN-21", "CRN-22", "CRN-25", "CRN-27",
    "CRN-28", "CRN-30", "CRN-31", "CRN-33", "CRN-34", "CRN-35", "CRN-36", "CRN-39", "CRN-40",
    "CRN-42", "CRN-43", "CRN-44", "CRN-45", "CRN-46", "CRN-48", "CRN-49", "CRN-51", "CRN-54",
    "CRN-55", "CRN-57", "CRN-58", "CRN-59", "CRN-60", "CRN-61", "CRN-63", "CRN-64", "CRN-66",
    "CRN-67", "CRN-69", "CRN-70", "CRN-72", "CRN-73", "CRN-75", "CRN-76",
)  # fmt: skip
@pytest.mark.parametrize(
    ("expression", "zone", "after", "expected"),
    [pytest.param(*row, id=case) for case, *row in ROWS],
)
def test_a_rule_fires_at_the_instants_that_are_known(
    expression: str, zone: str, after: str, expected: str
):
    rule = cron_rule(expression, tz=zone)

    assert instants(rule, after, len(expected.split())) == expected.split()


# The rules by which both zones changed their clocks until the end of 2026, and what they were
# replaced by in the data of that year.
OLD_RULES = {
    "America/Havana": "CST5CDT,M3.2.0/0,M11.1.0/1",
    "America/Winnipeg": "CST6CDT,M3.2.0,M11.1.0",
}
HAVANA = ("30 0 * * *", "America/Havana", "2026-10-31T12:00-04:00")
HAVANA_OLD = "2026-11-01T04:30Z 2026-11-02T05:30Z 2026-11-03T05:30Z"
HAVANA_NEW = "2026-11-01T04:30Z 2026-11-02T04:30Z 2026-11-03T04:30Z"
WINNIPEG = ("0 9 * * *", "America/Winnipeg", "2026-11-02T00:00+00:00")
WINNIPEG_OLD = "2026-11-02T15:00Z 2026-11-03T15:00Z"
WINNIPEG_NEW = "2026-11-02T14:00Z 2026-11-03T14:00Z"


@pytest.mark.case("CRN-24", "CRN-78")
@pytest.mark.parametrize(
    ("row", "old", "new"),
    [(HAVANA, HAVANA_OLD, HAVANA_NEW), (WINNIPEG, WINNIPEG_OLD, WINNIPEG_NEW)],
    ids=["CRN-24", "CRN-78"],
)
def test_where_the_laws_have_changed_the_version_of_the_data_decides(
    row: tuple[str, str, str], old: str, new: str
):
    expression, name, after = row
    expected = old if newer_data("2026f", zone_data_version()) else new
    old_zone = zone_of(OLD_RULES[name])
    count = len(new.split())

    assert instants(cron_rule(expression, tz=name), after, count) == expected.split()
    assert instants(cron_rule(expression, tz=name, zone=old_zone), after, count) == old.split()


def test_an_instant_is_later_than_asked_for_to_the_millisecond():
    rule = cron_rule("* * * * *")
    minute = int(datetime(2026, 11, 5, 9, 30, tzinfo=UTC).timestamp() * 1000)

    assert rule.next_ms(minute - 1) == minute
    assert rule.next_ms(minute) == minute + 60_000
    assert rule.next_ms(minute + 1) == minute + 60_000
    assert rule.next_ms(-60_001) == -60_000
    assert rule.next_ms(-60_000) == 0


@pytest.mark.parametrize("after", [-(10**18), 0, 253_402_300_799_999, 10**18])
def test_any_number_of_milliseconds_has_an_answer(after: int):
    for zone in ("UTC", "Europe/Berlin", "Pacific/Apia"):
        found = cron_rule("0 0 29 2 *", tz=zone).next_ms(after)
        assert found is None or found > after
