"""What would run between two instants, as a test can ask."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from echomq_worker import EchoMQ, InvalidArgumentError, testing
from echomq_worker.testing import Occurrence


@pytest.fixture
def app() -> EchoMQ:
    return EchoMQ()


def test_a_test_can_ask_what_would_run_between_two_instants(app: EchoMQ):
    @app.cron("30 2 * * *", tz="Europe/Berlin", name="backup")
    @app.every("12h", name="sweep")
    @app.job("clean")
    async def clean() -> None: ...

    berlin = ZoneInfo("Europe/Berlin")
    since = datetime(2027, 3, 28, tzinfo=berlin)
    found = testing.occurrences(app, since, since + timedelta(hours=23))

    assert [str(each) for each in found] == [
        "2027-03-28T00:00:00+00:00 sweep",
        "2027-03-28T03:00:00+02:00 backup",
        "2027-03-28T12:00:00+00:00 sweep",
    ]
    assert found[1] == Occurrence(
        at=datetime(2027, 3, 28, 3, tzinfo=berlin), scheduler="backup", queue="default", job="clean"
    )
    (only,) = testing.occurrences(app, since, since + timedelta(days=1), scheduler="backup")
    assert only.at.hour == 3


def test_an_end_is_not_counted_and_a_limit_is(app: EchoMQ):
    @app.every("1h", limit=3)
    async def tick() -> None: ...

    since = datetime(2027, 1, 1, tzinfo=UTC)
    assert len(testing.occurrences(app, since, since + timedelta(hours=2))) == 2
    assert len(testing.occurrences(app, since, since + timedelta(days=2))) == 3


@pytest.mark.parametrize(
    ("since", "until", "scheduler", "said"),
    [
        (datetime(2027, 1, 1), datetime(2027, 1, 2, tzinfo=UTC), None, "time zone"),  # noqa: DTZ001 - what it is about
        (datetime(2027, 1, 1, tzinfo=UTC), datetime(2027, 1, 2, tzinfo=UTC), "x", "tick"),
        (datetime(2027, 1, 1, tzinfo=UTC), datetime(2028, 1, 1, tzinfo=UTC), None, "100000"),
    ],
)
def test_a_question_that_cannot_be_answered_says_why(
    app: EchoMQ, since: datetime, until: datetime, scheduler: str | None, said: str
):
    @app.every("1s")
    async def tick() -> None: ...

    with pytest.raises(InvalidArgumentError, match=said):
        testing.occurrences(app, since, until, scheduler=scheduler)
