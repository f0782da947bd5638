"""What holds for every cron rule: it fires as counting through the minutes says, and as cronsim."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice, pairwise

import pytest
from cronsim import CronSim, CronSimError
from hypothesis import given, settings
from hypothesis import strategies as st

from echomq_worker.domain.cron import CronRule, cron_rule
from echomq_worker.errors import CronError
from echomq_worker.zones import find_zone
from tests.support.changing_zones import behaviours, zone_of
from tests.support.cron_oracle import Oracle, Shown, changes, fires, shown

HOUR = 3_600_000
MINUTES = 20 * 60
ZONES = {
    "America/New_York": 2026,
    "America/Santiago": 2026,
    "America/Havana": 2026,
    "America/St_Johns": 2026,
    "America/Nuuk": 2026,
    "America/Caracas": 2016,  # half an hour forward
    "Europe/Berlin": 2027,
    "Europe/London": 2026,
    "Europe/Lisbon": 2027,
    "Africa/Cairo": 2026,
    "Africa/Casablanca": 2026,
    "Antarctica/Troll": 2027,  # two hours
    "Asia/Beirut": 2026,
    "Asia/Tehran": 2022,
    "Asia/Pyongyang": 2015,  # half an hour back
    "Asia/Kathmandu": 1985,  # a quarter of an hour forward, on New Year
    "Australia/Lord_Howe": 2026,  # half an hour both ways
    "Australia/Adelaide": 2027,
    "Pacific/Apia": 2011,  # a whole day forward
    "Pacific/Kwajalein": 1993,  # and another
    "Pacific/Chatham": 2026,
}
NO_FULL_HOUR = {
    *("America/Caracas", "Asia/Pyongyang", "Asia/Kathmandu", "Australia/Lord_Howe"),
    "Pacific/Chatham",  # from 03:45 to 02:45
}
"""Where the wall clock is not changed from one full hour to another, cronsim loses firings."""

WRITTEN = """
* * * * * | */7 * * * * | */30 * * * * | 0 * * * * | 5/15 * * * * | 59 * * * * | * 2 * * *
*/20 1-3 * * * | */10 0 * * * | 0 */2 * * * | 30 */3 * * * | 15 * * * 0 | 30 2 * * * | 0 2 * * *
30 1 * * * | 0 1 * * * | 15 2 * * * | 1 2 * * * | 0 3 * * * | 0 0 * * * | 30 0 * * * | 59 23 * * *
0,30 2 * * * | 0,30 1 * * * | 0-59 2 * * * | 0-59 0-23 * * * | 0 0-23 * * * | 45 1,2,3 * * *
5/20 1-3 * * * | 30 2 * * 0 | 0 0 * * 0 | 30 1 29-31 * 6,0 | 0 2 */2 * 0 | 30 2 * */2 6
0 12 30 12 * | 0 12 31 12 * | 0 12 * * * | 55 12 21 8 * | 30 2 1-15 * 6-7 | 0 0 1-31/3 */3 *
"""
EXPRESSIONS = [text.strip() for line in WRITTEN.split("\n") for text in line.split("|") if text]


@cache
def windows(zone: str) -> list[list[Shown]]:
    """Return the minutes from 4 hours before each change of a year to 16 hours after it."""
    tzinfo, year = find_zone(zone), ZONES[zone]
    hours = changes(tzinfo, year)
    return [shown(tzinfo, hour - timedelta(hours=4), MINUTES) for hour in hours]


@pytest.mark.parametrize("zone", ZONES)
def test_rules_fire_around_clock_changes_as_counting_through_the_minutes_says(zone: str):
    assert windows(zone)
    for expression in EXPRESSIONS:
        oracle = Oracle(expression)
        for policy in ("cron", "skip"):
            rule = cron_rule(expression, tz=zone, dst=policy)
            for minutes in windows(zone):
                first, last = minutes[0].at_ms - 1, minutes[-1].at_ms
                expected = oracle.fires(minutes, policy)
                assert fires(rule, first, last) == expected, (rule, first)


@pytest.mark.parametrize("minutes_later", [-90, -60, -30, -1, 0, 30])
@pytest.mark.parametrize("offsets", [(0, 3_600), (3_600, 0)], ids=["forward", "back"])
def test_a_change_at_the_turn_of_the_year_is_one_as_any_other(
    minutes_later: int, offsets: tuple[int, int]
):
    new_year = datetime(2027, 1, 1, tzinfo=UTC)
    at = int(new_year.timestamp()) + minutes_later * 60
    zone = zone_of(changes=[(at - 200 * 86_400, offsets[0]), (at, offsets[1])])
    minutes = shown(zone, new_year - timedelta(hours=6), MINUTES)
    assert any(one.again or one.passed_over for one in minutes)
    for expression in [*EXPRESSIONS[::4], "15 0 1 1 *", "45 23 31 12 *", "*/20 0,23 31,1 * *"]:
        for policy in ("cron", "skip"):
            rule = cron_rule(expression, dst=policy, zone=zone)
            found = fires(rule, minutes[0].at_ms - 1, minutes[-1].at_ms)
            assert found == Oracle(expression).fires(minutes, policy), rule


def numbers(low: int, high: int) -> st.SearchStrategy[str]:
    """Return the texts of one field as both the oracle and cronsim read them."""
    number = st.integers(low, high)
    # (To cronsim, 5-5/2 is 5/2.)
    pairs = st.lists(number, min_size=2, max_size=2, unique=True).map(sorted)
    span = pairs.map(lambda pair: f"{pair[0]}-{pair[1]}")
    step = st.integers(1, high).map(lambda step: f"/{step}")
    stepped = st.builds(str.__add__, st.just("*") | span | number.map(str), step)
    item = number.map(str) | span | stepped
    return st.just("*") | item | st.lists(item, min_size=1, max_size=3).map(",".join)


five_fields = st.tuples(
    numbers(0, 59), numbers(0, 23), numbers(1, 31), numbers(1, 12), numbers(0, 7)
).map(" ".join)
changing = st.sampled_from(list(ZONES)).flatmap(
    lambda zone: st.tuples(st.just(zone), st.integers(0, len(windows(zone)) - 1))
)


def valid(expression: str, zone: str, policy: str = "cron") -> CronRule | None:
    try:
        return cron_rule(expression, tz=zone, dst=policy)
    except CronError:
        return None


@settings(max_examples=100, deadline=None)
@given(five_fields, changing, st.sampled_from(["cron", "skip"]))
def test_any_rule_fires_as_counting_through_the_minutes_says(
    expression: str, where: tuple[str, int], policy: str
):
    zone, number = where
    rule, minutes = valid(expression, zone, policy), windows(zone)[number]
    found = [] if rule is None else fires(rule, minutes[0].at_ms - 1, minutes[-1].at_ms)

    assert found == Oracle(expression).fires(minutes, policy)


special_days = st.sampled_from(["L", "LW", "L,15", "1,LW"])
special_weekdays = st.builds("{}#{}".format, st.integers(0, 7), st.integers(1, 5)) | st.builds(
    "{}L".format, st.integers(0, 7)
)
as_in_cronsim = st.tuples(
    numbers(0, 59),
    numbers(0, 23),
    numbers(1, 31) | special_days,
    numbers(1, 12) | st.sampled_from(["JAN", "mar-may", "Oct,nov"]),
    numbers(0, 7) | st.sampled_from(["mon-fri", "SAT", "sun,wed"]) | special_weekdays,
).map(" ".join)
whole_hours = changing.filter(lambda where: where[0] not in NO_FULL_HOUR)


@settings(max_examples=80, deadline=None)
@given(as_in_cronsim, whole_hours, st.integers(0, MINUTES - 1))
def test_any_rule_fires_as_cronsim_says(expression: str, where: tuple[str, int], minute: int):
    zone, number = where
    start = windows(zone)[number][minute]
    local = datetime.fromtimestamp(start.at_ms / 1000, UTC).astimezone(find_zone(zone))
    wildcard = any(text.startswith("*") for text in expression.split()[:2])
    no_midnight = any(wall % 1440 == 0 for one in windows(zone)[number] for wall in one.passed_over)
    if start.again or (wildcard and no_midnight):
        return  # there, cronsim answers with an instant that is past, or no wall time of the rule
    try:
        peer = CronSim(expression, local)
        expected = list(islice((one.astimezone(UTC) for one in peer), 6))
    except CronSimError:
        expected = []
    rule = valid(expression, zone)

    assert list(islice(following(rule, start.at_ms), 6)) == expected


def following(rule: CronRule | None, after_ms: int) -> Iterator[datetime]:
    """Return the instants of a rule after one, if there is one."""
    at = after_ms
    while rule is not None and (found := rule.next_ms(at)) is not None:
        at = found
        yield datetime.fromtimestamp(at / 1000, UTC)


@settings(max_examples=80, deadline=None)
@given(
    five_fields,
    st.sampled_from(list(ZONES)),
    st.sampled_from(["cron", "skip"]),
    st.integers(0, 3_000_000_000_000),
)
def test_the_next_instant_is_later_and_the_first_one(
    expression: str, zone: str, policy: str, after: int
):
    rule = valid(expression, zone, policy)
    if rule is None:
        return
    found = rule.next_ms(after)
    assert found is not None
    assert found > after
    assert rule.next_ms(found - 1) == found
    assert rule.next_ms((after + found) // 2) == found or (after + found) // 2 == found


def test_how_time_is_cut_does_not_change_what_fires_in_any_zone():
    tried = 0
    for zone, its_changes in behaviours():
        for expression in EXPRESSIONS[1:]:
            rule = cron_rule(expression, tz=zone)
            for _, after in its_changes[:2]:
                at = after.start * 1000
                cuts = [at - 5 * HOUR, at - HOUR // 2, at - 1, at, at + HOUR // 3, at + 5 * HOUR]
                whole = fires(rule, cuts[0], cuts[-1])
                parts = [fires(rule, one, other) for one, other in pairwise(cuts)]
                assert whole == [one for part in parts for one in part], (rule, at)
                tried += 1
    assert tried > len(EXPRESSIONS) * 30
