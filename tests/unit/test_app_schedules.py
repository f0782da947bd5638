"""Schedulers that the code declares: what is declared, and what is refused then and there."""

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from echomq_worker import (
    ArgumentsError,
    EchoMQ,
    EchoMQError,
    HandlerError,
    InvalidArgumentError,
    InvalidQueueError,
    JobContext,
)
from echomq_worker.client import AsyncJob, SyncJob
from echomq_worker.domain.cron import CronRule, Dst, cron_rule
from echomq_worker.domain.scheduling.misfire import all_missed
from echomq_worker.domain.scheduling.overlap import Overlap
from echomq_worker.domain.scheduling.rule import Every
from echomq_worker.domain.scheduling.spec import SchedulerSpec
from echomq_worker.errors import CronError, UnknownZoneError

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
START, END = datetime(2027, 1, 1, tzinfo=UTC), datetime(2027, 12, 31, tzinfo=UTC)


def only(app: EchoMQ) -> SchedulerSpec:
    (declared,) = app.scheduled
    return declared.spec


def test_a_scheduler_stands_above_a_job_and_leaves_it_as_it_is():
    app = EchoMQ()

    @app.job("digest.send", queue="mail")
    async def send(to: str = "all", context: JobContext | None = None) -> str:
        assert context is None
        return to

    scheduled = app.cron("0 9 * * MON-FRI", tz="Europe/Berlin", args={"to": "ada"})(send)

    (declared,) = app.scheduled
    assert scheduled is send
    assert (declared.queue, declared.spec.name) == ("mail", "digest.send")
    assert declared.spec.rule == cron_rule("0 9 * * MON-FRI", tz="Europe/Berlin")
    assert declared.spec.template.name == "digest.send"
    assert declared.spec.template.payload == b'{"to":"ada"}'
    assert declared.place.endswith("<locals>.send")


async def test_above_a_plain_function_it_makes_a_job_of_it():
    app = EchoMQ()

    @app.every("30s")
    async def tidy() -> int:
        return 1

    @app.cron("@daily", job="report.make", queue="reports")
    def report(day: str | None = None) -> str | None:
        return day

    assert (await tidy(), report("x")) == (1, "x")
    assert isinstance(tidy, AsyncJob)
    assert isinstance(report, SyncJob)
    assert [(job.name, job.queue) for job in (tidy, report)] == [
        ("tidy", "default"),
        ("report.make", "reports"),
    ]
    assert [(each.queue, each.spec.name) for each in app.scheduled] == [
        ("default", "tidy"),
        ("reports", "report.make"),
    ]


def test_several_stand_above_one_job_each_with_a_name_of_its_own():
    app = EchoMQ()

    @app.every("1h", name="sync.full", args={"full": True})
    @app.every("5m")
    @app.job("sync")
    async def sync(*, full: bool = False) -> None: ...

    assert [(each.spec.name, each.spec.template.payload) for each in app.scheduled] == [
        ("sync", b"{}"),
        ("sync.full", b'{"full":true}'),
    ]


def test_the_same_name_may_stand_in_another_queue():
    app = EchoMQ()
    job = app.job("sync")(lambda: None)

    app.every("1m")(job)
    app.every("1m", queue="other")(job)

    assert [each.queue for each in app.scheduled] == ["default", "other"]


def test_all_that_can_be_said_arrives():
    app = EchoMQ()
    job = app.job("x")(lambda: None)

    app.every(
        timedelta(minutes=15),
        name="y",
        offset="1m",
        start=START,
        end=END,
        limit=7,
        jitter="30s",
        misfire="all(max=5, within=1d)",
        overlap="queue-one",
        revision=3,
        max_attempts=2,
        keep_result="1h",
        timeout=90,
        backoff="10s",
        expires="1d",
    )(job)

    spec = only(app)
    start_ms = round(START.timestamp() * 1_000)
    assert spec.rule == Every(15 * MINUTE, MINUTE, start_ms)
    assert (spec.start_ms, spec.end_ms) == (start_ms, round(END.timestamp() * 1_000))
    assert (spec.limit, spec.jitter_ms, spec.revision) == (7, 30_000, 3)
    assert (spec.misfire, spec.overlap) == (all_missed(max=5, within="1d"), Overlap.QUEUE_ONE)
    template = spec.template
    assert (template.max_attempts, template.keep_result_ms) == (2, HOUR)
    assert (template.timeout_ms, template.ttl_ms) == (90_000, DAY)
    assert template.backoff


