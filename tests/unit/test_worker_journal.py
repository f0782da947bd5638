"""What a worker logs about its jobs."""

import asyncio
from typing import Any

import pytest
import structlog
from structlog.testing import capture_logs

from echomq_worker.domain.job import JobId
from echomq_worker.domain.replies import Reaped
from echomq_worker.errors import UnavailableError
from echomq_worker.handlers import Discard, Snooze
from echomq_worker.worker.postmortem import for_log, traceback_of
from tests.unit.worker_rig import Rig


async def lines_of(rig: Rig, ms: int = 0) -> list[Any]:
    with capture_logs() as logs:
        async with rig.running():
            await rig.clock.advance(ms)
    return [line for line in logs if line["event"].startswith("job")]


def failing(rig: Rig, error: Exception, **options: Any) -> None:
    async def work() -> None:
        raise error

    rig.handle(work, **options)


async def test_a_completed_job_is_one_line_with_everything():
    rig = Rig()

    async def work() -> None: ...

    rig.handle(work)
    job = rig.queue.add()
    (line,) = [line for line in await lines_of(rig) if line["event"] != "job.started"]
    assert line["event"] == "job.completed"
    assert line["log_level"] == "info"
    assert (line["queue"], line["job_name"], line["job_id"]) == ("default", "work", job)
    assert line["attempt"] == 1
    assert line["duration"] >= 0
    assert line["age"] >= 0


async def test_a_delayed_job_is_not_said_to_have_waited_while_it_was_not_due():
    rig = Rig()

    async def work() -> None: ...

    rig.handle(work)
    rig.queue.schedule(60_000)
    (line,) = [line for line in await lines_of(rig, 61_000) if line["event"] == "job.completed"]
    assert "wait" not in line
    assert "age" in line


async def test_a_job_whose_id_nobody_minted_is_one_line_that_does_not_say_how_old_it_is():
    rig = Rig()

    async def work() -> None: ...

    rig.handle(work)
    bad, good = rig.queue.add(id=JobId("JOBzzzzzzzzzzz")), rig.queue.add()
    lines = [line for line in await lines_of(rig) if line["event"] == "job.completed"]
    assert [line["job_id"] for line in lines] == [bad, good]
    assert ["age" in line for line in lines] == [False, True]


async def test_a_failed_attempt_says_what_comes_next():
    rig = Rig()
    failing(rig, ValueError("no such user"), max_attempts=3)
    rig.queue.add()
    (line,) = [line for line in await lines_of(rig) if line["event"] == "job.failed"]
    assert line["log_level"] == "warning"
    assert (line["error_type"], line["error_message"]) == ("ValueError", "no such user")
    assert (line["attempt"], line["max_attempts"], line["next_run_in"]) == (1, 3, 1.0)


async def test_a_buried_job_is_an_error():
    rig = Rig()
    failing(rig, Discard("no such account"))
    rig.queue.add()
    (line,) = [line for line in await lines_of(rig) if line["event"] == "job.buried"]
    assert line["log_level"] == "error"
    assert line["reason"] == "Discard: no such account"


async def test_a_snoozed_job_says_for_how_long():
    rig = Rig()
    failing(rig, Snooze("5m"))
    rig.queue.add()
    (line,) = [line for line in await lines_of(rig) if line["event"] == "job.snoozed"]
    assert line["next_run_in"] == 300


async def test_a_job_that_is_handed_back_says_why():
    rig = Rig()

    async def work() -> None:
        await asyncio.Event().wait()

    rig.handle(work)
    rig.queue.add()
    with capture_logs() as logs:
        async with rig.running():
            rig.stop.cancel("SIGQUIT")
            await rig.ended()
    (line,) = [line for line in logs if line["event"] == "job.returned"]
    assert line["reason"] == "shutdown"


async def test_jobs_of_dead_workers_are_named():
    rig = Rig()
    first, second = rig.queue.job().id, rig.queue.job().id
    rig.queue.reaped = Reaped(recovered=(first,), buried=(second,))
    lines = {line["event"]: line for line in await lines_of(rig)}
    assert lines["jobs.recovered"]["jobs"] == [first]
    assert lines["jobs.buried"]["jobs"] == [second]


async def test_malformed_rows_are_mentioned():
    rig = Rig()
    rig.queue.set_aside = 3
    lines = {line["event"]: line for line in await lines_of(rig)}
    assert lines["jobs.set_aside"]["count"] == 3
    assert "emq:{default}:quarantine" in lines["jobs.set_aside"]["hint"]


async def test_many_malformed_rows_are_a_line_a_minute_with_how_many_they_were():
    rig = Rig()
    with capture_logs() as logs:
        async with rig.running():
            for _ in range(90):
                rig.queue.set_aside = 2
                await rig.clock.advance(1_000)
    told = [line["count"] for line in logs if line["event"] == "jobs.set_aside"]
    assert len(told) == 2
    assert told[0] == 2
    assert 100 <= told[1] <= 122


@pytest.mark.case("OBS-04")
async def test_an_outage_is_two_lines_however_long_it_takes():
    rig = Rig()
    with capture_logs() as logs:
        async with rig.running():
            rig.queue.away = UnavailableError("gone")
            await rig.clock.advance(600_000)
            rig.queue.away = None
            await rig.clock.advance(5_000)
    events = [line["event"] for line in logs if line["event"].startswith("server.")]
    assert events == ["server.away", "server.back"]


def test_our_own_frames_are_left_out_and_values_are_never_shown():
    def handler(password: str) -> None:
        raise ValueError(len(password))

    with pytest.raises(ValueError, match="14") as raised:
        handler("hunter2" + "-secret")
    text = traceback_of(raised.value)
    assert "in handler" in text
    assert "hunter2-secret" not in text


def test_a_traceback_without_end_is_cut_to_its_end():
    def deeper(left: int) -> None:
        if left:
            deeper(left - 1)
        else:
            raise ValueError("x" * 10_000)

    with pytest.raises(ValueError, match="xxx") as raised:
        deeper(200)
    text = traceback_of(raised.value)
    assert len(text) <= 3_000
    assert text.endswith("xxx\n")


def test_an_embedding_application_that_left_logging_alone_shows_no_variables(
    monkeypatch: Any,
):
    monkeypatch.setattr(structlog, "is_configured", lambda: False)
    said = for_log(ValueError("no"))
    assert said["error"] == "ValueError: no"
    assert "exc_info" not in said
    monkeypatch.setattr(structlog, "is_configured", lambda: True)
    assert "exc_info" in for_log(ValueError("no"))
