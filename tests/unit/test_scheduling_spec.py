from datetime import UTC, datetime, timedelta, timezone
from importlib.resources import files
from io import BytesIO
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from echomq_worker.domain.backoff import backoff_text, steps
from echomq_worker.domain.scheduling.rule import LAST_INSTANT_MS, Every
from echomq_worker.domain.scheduling.spec import SchedulerSpec
from echomq_worker.domain.scheduling.template import Template
from echomq_worker.errors import CronError, InvalidArgumentError, UnknownZoneError
from tests.unit.scheduling_fakes import DAY, HOUR, START, TEMPLATE, spec

NEW_YEAR = datetime(2027, 1, 1, tzinfo=UTC)
FIRST_HALF: dict[str, Any] = {"start": NEW_YEAR, "end": NEW_YEAR + timedelta(days=181)}
TOKYO_FILE = files("tzdata").joinpath("zoneinfo", "Asia", "Tokyo").read_bytes()
LARGE = Template(name="report", payload=b"x" * 1_000_000)


def test_a_scheduler_has_a_cron_expression_in_a_zone():
    made = spec(cron="0 9 * * MON-FRI", tz="Europe/Berlin", dst="skip")
    assert made.rule.describe() == "at 09:00 on Monday to Friday, Europe/Berlin"


def test_a_scheduler_has_an_interval_whose_grid_begins_with_the_start():
    start = datetime(2027, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))
    assert spec(every="15m").rule == Every(900_000)
    assert spec(every="15m", offset="1m", start=start).rule == Every(900_000, 60_000, START)