def test_the_first_occurrence_of_an_interval_can_be_at_once():
    app = EchoMQ()
    app.every("1h", immediately=True)(app.job("x")(lambda: None))
    assert only(app).immediately


def test_a_policy_of_the_library_can_be_given_as_it_is():
    app = EchoMQ()
    app.cron("@hourly", misfire=all_missed(max=3), dst="skip")(app.job("x")(lambda: None))
    rule = only(app).rule
    assert isinstance(rule, CronRule)
    assert (only(app).misfire.most, rule.dst, rule.zone) == (3, Dst.SKIP, "UTC")


def cron(expression: str = "0 9 * * *", **options: Any) -> Callable[[EchoMQ], object]:
    return lambda app: app.cron(expression, **options)(job_of(app))


def every(period: Any = "1h", **options: Any) -> Callable[[EchoMQ], object]:
    return lambda app: app.every(period, **options)(job_of(app))


def job_of(app: EchoMQ) -> Any:
    def work(n: int = 1) -> None: ...

    return app.job("x")(work)


def required(app: EchoMQ) -> object:
    def work(n: int) -> None: ...

    return app.every("1m")(app.job("x")(work))


def twice(app: EchoMQ) -> object:
    job = job_of(app)
    return app.every("1m")(app.cron("@daily")(job))


def strangers(app: EchoMQ) -> object:
    return app.every("1m")(job_of(EchoMQ()))


def wrong_way_round(app: EchoMQ) -> object:
    @app.job("digest.send")
    @app.cron("@daily")
    async def send() -> None: ...

    return send


def nameless(app: EchoMQ) -> object:
    return app.every("1m")(lambda: None)


def no_function(app: EchoMQ) -> object:
    return app.every("1m")(5)  # pyright: ignore[reportCallIssue, reportArgumentType, reportUnknownVariableType]


def kept(app: EchoMQ) -> object:
    def work() -> Callable[[], None]: ...  # pyright: ignore[reportReturnType]

    return app.every("1m", keep_result="1h")(app.job("x")(work))


