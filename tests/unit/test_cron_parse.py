"""Reading cron expressions: all that is wrong is found at once, and the field is named."""

from typing import Any

import pytest

from echomq_worker.domain.cron import Dst, cron_rule
from echomq_worker.errors import CronError, InvalidArgumentError, UnknownZoneError


def read_error(expression: Any, dst: str = "cron") -> str:
    with pytest.raises(CronError) as caught:
        cron_rule(expression, dst=dst)
    return str(caught.value)


@pytest.mark.case("CPA-07")
@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("", "is empty: expected 5 fields (minute, hour, day of month, month, weekday)"),
        ("   ", "is empty: expected 5 fields"),
        ("* * * *", "has 4 fields: expected 5 (minute, hour"),
        ("*", "has 1 field: expected 5"),
        ("* * * * * * *", "has 7 fields: expected 5"),
        ("60 * * * *", "the minute '60': expected 0-59"),
        ("* 24 * * *", "the hour '24': expected 0-23"),
        ("* * 0 * *", "the day of month '0': expected 1-31"),
        ("* * 32 * *", "the day of month '32'"),
        ("* * * 0 *", "the month '0': expected 1-12 or JAN-DEC"),
        ("* * * 13 *", "the month '13'"),
        ("* * * * 8", "the weekday '8': expected 0-7 or SUN-SAT"),
        ("60 * * * * *", "the second '60': expected 0-59"),
        ("*/0 * * * *", "the minute '*/0': expected a step of 1 or more"),
        ("*/-5 * * * *", "the minute '*/-5'"),
        ("5-1 * * * *", "the minute '5-1': expected a range from the smaller to the larger"),
        ("5-1 * * * * *", "the second '5-1': expected a range from the smaller"),
        ("0 0 9-3 * *", "the day of month '9-3': expected a range from the smaller"),
        ("1,,2 * * * *", "empty minute"),
        (",1 * * * *", "empty minute"),
        ("* 1, * * *", "empty hour"),
        ("a * * * *", "the minute 'a'"),
        ("-1 * * * *", "the minute '-1'"),
        ("+5 * * * *", "the minute '+5'"),
        ("1.5 * * * *", "the minute '1.5'"),
        ("1e1 * * * *", "the minute '1e1'"),
        ("0 0 1-31/0 * *", "the day of month '1-31/0': expected a step"),
        ("* * * * mon-foo", "the weekday 'mon-foo'"),
        ("* * * * 1#6", "the weekday '1#6': expected the 1st to the 5th of a weekday"),
        ("* * * * 1#0", "the weekday '1#0': expected the 1st to the 5th"),
        ("* * * * 8#1", "the weekday '8#1'"),
        ("* * * * \u0663", "'* * * * \\u0663' is not plain ASCII in the field weekday"),
        ("\u0663 * * * *", "is not plain ASCII in the field minute"),
        ("*\u00a0* * * *", "is not plain ASCII in its white space"),
        ("*\n* * * *", "is not plain ASCII in its white space"),
        ("* * \0 * *", "is not plain ASCII in the field day of month"),
        ("0 0 1-100000000 * *", "the day of month '1-100000000': expected numbers of at most 2"),
        ("*/100 * * * *", "the minute '*/100': expected numbers of at most 2 digits"),
        ("1-100000000", "has 1 field"),
        ("*-5 * * * *", "the minute '*-5'"),
        ("1-2-3 * * * *", "the minute '1-2-3'"),
        ("1/2/3 * * * *", "the minute '1/2/3'"),
        ("1/ * * * *", "the minute '1/'"),
        ("1- * * * *", "the minute '1-'"),
        ("* * * * MON-", "the weekday 'MON-'"),
        ("? * * * *", "the minute '?'"),
        ("0 0 ?/2 * *", "the day of month '?/2'"),
        ("0 0 L-31 * *", "the day of month 'L-31': expected L-1 to L-30"),
        ("0 0 L-0 * *", "the day of month 'L-0': expected L-1 to L-30"),
        ("0 0 32W * *", "the day of month '32W'"),
        ("0 0 1-5W * *", "the day of month '1-5W'"),
        ("0 0 W * *", "the day of month 'W'"),
        ("0 0 * * L", "the weekday 'L': expected L with a weekday: 5L is the last Friday"),
        ("0 0 * * 8L", "the weekday '8L'"),
        ("0 0 * * fooL", "the weekday 'fooL'"),
        ("0 0 * * 5W", "the weekday '5W'"),
        ("0 0 * 5#1 *", "the month '5#1'"),
        ("$(x) * * * *", "the minute '$(x)'"),
    ],
)
def test_what_is_no_expression_is_refused_and_the_field_is_named(expression: str, says: str):
    assert says in read_error(expression)