def test_bounds_are_moments_with_a_zone():
    made = spec(start=NEW_YEAR, end=NEW_YEAR + timedelta(days=1, microseconds=1500))
    assert (made.start_ms, made.end_ms) == (START, START + DAY + 1)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"cron": "* * * * *", "every": "1m"}, "has both cron and every"),
        ({"cron": None, "every": None}, "has neither cron nor every"),
        ({"cron": "* * * * *", "offset": "1m"}, "has an offset, which only every takes"),
        ({"tz": "Europe/Berlin"}, "has every with a tz or dst, which only cron takes"),
        ({"dst": "skip"}, "has every with a tz or dst, which only cron takes"),
        ({"cron": "* * * * *", "dst": "real"}, "expected cron or skip"),
        ({"every": -5}, "-5 is no duration"),
        ({"every": 0}, "expected at least 100ms"),
        ({"start": NEW_YEAR.replace(tzinfo=None)}, "expected a datetime with a time zone"),
        ({"end": "2027-01-01"}, "expected a datetime with a time zone"),
        (
            {"start": NEW_YEAR, "end": NEW_YEAR - timedelta(seconds=1)},
            r"ends at 2026-12-31T23:59:59\+00:00, before it starts at 2027-01-01T00:00:00\+00:00",
        ),
        ({"start": datetime(1960, 1, 1, tzinfo=UTC)}, "expected 1970 to 2093"),
        (
            {"end": datetime(2094, 1, 1, tzinfo=UTC)},
            f"expected a whole number, 0 to {LAST_INSTANT_MS}",
        ),
        ({"immediately": True, "start": NEW_YEAR}, "has both immediately and a start"),
        ({"limit": 0}, "has limit 0: expected a whole number, 1 to"),
        ({"limit": True}, "has limit True"),
        ({"limit": 2.5}, "has limit 2.5"),
        ({"revision": -1}, "has revision -1"),
        ({"jitter": "1m"}, "has a jitter of 1m: expected less than the interval"),
        ({"every": "2d", "jitter": "25h"}, "and at most 1d"),
        ({"cron": "0 0 * * *", "jitter": "25h"}, "and at most 1d"),
        ({"cron": "* * * * *", "jitter": "1m"}, "jitter of 1m, but occurrences only 1m apart"),
        ({"cron": "0,50 9 * * *", "jitter": "51m"}, "occurrences only 50m apart"),
        ({"cron": "0 0 31 12 *", **FIRST_HALF}, "on day 31 of December, UTC has no occurrence"),
        ({"every": "400d", "offset": "300d", **FIRST_HALF}, "never fires"),
        ({"misfire": "all(max=9)", "template": LARGE}, "9 occurrences at once, of 1000000 bytes"),
        ({"misfire": "some"}, "'some' is no misfire policy"),
        ({"overlap": "maybe"}, "'maybe' is no overlap policy"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_reason(options: dict[str, Any], problem: str):
    with pytest.raises(InvalidArgumentError, match=problem):
        spec(**options)


def test_a_bad_expression_and_an_unknown_zone_have_errors_of_their_own():
    with pytest.raises(CronError):
        spec(cron="1-100000000 * * * *")
    with pytest.raises(CronError):
        spec(cron="* " * 101)
    with pytest.raises(UnknownZoneError):
        spec(cron="* * * * *", tz="Europe/Atlantis")


def test_a_zone_may_be_given_itself_and_is_kept_by_its_name():
    (by_name, by_zone) = (
        spec(cron="0 9 * * *", tz=tz) for tz in ("Europe/Berlin", ZoneInfo("Europe/Berlin"))
    )
    assert by_zone == by_name
    assert spec(every="1h", tz=UTC) == spec(every="1h", tz=ZoneInfo("UTC")) == spec(every="1h")


def test_a_zone_that_has_no_name_is_refused():
    for nameless in (ZoneInfo.from_file(BytesIO(TOKYO_FILE)), timezone(timedelta(hours=9))):
        with pytest.raises(UnknownZoneError, match=r"has no name: expected an IANA name"):
            spec(cron="0 9 * * *", tz=nameless)


def test_the_problem_is_told_with_the_name_of_the_scheduler():
    with pytest.raises(InvalidArgumentError, match=r"^scheduler orders:nightly has limit 0"):
        spec("orders:nightly", limit=0)


@pytest.mark.parametrize("name", ["a", "!", "orders/nightly:eu", "~" * 200])
def test_a_name_is_visible_ascii(name: str):
    assert spec(name).name == name


@pytest.mark.parametrize("name", ["", "a b", "a\n", "naïve", "x" * 201, "\x7f", None, 5, b"a"])
def test_any_other_name_is_refused(name: Any):
    with pytest.raises(InvalidArgumentError, match="cannot name a scheduler: expected 1 to 200"):
        spec(name)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"max_attempts": 0}, "max_attempts is 0"),
        ({"keep_result_ms": -1}, "keep_result is -1"),
        ({"timeout_ms": 1.5}, "timeout is 1.5"),
        ({"ttl_ms": 0}, "ttl is 0"),
        ({"backoff": "quadratic"}, "backoff is 'quadratic': expected what backoff_text writes"),
    ],
)
def test_a_template_is_checked(options: dict[str, Any], problem: str):
    with pytest.raises(InvalidArgumentError, match=f"the template's {problem}"):
        Template(name=None, **options)


def test_a_template_takes_what_a_job_can_have():
    made = Template(
        name="report",
        payload=b"[]",
        max_attempts=1,
        keep_result_ms=0,
        timeout_ms=0,
        ttl_ms=1,
        backoff=backoff_text(steps(["1s"])),
    )
    assert made.backoff == "steps:1000:none"


def test_what_is_nearly_refused_is_taken():
    june = spec(cron="0 0 30 6 *", **FIRST_HALF)
    assert june.end_ms is not None
    assert spec(cron="0,50 9 * * *", jitter="49m").jitter_ms == 49 * HOUR // 60
    assert spec(misfire="all(max=8)", template=LARGE).misfire.most == 8
    assert spec(end=datetime(2001, 1, 1, tzinfo=UTC)).end_ms, "code may outlive its end"


def test_jitter_may_come_close_to_the_interval():
    assert spec(every="1h", jitter="59m").jitter_ms == 59 * HOUR // 60
    assert SchedulerSpec(name="x", rule=Every(100), template=TEMPLATE, jitter_ms=99).jitter_ms == 99
