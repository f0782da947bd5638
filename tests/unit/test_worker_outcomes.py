"""What becomes of a job, by how its handler ends."""

import asyncio
import threading
from typing import Any

import pytest
from structlog.testing import capture_logs

from echomq_worker.domain.failures import read_failures
from echomq_worker.domain.outcome import Buried, Completed, Outcome, Retried, Snoozed
from echomq_worker.handlers import (
    Discard,
    Retry,
    Snooze,
    handler_options,
    raw_handler,
)
from tests.fakes import NOW_MS
from tests.unit.worker_rig import Rig, outcome_in, wait_for


async def ends(error: BaseException, **options: Any) -> Outcome | None:
    rig = Rig()

    async def work() -> None:
        raise error

    rig.handle(work, **options)
    return await outcome_in(rig)


async def test_a_handler_that_asks_for_another_attempt_says_when():
    made = await ends(Retry(after="90s", reason="busy"))
    assert isinstance(made, Retried)
    assert (made.delay_ms, made.counted, made.error) == (90_000, True, "Retry: busy")


async def test_a_handler_that_asks_for_another_attempt_may_leave_the_wait_to_the_backoff():
    made = await ends(Retry(), backoff="7s")
    assert isinstance(made, Retried)
    assert made.delay_ms == 7_000


async def test_a_handler_that_discards_its_job_buries_it():
    made = await ends(Discard("no such account"))
    assert isinstance(made, Buried)
    assert made.error == "Discard: no such account"


async def test_a_handler_that_snoozes_uses_up_no_attempt():
    assert await ends(Snooze("5m")) == Snoozed(300_000)


async def test_exceptions_that_the_handler_lists_bury_or_do_not_count():
    assert isinstance(await ends(KeyError("x"), bury_on=LookupError), Buried)
    made = await ends(KeyError("x"), uncounted_on=[KeyError], max_attempts=1)
    assert isinstance(made, Retried)
    assert not made.counted


@pytest.mark.parametrize(
    "error", [SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError(), BaseException("odd")]
)
async def test_not_even_an_exception_meant_for_the_interpreter_ends_the_worker(
    error: BaseException,
):
    made = await ends(error)
    assert isinstance(made, Retried)
    assert made.error.startswith(type(error).__name__)


@pytest.mark.parametrize("error", [SystemExit(3), StopIteration(), ValueError("no")])
async def test_a_handler_in_a_thread_fails_like_any_other(error: BaseException):
    rig, done = Rig(), threading.Event()

    def work() -> None:
        done.set()
        raise error

    rig.handle(work)
    job = rig.queue.add()
    async with rig.running():
        await wait_for(lambda: rig.queue.outcome_of(job) is not None)
        assert isinstance(rig.queue.outcome_of(job), Retried)


async def test_a_failure_keeps_kind_message_place_attempt_worker_and_time():
    rig = Rig()

    async def work(password: str) -> None:
        msg = f"refused after {len(password)}"
        raise PermissionError(msg)

    rig.handle(work)
    made = await outcome_in(rig, payload=b'{"password":"hunter2"}')
    assert isinstance(made, Retried)
    (failure,) = read_failures(made.failures)
    assert (failure.type, failure.message) == ("PermissionError", "refused after 7")
    assert (failure.attempt, failure.worker, failure.at_ms) == (1, "w", NOW_MS)
    assert "test_worker_outcomes.py" in failure.traceback
    assert "runner.py" not in failure.traceback
    assert b"hunter2" not in made.failures


async def test_an_error_that_cannot_even_be_shown_loses_no_job():
    class Strange(Exception):  # noqa: N818
        def __str__(self) -> str:
            raise ZeroDivisionError

    made = await ends(Strange())
    assert isinstance(made, Retried)
    assert "ZeroDivisionError" in made.error


async def test_arguments_that_do_not_fit_are_a_failure_that_names_them():
    rig = Rig()

    async def work(n: int) -> None:
        raise AssertionError(n)

    rig.handle(work)
    made = await outcome_in(rig, payload=b'{"n":"seven"}')
    assert isinstance(made, Retried)
    assert '"n"' in made.error


async def test_a_result_is_kept_when_asked_for():
    rig = Rig()

    async def work() -> dict[str, int]:
        return {"pages": 3}

    rig.handle(work, keep_result="1m")
    assert await outcome_in(rig) == Completed(b'{"pages":3}', 60_000)


async def test_the_producers_wish_about_the_result_wins():
    rig = Rig()

    async def work() -> int:
        return 3

    rig.handle(work, keep_result="1m")
    assert await outcome_in(rig, keep_result_ms=5_000) == Completed(b"3", 5_000)
    rig = Rig()
    rig.handle(work, keep_result="1m")
    assert await outcome_in(rig, keep_result_ms=0) == Completed()


async def test_work_that_is_done_is_not_done_again_because_its_result_cannot_be_kept():
    rig = Rig()

    async def work() -> Any:
        return object()

    rig.handle(work, keep_result="1m")
    with capture_logs() as logs:
        assert await outcome_in(rig) == Completed()
    assert "job.result_dropped" in [line["event"] for line in logs]


async def test_a_job_without_handler_is_put_back_and_named_once_a_minute():
    rig = Rig()
    job = rig.queue.add("nobody")
    with capture_logs() as logs:
        async with rig.running():
            assert rig.queue.outcome_of(job) == Snoozed(1_000, unknown=True)
            await rig.clock.advance(58_000)
            assert rig.parts.stats.unknown >= 5
    missing = [line for line in logs if line["event"] == "job.handler_missing"]
    assert len(missing) == 1
    assert "'nobody'" in missing[0]["reason"]


async def test_a_job_that_had_no_handler_for_an_hour_is_buried_with_that_reason():
    rig = Rig()
    job = rig.queue.add("nobody")
    async with rig.running():
        await rig.clock.advance(3_590_000)
        assert not rig.queue.dead
        await rig.clock.advance(90_000)
        assert "no handler 'nobody'" in rig.queue.dead[job].error


async def test_a_raw_job_gets_its_bytes():
    rig, seen = Rig(), list[bytes]()

    async def raw(payload: bytes) -> None:
        seen.append(payload)

    rig.registry.add(raw_handler(raw, queue="default", options=handler_options()))
    await outcome_in(rig, name=None, payload=b"\xff\x00")
    assert seen == [b"\xff\x00"]
