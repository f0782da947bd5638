"""What a job asks for itself goes before what its handler says; one may be too late to start."""

from datetime import UTC, datetime
from typing import Any

import pytest
from structlog.testing import capture_logs

from echomq_worker.domain.decision import UNKNOWN_GIVE_UP_MS
from echomq_worker.domain.failures import read_failures
from echomq_worker.domain.outcome import Buried, Retried
from echomq_worker.handlers import INJECTED, JobContext
from tests.fakes import NOW_MS
from tests.unit.worker_rig import Rig


async def ran(rig: Rig, job_fields: dict[str, Any]) -> list[int]:
    """Run one job; return when its handler was called."""
    calls: list[int] = []

    async def work() -> None:
        calls.append(rig.clock.ms)

    rig.handle(work)
    rig.queue.add(**job_fields)
    async with rig.running():
        pass
    return calls


async def test_a_job_that_was_not_started_in_time_is_buried_without_a_run():
    rig = Rig()
    with capture_logs() as logs:
        assert await ran(rig, {"expires_ms": NOW_MS - 1_500}) == []

    (made,) = rig.queue.dead.values()
    assert made.expired
    assert made.error == (
        "Expired: it was to be started by 2025-06-15T15:06:38.500+00:00, and was claimed 1.5s later"
    )
    (failure,) = read_failures(made.failures)
    assert (failure.type, failure.worker, failure.at_ms) == ("Expired", "w", NOW_MS)
    (line,) = [line for line in logs if line["event"] == "job.expired"]
    assert line["log_level"] == "warning"
    assert line["reason"] == made.error
    assert rig.parts.stats.expired == 1
    assert rig.parts.stats.buried == 0
    assert str(rig.parts.stats) == "1 expired"


async def test_one_that_is_claimed_in_the_last_millisecond_runs():
    rig = Rig()
    assert await ran(rig, {"expires_ms": NOW_MS}) == [0]
    assert len(rig.queue.completed) == 1


@pytest.mark.parametrize("tried", [{"token": 1}, {"token": 1, "returned": 1, "failures": b"[{}]"}])
async def test_one_that_was_started_in_time_is_tried_again_however_late(tried: dict[str, Any]):
    assert await ran(Rig(), {"expires_ms": NOW_MS - 1_500, **tried}) == [0]


async def test_a_job_that_was_put_back_unstarted_does_expire():
    rig = Rig()
    assert await ran(rig, {"expires_ms": NOW_MS - 1, "token": 7, "returned": 7}) == []
    assert len(rig.queue.dead) == 1


async def test_the_time_limit_of_a_job_goes_before_its_handlers():
    rig, limits = Rig(job_timeout_ms=9_000), list[int | None]()

    async def work(context: JobContext = INJECTED) -> None:
        limits.append(context.deadline_ms)

    rig.handle(work, timeout="2s")
    for timeout_ms in (None, 500, 0):
        rig.queue.add(timeout_ms=timeout_ms)
    async with rig.running():
        assert limits == [NOW_MS + 2_000, NOW_MS + 500, None]


async def test_a_handler_is_told_which_scheduler_has_made_the_job_and_for_when():
    rig, seen = Rig(), list[tuple[str | None, datetime | None]]()

    async def work(context: JobContext = INJECTED) -> None:
        seen.append((context.scheduler, context.scheduled_for))

    rig.handle(work)
    rig.queue.add(scheduler="nightly", instant_ms=1_750_000_000_250)
    rig.queue.add()
    async with rig.running():
        assert seen == [
            ("nightly", datetime(2025, 6, 15, 15, 6, 40, 250_000, tzinfo=UTC)),
            (None, None),
        ]


@pytest.mark.parametrize(("scheduler", "pauses"), [("nightly", True), (None, False)])
async def test_a_scheduler_whose_jobs_find_no_handler_for_an_hour_is_to_be_paused(
    scheduler: str | None, *, pauses: bool
):
    rig = Rig()
    since_ms = NOW_MS - UNKNOWN_GIVE_UP_MS
    job = rig.queue.add(name="gone", scheduler=scheduler, unknown_since_ms=since_ms)
    async with rig.running():
        made = rig.queue.outcome_of(job)
    assert isinstance(made, Buried)
    assert made.pauses is pauses
    assert "no handler 'gone'" in made.error


async def fails(**job_fields: Any) -> Retried:
    rig = Rig()

    async def work() -> None:
        raise ValueError

    rig.handle(work, backoff="7s")
    job = rig.queue.add(**job_fields)
    async with rig.running():
        made = rig.queue.outcome_of(job)
    assert isinstance(made, Retried)
    return made


async def test_a_job_without_wishes_is_treated_as_its_handler_says():
    assert (await fails()).delay_ms == 7_000


async def test_the_backoff_of_a_job_goes_before_its_handlers():
    assert (await fails(backoff="steps:90000:none")).delay_ms == 90_000


async def test_a_backoff_that_cannot_be_read_leaves_it_to_the_handler_and_is_told_once():
    rig = Rig()

    async def work() -> None:
        raise ValueError

    rig.handle(work, backoff="7s")
    jobs = [rig.queue.add(backoff="fibonacci:1000:full") for _ in range(3)]
    with capture_logs() as logs:
        async with rig.running():
            made = [rig.queue.outcome_of(job) for job in jobs]
    assert [one.delay_ms for one in made if isinstance(one, Retried)] == [7_000] * 3
    (line,) = [line for line in logs if line["event"] == "job.backoff_unreadable"]
    assert line["backoff"] == "fibonacci:1000:full"