@pytest.mark.parametrize(
    ("value", "says"),
    [(None, "NoneType"), (b"* * * * *", "bytes"), (5, "int"), (["*"] * 5, "list")],
)
def test_what_is_no_text_is_refused(value: object, says: str):
    assert read_error(value) == f"{says} is no cron expression: expected text"


def test_an_expression_has_at_most_200_characters():
    assert len(cron_rule("0," * 95 + "00 * * * *").expression) == 200

    assert (
        read_error("0," * 96 + "0 * * * *")
        == "a cron expression of 201 characters: expected at most 200"
    )
    assert len(read_error("*" * 10_000_000)) < 300


@pytest.mark.parametrize(
    "expression",
    [
        "0 0 31 2 *",
        "0 0 30 2 ?",
        "0 0 31 4,6,9,11 *",
        "0 0 L-30 2 *",
        "0 0 31W 4 *",
        "0 0 30 2 */2",
    ],
)
def test_a_date_that_no_year_has_is_refused(expression: str):
    assert read_error(expression) == (
        f"day of month and month of {expression!r} never come together: no year has such a day"
    )


@pytest.mark.parametrize(
    "expression", ["0 0 31 2 1", "48 14 31 jun sun", "0 0 29 2 *", "0 0 30W 4 *"]
)
def test_a_date_that_some_year_has_is_accepted(expression: str):
    assert cron_rule(expression).next_ms(0) is not None


@pytest.mark.case("CPA-08")
@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("@every 5s", "is an interval, not a time: give it as every=, such as every='5s'"),
        ("@EVERY 1h", "give it as every="),
        ("@every", "give it as every="),
        ("@reboot", "enqueue a job when your program starts, or give an interval as every="),
        ("@dayly", "is no alias: expected 5 fields"),
        ("@daily 5", "is no alias"),
        ("@", "is no alias"),
    ],
)
def test_what_begins_with_an_at_is_an_alias_or_refused(expression: str, says: str):
    assert says in read_error(expression)


@pytest.mark.case("CTZ-05")
@pytest.mark.parametrize("zone", ["Europe/Berlim", "", "../../etc/passwd", "utc"])
def test_an_unknown_zone_is_refused_with_the_rule(zone: str):
    with pytest.raises(UnknownZoneError):
        cron_rule("0 9 * * *", tz=zone)


def test_an_unknown_policy_is_refused():
    assert read_error("0 9 * * *", dst="both") == (
        "'both' is no policy for clock changes: expected cron or skip"
    )
    assert issubclass(CronError, InvalidArgumentError)


def test_a_rule_is_kept_as_it_was_written_with_single_spaces():
    rule = cron_rule("  0\t9  * * Mon-FRI ", tz="Europe/Berlin", dst="skip")

    assert (rule.expression, rule.zone, rule.dst) == ("0 9 * * Mon-FRI", "Europe/Berlin", Dst.SKIP)
    assert rule == cron_rule("0 9 * * Mon-FRI", tz="Europe/Berlin", dst="skip")
    assert rule != cron_rule("0 9 * * Mon-FRI", tz="Europe/Berlin")
    assert len({rule, cron_rule("0 9 * * Mon-FRI", tz="Europe/Berlin", dst="skip")}) == 1
    assert "offsets" not in repr(rule)
