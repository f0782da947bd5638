"""What has to happen again and again is declared once, with a cron expression or an interval. Each
occurrence makes one job, however many workers there are. From the shell it is `echomq schedule`.
"""

import asyncio
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from echomq_worker import (
    INJECTED,
    CronError,
    EchoMQ,
    HandlerError,
    JobContext,
    SchedulerState,
    UnknownZoneError,
    cron_rule,
    testing,
)
from tests.fundamentals.conftest import Work, Worker

HOUR = timedelta(hours=1)


async def test_a_worker_makes_a_job_at_each_occurrence(app: EchoMQ, worker: Worker):
    ran: list[datetime] = []
    enough = asyncio.Event()

    @app.every("200ms")
    @app.job("tidy")
    async def tidy(context: JobContext = INJECTED) -> None:
        assert context.scheduled_for is not None  # the planned instant, however late it runs
        ran.append(context.scheduled_for)
        if len(ran) == 3:
            enough.set()

    async with worker():
        await asyncio.wait_for(enough.wait(), 10)

    assert len(set(ran)) == len(ran)
    # The grid counts from 1970, not from our start.
    assert {when.microsecond % 200_000 for when in ran} == {0}


def test_a_cron_expression_is_read_in_a_time_zone(app: EchoMQ):
    @app.cron("0 9 * * MON-FRI", tz="Europe/Berlin", args={"to": "all@example.com"})
    @app.job("digest.send")
    async def send(to: str) -> str:
        return to

    (declared,) = app.scheduled  # nothing was sent: a worker does that when it starts
    assert declared.spec.rule.describe() == "at 09:00 on Monday to Friday, Europe/Berlin"
    assert send.name == "digest.send"  # the job stays what it was


def test_what_cannot_be_right_is_refused_where_it_is_declared(app: EchoMQ):
    @app.job("digest.send")
    async def send() -> None: ...

    with pytest.raises(CronError, match="expected 5"):
        app.cron("at nine")(send)
    with pytest.raises(UnknownZoneError, match="did you mean Europe/Berlin"):
        app.cron("0 9 * * *", tz="Europe/Berln")(send)
    app.cron("0 9 * * *")(send)
    with pytest.raises(HandlerError, match="give one of them another name"):
        app.cron("0 18 * * *")(send)


def test_a_time_that_a_clock_change_leaves_out_runs_when_the_clock_goes_on():
    berlin = ZoneInfo("Europe/Berlin")
    rule = cron_rule("30 2 * * *", tz="Europe/Berlin")
    before = datetime(2027, 3, 28, tzinfo=berlin)  # at 02:00 it is 03:00

    found = rule.next_ms(round(before.timestamp() * 1_000)) or 0

    assert datetime.fromtimestamp(found / 1_000, berlin) == datetime(2027, 3, 28, 3, tzinfo=berlin)


async def test_code_makes_schedulers_too_and_looks_after_them(app: EchoMQ, work: Work):
    @app.job("digest.send", keep_result="1h")
    async def send(user: int) -> int:
        return user

    await app.schedulers.put("digest:7", send, every="1h", args={"user": 7})
    coming = await app.schedulers.upcoming("digest:7", 3)
    assert coming[2] - coming[0] == 2 * HOUR
    assert (coming[0].minute, coming[0].second) == (0, 0)

    handle = await app.schedulers.trigger("digest:7")  # one now, besides
    await work()
    assert await handle.result("5s") == 7

    await app.schedulers.pause("digest:7", reason="on holiday")
    seen = await app.schedulers.get("digest:7")
    assert seen is not None
    assert seen.state is SchedulerState.PAUSED
    assert [run.outcome for run in seen.runs] == ["completed"]
    assert await app.schedulers.remove("digest:7")


async def test_what_was_missed_is_made_up_for_as_the_policy_says():
    app = EchoMQ()
    ran: list[str] = []

    for misfire in ("latest", "none", "all(max=3)"):

        @app.every("1h", name=misfire[:6], misfire=misfire, args={"which": misfire})
        @app.job(f"sync.{misfire[:6]}")
        async def sync(which: str) -> None:
            ran.append(which)

    nine = datetime(2027, 3, 1, 9, tzinfo=UTC)
    clock = testing.ManualClock(round(nine.timestamp() * 1_000))
    async with testing.inline(app, backend=testing.InlineBackend(clock)) as kit:
        kit.advance("1d5m")  # as if no worker had been there, until five past nine
        await kit.run_until_idle()

    assert sorted(ran) == ["all(max=3)"] * 3 + ["latest"]


async def test_no_second_job_is_made_before_the_first_has_ended_if_you_say_so():
    app = EchoMQ()
    ran: list[datetime] = []

    @app.every("1h", overlap="skip")
    @app.job("sync", backoff="150m")
    async def sync(context: JobContext = INJECTED) -> None:
        assert context.scheduled_for is not None
        ran.append(context.scheduled_for)
        if context.attempt == 1:
            msg = "the peer does not answer"
            raise OSError(msg)

    async with testing.inline(app) as kit:
        await kit.run_for("4h")  # as if a worker had been there all the while

    first, again, next_one = ran
    assert again == first  # the retry, two and a half hours later
    assert next_one - first == 3 * HOUR  # the two in between made no job


def test_a_test_asks_which_occurrences_there_would_be():
    app = EchoMQ()
    app.cron("0 9 * * MON", tz="Europe/Berlin")(app.job("digest.send")(lambda: None))
    since = datetime(2027, 3, 20, tzinfo=UTC)

    found = testing.occurrences(app, since, since + timedelta(days=14))

    assert [str(each) for each in found] == [
        "2027-03-22T09:00:00+01:00 digest.send",
        "2027-03-29T09:00:00+02:00 digest.send",  # summer time
    ]
