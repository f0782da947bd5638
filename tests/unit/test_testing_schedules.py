"""Schedulers in the kit: what a test of one's own cron can see."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from echomq_worker import EchoMQ, InvalidArgumentError, testing
from echomq_worker.domain.job import JobId
from echomq_worker.domain.scheduling.overlap import Overlap
from echomq_worker.domain.scheduling.records import (
    Firing,
    OccurrenceVerdict,
    PutVerdict,
    RunOutcome,
    SchedulerState,
    Whole,
)
from echomq_worker.domain.scheduling.spec import SchedulerSpec, scheduler_spec
from echomq_worker.domain.scheduling.template import Template
from echomq_worker.testing import InlineBackend, ManualClock, NotIdleError, Occurrence
from echomq_worker.testing.schedulers import InlineSchedulers

MINUTE = 60_000
NOON = int(datetime(2027, 3, 1, 12, tzinfo=UTC).timestamp()) * 1_000


@pytest.fixture
def app() -> EchoMQ:
    return EchoMQ()


@pytest.fixture
def backend() -> InlineBackend:
    return InlineBackend(ManualClock(NOON))


@pytest.fixture
def store(backend: InlineBackend) -> InlineSchedulers:
    return backend.queue("q").schedulers


def every_minute(
    overlap: str = "allow", limit: int | None = None, revision: int = 0, payload: bytes = b"{}"
) -> SchedulerSpec:
    return scheduler_spec(
        "minute",
        template=Template(name="tick", payload=payload, max_attempts=3, timeout_ms=5, ttl_ms=7),
        every="1m",
        overlap=overlap,
        limit=limit,
        revision=revision,
    )


async def put(store: InlineSchedulers, spec: SchedulerSpec, *, force: bool = False) -> PutVerdict:
    return await store.put(spec, force=force, source="code", tz="")


def job(number: int) -> JobId:
    return JobId(f"JOB{number:011}")


async def fire(
    backend: InlineBackend, store: InlineSchedulers, first_id: int
) -> tuple[OccurrenceVerdict, ...]:
    """Fire the one scheduler that is due, for its oldest instant."""
    ((due,), now_ms) = ((await store.due(10)).schedulers, backend.clock.now_ms())
    assert due.next_ms is not None
    following = due.next_ms + MINUTE
    assert due.next_ms <= now_ms
    firing = Firing(
        name=due.name,
        expected_ms=due.next_ms,
        digest=due.digest,
        next_ms=following,
        wake_ms=following,
        occurrences=((job(first_id), due.next_ms),),
    )
    (fired,) = await store.fire([firing])
    assert fired.whole is Whole.OK
    return fired.verdicts


async def test_an_occurrence_runs_once_its_time_has_come(app: EchoMQ, backend: InlineBackend):
    ran: list[int] = []

    @app.every("1m")
    async def tick() -> None:
        ran.append(backend.clock.now_ms())

    async with testing.inline(app, backend=backend) as kit:
        assert (await kit.run_until_idle()).runs == ()
        kit.advance("59s")
        assert (await kit.run_until_idle()).runs == ()
        kit.advance("1s")
        (run,) = (await kit.run_until_idle()).runs
        assert (await kit.run_until_idle()).runs == ()
        kit.assert_enqueued(tick)

    assert ran == [NOON + MINUTE]
    assert run.name == "tick"


async def test_a_jump_of_the_clock_is_an_outage_and_the_policy_decides(
    app: EchoMQ, backend: InlineBackend
):
    @app.every("1h", misfire="latest")
    async def latest() -> None: ...

    @app.every("1h", misfire="all(max=5)")
    async def all_five() -> None: ...

    async with testing.inline(app, backend=backend) as kit:
        kit.advance("1d")
        report = await kit.run_until_idle()
        view = await app.schedulers.get("latest")

    assert sorted(run.name for run in report.runs) == [*["all_five"] * 5, "latest"]
    assert view is not None
    assert (view.count, view.missed) == (1, 23)


async def test_time_that_passes_fires_every_occurrence_at_its_instant(
    app: EchoMQ, backend: InlineBackend
):
    ran: list[tuple[str, int]] = []

    @app.cron("*/20 * * * *")
    async def tick() -> None:
        ran.append(("tick", backend.clock.now_ms() - NOON))
        await later.enqueue_in("5m")

    @app.job("later")
    async def later() -> None:
        ran.append(("later", backend.clock.now_ms() - NOON))

    async with testing.inline(app, backend=backend) as kit:
        report = await kit.run_for("40m")

    assert ran == [
        ("tick", 20 * MINUTE),
        ("later", 25 * MINUTE),
        ("tick", 40 * MINUTE),
    ]
    assert report.completed == 3
    assert backend.clock.now_ms() == NOON + 40 * MINUTE


async def test_time_that_passes_has_a_limit_of_runs(app: EchoMQ, backend: InlineBackend):
    @app.every("1s")
    async def tick() -> None: ...

    async with testing.inline(app, backend=backend) as kit:
        with pytest.raises(NotIdleError):
            await kit.run_for("1d", limit=10)


def test_a_test_that_is_not_async_lets_time_pass_as_well(app: EchoMQ, backend: InlineBackend):
    @app.every("1h")
    def tick() -> None: ...

    with testing.inline_sync(app, backend=backend) as kit:
        assert kit.run_for("3h").completed == 3


async def test_what_the_code_declares_can_be_left_out(app: EchoMQ, backend: InlineBackend):
    @app.every("1h")
    async def tick() -> None: ...

    async with testing.inline(app, backend=backend, schedulers=False) as kit:
        assert (await kit.run_for("3h")).runs == ()
        assert await app.schedulers.list() == []


async def test_the_api_pauses_resumes_triggers_and_removes(app: EchoMQ, backend: InlineBackend):
    @app.every("1h", queue="q", args={"number": 7})
    async def tick(number: int) -> None: ...

    async with testing.inline(app, backend=backend) as kit:
        await app.schedulers.pause("tick", queue="q", reason="holidays")
        assert (await kit.run_for("3h")).runs == ()
        await app.schedulers.trigger("tick", queue="q")
        assert (await kit.run_until_idle()).completed == 1
        kit.assert_enqueued(tick, number=7)
        await app.schedulers.resume("tick", queue="q")
        assert (await kit.run_for("1h")).completed == 1
        view = await app.schedulers.get("tick", queue="q")
        assert view is not None
        assert [note.outcome for note in view.runs] == ["completed", "completed"]
        assert await app.schedulers.remove("tick", queue="q")
        assert (await kit.run_for("3h")).runs == ()


async def test_one_without_a_handler_is_paused_with_that_reason(
    app: EchoMQ, backend: InlineBackend
):
    async with testing.inline(app, backend=backend) as kit:
        await app.schedulers.put("ghost", "nobody", every="1d")
        report = await kit.run_for("3d")
        view = await app.schedulers.get("ghost")

    assert report.buried >= 1
    assert view is not None
    assert view.paused is not None
    assert "nobody" in (view.paused.reason or "")


async def test_registrations_of_the_base_wire_fire_on_their_own_grid(
    app: EchoMQ, backend: InlineBackend
):
    async with testing.inline(app, backend=backend) as kit:
        repeats = backend.queue("default").repeats
        assert await repeats.register("r", 1_000, b"raw", 300)
        assert not await repeats.register("r", 5_000, b"other")
        kit.advance("2s")
        await kit.run_until_idle()
        assert [made.payload for made in kit.jobs()] == [b"raw"]
        assert [view.next_ms - NOON for view in await repeats.list()] == [2_300]
        assert await repeats.cancel("r")
        assert not await repeats.cancel("r")


async def test_the_job_of_an_occurrence_is_made_of_the_template(
    backend: InlineBackend, store: InlineSchedulers
):
    assert await put(store, every_minute()) is PutVerdict.CREATED
    backend.clock.advance("1m")
    assert await fire(backend, store, 1) == (OccurrenceVerdict.FIRED,)

    (held,) = (await backend.queue("q").line().claim(limit=1, lease_ms=1_000, promote=0)).jobs
    assert (held.name, held.payload, held.max_attempts, held.timeout_ms) == ("tick", b"{}", 3, 5)
    assert (held.scheduler, held.instant_ms) == ("minute", NOON + MINUTE)
    assert held.expires_ms == NOON + MINUTE + 7


async def test_a_firing_that_was_done_changes_nothing(
    backend: InlineBackend, store: InlineSchedulers
):
    await put(store, every_minute())
    backend.clock.advance("1m")
    (due,) = (await store.due(10)).schedulers
    instant = NOON + MINUTE
    firing = Firing(
        name="minute",
        expected_ms=due.next_ms,
        digest=due.digest,
        next_ms=instant + MINUTE,
        wake_ms=instant + MINUTE,
        occurrences=((job(1), instant),),
    )
    assert [each.whole for each in await store.fire([firing])] == [Whole.OK]
    assert [each.whole for each in await store.fire([firing])] == [Whole.TAKEN]
    assert (await backend.queue("q").counts()).pending == 1


async def test_an_id_that_is_taken_makes_no_job(backend: InlineBackend, store: InlineSchedulers):
    await put(store, every_minute())
    backend.clock.advance("1m")
    await fire(backend, store, 1)
    backend.clock.advance("1m")
    (due,) = (await store.due(10)).schedulers
    firing = Firing(
        name="minute",
        expected_ms=due.next_ms,
        digest=due.digest,
        next_ms=None,
        wake_ms=None,
        occurrences=((job(1), NOON + 2 * MINUTE),),
    )
    assert [each.whole for each in await store.fire([firing])] == [Whole.ID_TAKEN]


@pytest.mark.parametrize(
    ("overlap", "second"),
    [
        (Overlap.ALLOW, OccurrenceVerdict.FIRED),
        (Overlap.SKIP, OccurrenceVerdict.SKIPPED),
        (Overlap.QUEUE_ONE, OccurrenceVerdict.HELD),
    ],
)
async def test_a_predecessor_that_waits_is_told_from_one_that_has_ended(
    backend: InlineBackend, store: InlineSchedulers, overlap: str, second: OccurrenceVerdict
):
    await put(store, every_minute(overlap))
    backend.clock.advance("1m")
    await fire(backend, store, 1)
    backend.clock.advance("1m")
    assert await fire(backend, store, 2) == (second,)
    counts = await backend.queue("q").counts()
    assert counts.pending == (2 if overlap == "allow" else 1)


async def test_an_occurrence_that_was_kept_back_fires_when_its_predecessor_has_ended(
    app: EchoMQ, backend: InlineBackend
):
    ran: list[int] = []

    @app.every("1m", overlap="queue-one")
    async def tick() -> None:
        ran.append(backend.clock.now_ms() - NOON)
        if len(ran) == 1:
            backend.clock.advance("3m")

    async with testing.inline(app, backend=backend, concurrency=2) as kit:
        await kit.run_for("1m")
        view = await app.schedulers.get("tick")

    assert ran[0] == MINUTE
    assert len(ran) == 2
    assert view is not None
    assert view.held_ms is None
    assert view.count == 2


async def test_a_limit_ends_it(app: EchoMQ, backend: InlineBackend):
    @app.every("1m", limit=2)
    async def tick() -> None: ...

    async with testing.inline(app, backend=backend) as kit:
        assert (await kit.run_for("1h")).completed == 2
        view = await app.schedulers.get("tick")
    assert view is not None
    assert (view.state, view.ended) == (SchedulerState.ENDED, "limit")


async def test_declarations_replace_each_other_as_on_a_server(store: InlineSchedulers):
    one, other = every_minute(), every_minute(payload=b"[]")
    assert await put(store, one) is PutVerdict.CREATED
    assert await put(store, one) is PutVerdict.UNCHANGED
    assert await put(store, other) is PutVerdict.CHANGED
    assert await put(store, one) is PutVerdict.SUPERSEDED
    assert await put(store, one, force=True) is PutVerdict.CHANGED
    assert await put(store, every_minute(limit=3)) is PutVerdict.RETIMED
    assert await put(store, every_minute(revision=2, payload=b"[]")) is PutVerdict.RETIMED
    assert await put(store, one) is PutVerdict.OLDER


async def test_a_job_that_is_removed_is_noted_as_that(
    backend: InlineBackend, store: InlineSchedulers
):
    from echomq_worker.domain.views import Places, Removed  # noqa: PLC0415

    await put(store, every_minute())
    backend.clock.advance("1m")
    await fire(backend, store, 1)
    assert await backend.queue("q").remove(job(1), Places.WAITING) is Removed.OK
    view = await store.get("minute")
    assert view is not None
    assert [note.outcome for note in view.runs] == [RunOutcome.REMOVED]


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
