"""`app.schedulers`: schedulers and repeats that code puts, looks at, pauses, triggers and removes.

Each test runs on a server and in memory.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio

from echomq_worker import (
    ArgumentsError,
    EchoMQ,
    HandlerError,
    InvalidArgumentError,
    InvalidQueueError,
    Job,
    JobState,
    PayloadTooLargeError,
)
from echomq_worker.domain.scheduling.records import PutVerdict, SchedulerState
from echomq_worker.errors import CronError, UnknownSchedulerError
from echomq_worker.store.rights import Role
from echomq_worker.testing.backend import InlineBackend
from tests.support.least_rights import least

HOUR = timedelta(hours=1)


@pytest_asyncio.fixture(params=["server", "memory"])
async def app(
    request: pytest.FixtureRequest, server_url: str, queue_name: str
) -> AsyncGenerator[EchoMQ]:
    """An application on a server, and one in memory."""
    backend = InlineBackend() if request.param == "memory" else None
    url = None if backend else least(server_url, Role.PRODUCER)
    app = EchoMQ(url, backend=backend, default_queue=queue_name, max_payload=2_000)
    async with app:
        yield app


@pytest.fixture
def send(app: EchoMQ) -> Job[..., Any]:
    """A job of the application."""

    @app.job("digest.send", keep_result="1h")
    async def send(user: int = 0, note: str = "") -> int:
        del note
        await asyncio.sleep(0)
        return user

    return send


async def test_what_was_put_can_be_looked_at(app: EchoMQ, send: Job[..., Any]):
    verdict = await app.schedulers.put(
        "digest:7",
        send,
        cron="0 9 * * MON-FRI",
        tz="Europe/Berlin",
        args={"user": 7},
        misfire="none",
        overlap="skip",
        expires="1h",
        max_attempts=3,
    )
    view = await app.schedulers.get("digest:7")

    assert verdict is PutVerdict.CREATED
    assert view is not None
    assert view.spec is not None
    assert (view.state, view.source, view.revision) == (SchedulerState.WAITING, "api", 0)
    assert view.spec.rule.describe() == "at 09:00 on Monday to Friday, Europe/Berlin"
    assert view.spec.template.payload == b'{"user":7}'
    assert (view.spec.template.max_attempts, view.spec.template.ttl_ms) == (3, 3_600_000)
    assert view.tz
    assert [each.name for each in await app.schedulers.list()] == ["digest:7"]


async def test_none_is_there_before_it_is_put_and_after_it_was_removed(
    app: EchoMQ, send: Job[..., Any]
):
    for _ in range(2):
        assert await app.schedulers.get("d") is None
        assert list(await app.schedulers.list()) == []
        assert await app.schedulers.remove("d") is False
        assert await app.schedulers.put("d", send, every="1h") is PutVerdict.CREATED
        assert await app.schedulers.remove("d") is True


async def test_putting_the_same_again_changes_nothing_and_another_rule_only_the_next(
    app: EchoMQ, send: Job[..., Any]
):
    put = app.schedulers.put
    verdicts = [
        await put("d", send, every="1h"),
        await put("d", send, every="1h"),
        await put("d", send, every="1h", overlap="skip"),
        await put("d", send, every="2h", overlap="skip"),
        await put("d", send, every="1h"),  # back to what was there first: explicit, so it counts
    ]

    assert verdicts == [
        PutVerdict.CREATED,
        PutVerdict.UNCHANGED,
        PutVerdict.CHANGED,
        PutVerdict.RETIMED,
        PutVerdict.RETIMED,
    ]


async def test_a_higher_revision_stays_unless_a_higher_one_is_given(
    app: EchoMQ, send: Job[..., Any]
):
    put = app.schedulers.put
    await put("d", send, every="1h", revision=5)

    with pytest.raises(InvalidArgumentError, match="higher revision than 4"):
        await put("d", send, every="2h", revision=4)

    assert await put("d", send, every="2h") is PutVerdict.RETIMED  # takes that of the stored one
    view = await app.schedulers.get("d")
    assert view is not None
    assert view.revision == 5


async def test_a_handler_that_only_workers_know_is_called_by_name(app: EchoMQ):
    await app.schedulers.put("d", "elsewhere.run", every="1h", args={"n": [1]})
    view = await app.schedulers.get("d")

    assert view is not None
    assert view.spec is not None
    assert (view.spec.template.name, view.spec.template.payload) == ("elsewhere.run", b'{"n":[1]}')


async def test_options_of_a_sender_count_where_no_other_is_given(app: EchoMQ, send: Job[..., Any]):
    sender = send.options(max_attempts=7, keep_result="2h", timeout="5s")
    await app.schedulers.put("d", sender, every="1h", keep_result=0)
    view = await app.schedulers.get("d")

    assert view is not None
    assert view.spec is not None
    template = view.spec.template
    assert (template.max_attempts, template.keep_result_ms, template.timeout_ms) == (7, 0, 5_000)
    for options in ({"job_id": app.new_job_id()}, {"expires": datetime.now(UTC) + HOUR}):
        with pytest.raises(InvalidArgumentError, match="expected"):
            await app.schedulers.put("e", send.options(**options), every="1h")  # pyright: ignore[reportArgumentType]


async def test_what_cannot_be_used_is_refused_and_nothing_is_stored(
    app: EchoMQ, send: Job[..., Any]
):
    put = app.schedulers.put
    refused: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({}, InvalidArgumentError, "neither cron nor every"),
        ({"cron": "@daily", "every": "1h"}, InvalidArgumentError, "both cron and every"),
        ({"cron": "soon"}, CronError, "expected 5"),
        ({"every": "1h", "tz": "Europe/Berlin"}, InvalidArgumentError, "only cron takes"),
        ({"every": "1h", "args": {"x": 1}}, ArgumentsError, 'unknown argument "x"'),
        ({"every": "1h", "args": {"note": "x" * 2_000}}, PayloadTooLargeError, "the limit"),
        ({"every": "1h", "queue": "a{b"}, InvalidQueueError, "a{b"),
        ({"evry": "1h"}, InvalidArgumentError, "Is every meant?"),
    ]
    for options, error, text in refused:
        with pytest.raises(error, match=text):
            await put("d", send, **options)
    with pytest.raises(HandlerError, match="cannot name a handler"):
        await put("d", "two words", every="1h")
    with pytest.raises(InvalidArgumentError, match="cannot name a scheduler"):
        await put("two words", send, every="1h")

    assert list(await app.schedulers.list()) == []


async def test_a_pause_keeps_its_reason_and_ends_by_a_resume(app: EchoMQ, send: Job[..., Any]):
    await app.schedulers.put("d", send, every="1h", start=datetime.now(UTC) + HOUR)
    before = await app.schedulers.upcoming("d", 3)

    for reason, by in (("holidays", "ada"), ("", "")):  # one without leaves it
        await app.schedulers.pause("d", reason=reason, by=by)
    paused = await app.schedulers.get("d")
    assert await app.schedulers.upcoming("d", 3) == before  # what would come
    assert paused is not None and paused.paused is not None  # noqa: PT018 - one thing
    assert paused.state is SchedulerState.PAUSED
    assert (paused.paused.reason, paused.paused.by) == ("holidays", "ada")

    await app.schedulers.resume("d")
    view = await app.schedulers.get("d")
    assert view is not None and view.state is SchedulerState.WAITING  # noqa: PT018 - one thing


async def test_a_job_is_made_now_and_its_handle_knows_the_result(app: EchoMQ, send: Job[..., Any]):
    await app.schedulers.put("d", send, cron="@yearly", args={"user": 7})
    await app.schedulers.pause("d")

    handle = await app.schedulers.trigger("d")
    view = await app.schedulers.get("d")
    assert (handle.created, await handle.state()) == (True, JobState.PENDING)
    assert handle.results is send.handler.results
    assert view is not None
    assert [(run.job_id, run.outcome) for run in view.runs] == [(handle.id, "triggered")]
    assert await handle.cancel()


async def test_who_asks_for_a_scheduler_that_is_not_there_is_told_so(app: EchoMQ):
    schedulers = app.schedulers
    for question in (
        schedulers.pause("d"),
        schedulers.resume("d"),
        schedulers.trigger("d"),
        schedulers.upcoming("d"),
    ):
        with pytest.raises(UnknownSchedulerError, match="there is no scheduler 'd' in queue"):
            await question


async def test_the_next_occurrences_are_told_in_the_zone_of_the_scheduler(
    app: EchoMQ, send: Job[..., Any]
):
    await app.schedulers.put("d", send, cron="30 2 * * *", tz="Europe/Berlin")

    coming = await app.schedulers.upcoming("d", 400)

    assert len(coming) == 400
    assert sorted(coming) == list(coming)
    assert {when.utcoffset() for when in coming} == {HOUR, 2 * HOUR}
    # Twice a year the clock changes at night; in spring there is no half past two.
    assert {(when.hour, when.minute) for when in coming} == {(2, 30), (3, 0)}
    assert {str(when.tzinfo) for when in coming} == {"Europe/Berlin"}


async def test_an_end_and_a_limit_are_seen_in_what_comes(app: EchoMQ, send: Job[..., Any]):
    start = datetime.now(UTC).replace(microsecond=0) + HOUR
    await app.schedulers.put("end", send, every="1h", start=start, end=start + 2.5 * HOUR)
    await app.schedulers.put("limit", send, every="1h", start=start, limit=2)

    grid = [start + n * HOUR for n in range(3)]
    assert list(await app.schedulers.upcoming("end")) == grid
    assert list(await app.schedulers.upcoming("limit")) == grid[:2]
    assert list(await app.schedulers.upcoming("end", 1)) == grid[:1]
    with pytest.raises(InvalidArgumentError, match="n is 0"):
        await app.schedulers.upcoming("end", 0)


async def test_a_list_comes_by_pages_the_next_to_fire_first(app: EchoMQ, send: Job[..., Any]):
    for n in range(1, 6):
        start = datetime.now(UTC) + n * HOUR
        await app.schedulers.put(f"s{n}", send, every="10h", start=start)
    await app.schedulers.pause("s1")

    pages = [await app.schedulers.list(limit=2, offset=offset) for offset in (0, 2, 4)]

    assert [[view.name for view in page] for page in pages] == [["s2", "s3"], ["s4", "s5"], ["s1"]]
    with pytest.raises(InvalidArgumentError, match="limit is 0"):
        await app.schedulers.list(limit=0)


async def test_a_rule_that_the_next_clock_change_touches_is_told_at_once(
    app: EchoMQ, send: Job[..., Any], caplog: pytest.LogCaptureFixture
):
    with caplog.at_level(logging.WARNING, logger="echomq_worker"):
        await app.schedulers.put("night", send, cron="30 2 * * *", tz="Europe/Berlin")
        await app.schedulers.put("noon", send, cron="0 12 * * *", tz="Europe/Berlin")

    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith("scheduler night: 30 2 * * * in Europe/Berlin falls into a clock change")


async def test_each_queue_has_schedulers_of_its_own(
    app: EchoMQ, send: Job[..., Any], new_queue_name: Callable[[], str]
):
    other = new_queue_name()
    await app.schedulers.put("d", send, every="1h", queue=other)

    assert await app.schedulers.get("d") is None
    assert await app.schedulers.get("d", queue=other) is not None
    assert await app.schedulers.remove("d", queue=other)


async def test_base_wire_repeats_are_registered_listed_and_cancelled(app: EchoMQ):
    schedulers = app.schedulers

    assert await schedulers.register_repeat("hourly", "1h", b"\x00peer", first_in="10m") is True
    assert await schedulers.register_repeat("hourly", "2h", b"other") is False
    (repeat,) = await schedulers.repeats()
    assert (repeat.name, repeat.every_ms, repeat.template) == ("hourly", 3_600_000, b"\x00peer")
    assert await schedulers.cancel_repeat("hourly") is True
    assert await schedulers.cancel_repeat("hourly") is False
    assert list(await schedulers.repeats()) == []

    with pytest.raises(InvalidArgumentError, match="expected bytes"):
        await schedulers.register_repeat("hourly", "1h", "text")  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidArgumentError, match="every_ms is 0"):
        await schedulers.register_repeat("hourly", 0, b"x")
    with pytest.raises(PayloadTooLargeError, match="the limit"):
        await schedulers.register_repeat("hourly", "1h", b"x" * 2_001)