BAD: dict[str, tuple[Callable[[EchoMQ], object], type[EchoMQError], str]] = {
    "unknown zone": (cron(tz="Europe/Berln"), UnknownZoneError, "did you mean Europe/Berlin"),
    "zone like a path": (cron(tz="../../etc/passwd"), UnknownZoneError, "no time zone"),
    "no expression": (cron("soon"), CronError, "expected 5"),
    "long expression": (cron("1," * 100 + "1 * * * *"), CronError, "at most 200"),
    "huge range": (cron("1-100000000 * * * *"), CronError, "1-100000000"),
    "impossible date": (cron("0 0 30 2 *"), CronError, "30 2"),
    "reboot": (cron("@reboot"), CronError, "@reboot"),
    "both rules": (cron(every="1h"), InvalidArgumentError, "takes no every="),
    "cron for every": (every(cron="@daily"), InvalidArgumentError, "takes no cron="),
    "zone of an interval": (every(tz="UTC"), InvalidArgumentError, "takes no tz="),
    "offset of cron": (cron(offset="1m"), InvalidArgumentError, "takes no offset="),
    "misspelled": (cron(tiemout="1m"), InvalidArgumentError, "Is timeout meant?"),
    "dst": (cron(dst="summer"), InvalidArgumentError, "summer"),
    "negative interval": (every(-5), InvalidArgumentError, "no duration"),
    "short interval": (every("1ms"), InvalidArgumentError, "at least 100ms"),
    "no interval": (every("often"), InvalidArgumentError, "no duration"),
    "long offset": (every("1m", offset="1m"), InvalidArgumentError, "less than the interval"),
    "end before start": (every(start=END, end=START), InvalidArgumentError, "before it starts"),
    "naive start": (every(start=datetime(2027, 1, 1)), InvalidArgumentError, "time zone"),  # noqa: DTZ001
    "naive end": (cron(end=datetime(2027, 1, 1)), InvalidArgumentError, "time zone"),  # noqa: DTZ001
    "no limit": (cron(limit=0), InvalidArgumentError, "limit 0"),
    "jitter": (every("1m", jitter="1m"), InvalidArgumentError, "jitter"),
    "misfire": (cron(misfire="some"), InvalidArgumentError, "no misfire policy"),
    "overlap": (cron(overlap="wait"), InvalidArgumentError, "no overlap policy"),
    "revision": (cron(revision=-1), InvalidArgumentError, "revision -1"),
    "immediately and start": (
        every(immediately=True, start=START),
        InvalidArgumentError,
        "immediately",
    ),
    "attempts": (cron(max_attempts=0), InvalidArgumentError, "max_attempts is 0"),
    "expires": (cron(expires=0), InvalidArgumentError, "expires is 0"),
    "timeout": (cron(timeout="long"), InvalidArgumentError, "no duration"),
    "backoff function": (cron(backoff=str), InvalidArgumentError, "function"),
    "name": (cron(name="two words"), InvalidArgumentError, "cannot name a scheduler"),
    "long name": (cron(name="x" * 201), InvalidArgumentError, "cannot name a scheduler"),
    "queue": (cron(queue="a{b}"), InvalidQueueError, "a{b}"),
    "unknown argument": (cron(args={"m": 1}), ArgumentsError, 'unknown argument "m"'),
    "wrong argument": (cron(args={"n": "one"}), ArgumentsError, 'argument "n"'),
    "nameless arguments": (cron(args=[1]), ArgumentsError, "named by text"),
    "missing argument": (required, ArgumentsError, 'missing argument "n"'),
    "a name twice": (twice, HandlerError, "has a scheduler 'x' already, declared at"),
    "job of another application": (strangers, HandlerError, "another application"),
    "job twice": (cron(job="y"), HandlerError, "is a job already"),
    "job above the scheduler": (wrong_way_round, HandlerError, "below its @app.cron"),
    "nameless function": (nameless, HandlerError, "has no name of its own"),
    "no function": (no_function, HandlerError, "cannot be scheduled"),
    "result that JSON cannot carry": (kept, HandlerError, "result"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_scheduled_is_refused_when_it_is_declared(case: str):
    app = EchoMQ()
    declare, error, text = BAD[case]
    before = 1 if case in {"a name twice", "job above the scheduler"} else 0

    with pytest.raises(error) as refused:
        declare(app)

    assert text in str(refused.value)
    assert len(app.scheduled) == before


def test_declaring_reads_no_setting_and_loads_calendars_only_for_those_who_have_schedulers():
    program = (
        "import os, sys; os.environ['ECHOMQ_MAX_PAYLOAD'] = 'a lot'; import echomq_worker\n"
        "app = echomq_worker.EchoMQ(); job = app.job('x')(lambda: None); app.schedulers\n"
        "def seen(): return {m for m in sys.modules if 'cron' in m or 'zoneinfo' in m}\n"
        "print(sorted(seen())); app.cron('@daily')(job); print(bool(seen()), len(app.scheduled))\n"
        "print(sorted({'redis', 'click', 'structlog'} & set(sys.modules)))"
    )
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["[]", "True 1", "[]"]


@pytest.mark.parametrize("what", ["cron", "every"])
def test_a_decorator_without_its_time_says_what_it_wants(what: str):
    app = EchoMQ()

    with pytest.raises(HandlerError, match=f"as in @app.{what}"):

        @getattr(app, what)
        async def job() -> None: ...

    assert app.scheduled == []
