from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from echomq_worker import EchoMQ, JobHandle
from echomq_worker.domain.failures import Failure, remember
from echomq_worker.domain.job import After, At, Due, JobId, State
from echomq_worker.domain.views import JobView, KeptResult, Moved, Reprioritized
from echomq_worker.errors import (
    InvalidArgumentError,
    InvalidIdError,
    JobFailedError,
    ResultError,
    ResultTimeoutError,
    ResultUnavailableError,
    UnavailableError,
)
from tests.unit.client_fakes import FakeBackend, FakeQueue, StepClock

JOB = JobId("JOB0NsUH6L9tuD")


@dataclass
class Report:
    pages: int


def made() -> tuple[JobHandle[Report], FakeQueue, StepClock]:
    clock, backend = StepClock(), FakeBackend()
    app = EchoMQ(backend=backend, clock=clock)

    @app.job("report.render")
    async def render() -> Report:
        return Report(1)

    return render.handle(JOB), backend.queue("default"), clock


def view(state: State, **given: Any) -> JobView:
    return JobView("default", JOB, state, **given)


def kept(text: bytes) -> KeptResult:
    return KeptResult("completed", text, 0)


async def test_a_kept_result_is_what_the_handler_is_declared_to_return() -> None:
    handle, queue, clock = made()
    queue.results[JOB] = kept(b'{"pages":7}')
    assert await handle.result() == Report(7)
    assert clock.slept_ms == []


async def test_waiting_looks_less_and_less_often_but_at_least_once_a_second() -> None:
    handle, queue, clock = made()
    queue.views[JOB] = [view(State.PENDING)] * 12
    with pytest.raises(ResultTimeoutError, match=f"{JOB} had no result within 10s"):
        await handle.result(timeout="10s")
    assert clock.slept_ms[:4] == [50, 75, 112, 168]
    assert max(clock.slept_ms) == 1_000
    assert clock.ms == 10_000


async def test_a_result_that_comes_while_waiting_ends_the_wait() -> None:
    handle, queue, clock = made()
    queue.views[JOB] = [view(State.PENDING), view(State.ACTIVE)]
    sleep = clock.sleep_ms

    async def sleep_ms(ms: int) -> None:
        await sleep(ms)
        if len(clock.slept_ms) == 3:
            queue.results[JOB] = kept(b'{"pages":7}')

    clock.sleep_ms = sleep_ms
    assert await handle.result() == Report(7)
    assert len(clock.slept_ms) == 3


def away(queue: FakeQueue, clock: StepClock, until_ms: int) -> None:
    answer = queue.result

    async def result(job_id: JobId) -> KeptResult | None:
        if clock.ms < until_ms:
            msg = "away"
            raise UnavailableError(msg)
        return await answer(job_id)

    queue.result = result


async def test_a_result_is_waited_for_while_the_server_is_away() -> None:
    handle, queue, clock = made()
    queue.results[JOB] = kept(b'{"pages":7}')
    away(queue, clock, until_ms=5_000)
    assert await handle.result(timeout="10s") == Report(7)
    assert 5_000 <= clock.ms <= 6_000


async def test_a_server_that_stays_away_is_what_ended_the_wait() -> None:
    handle, queue, clock = made()
    away(queue, clock, until_ms=99_000)
    with pytest.raises(UnavailableError, match="away"):
        await handle.result(timeout="10s")
    assert clock.ms == 10_000


async def test_a_server_that_came_back_is_not_to_blame_for_a_late_result() -> None:
    handle, queue, clock = made()
    queue.views[JOB] = [view(State.ACTIVE)]
    away(queue, clock, until_ms=5_000)
    with pytest.raises(ResultTimeoutError):
        await handle.result(timeout="10s")


async def test_who_waits_without_a_limit_does_not_wait_for_a_server() -> None:
    handle, queue, clock = made()
    away(queue, clock, until_ms=99_000)
    with pytest.raises(UnavailableError, match="away"):
        await handle.result()
    assert clock.slept_ms == []


async def test_a_timeout_of_zero_looks_once() -> None:
    handle, queue, clock = made()
    queue.views[JOB] = [view(State.ACTIVE)]
    with pytest.raises(ResultTimeoutError):
        await handle.result(timeout=0)
    assert (queue.looks, clock.slept_ms) == (1, [])


async def test_a_timeout_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidArgumentError):
        await made()[0].result(timeout=-1)


async def test_a_dead_job_tells_what_killed_it() -> None:
    handle, queue, _ = made()
    failure = Failure(attempt=3, type="OSError", message="disk: full", at_ms=0)
    queue.views[JOB] = [
        view(State.DEAD, last_error="OSError: disk: full", failures=remember(None, failure))
    ]
    with pytest.raises(JobFailedError, match=f"{JOB} has died: OSError: disk: full") as died:
        await handle.result()
    assert (died.value.error_type, died.value.error_message) == ("OSError", "disk: full")


@pytest.mark.parametrize(
    ("last_error", "told"),
    [
        ("ValueError: no", ("ValueError", "no")),
        ("lost its lease 5 times in a row", ("", "lost its lease 5 times in a row")),
        (None, ("", "")),
        ("", ("", "")),
    ],
)
async def test_a_job_that_others_buried_tells_what_they_said(
    last_error: str | None, told: tuple[str, str]
) -> None:
    handle, queue, _ = made()
    failures = None
    if last_error:
        older = Failure(attempt=1, type="OSError", message="older", at_ms=0)
        failures = remember(None, older)
    queue.views[JOB] = [view(State.DEAD, last_error=last_error, failures=failures)]
    with pytest.raises(JobFailedError) as died:
        await handle.result()
    assert (died.value.error_type, died.value.error_message) == told


async def test_a_job_that_completed_between_two_looks_has_its_result() -> None:
    handle, queue, _ = made()
    answers = [None, kept(b'{"pages":7}')]

    async def result(job_id: JobId) -> KeptResult | None:
        assert job_id == JOB
        return answers.pop(0)

    queue.result = result
    assert await handle.result() == Report(7)


@pytest.mark.case("EVT-02")
async def test_a_job_that_is_gone_without_a_result_says_how_to_have_one() -> None:
    handle, _, _ = made()
    with pytest.raises(ResultUnavailableError, match="declare keep_result="):
        await handle.result()


@pytest.mark.case("EVT-02")
async def test_a_job_that_kept_no_result_is_not_waited_for() -> None:
    handle, queue, _ = made()
    queue.results[JOB] = kept(b"")
    with pytest.raises(ResultUnavailableError):
        await handle.result()


async def test_a_result_of_another_shape_is_an_error_of_its_own() -> None:
    handle, queue, _ = made()
    queue.results[JOB] = kept(b'{"sheets":7}')
    with pytest.raises(ResultError, match=r"the result of report\.render is not what"):
        await handle.result()


async def test_the_state_of_a_job_that_has_gone_is_absent() -> None:
    handle, queue, _ = made()
    assert await handle.state() is State.ABSENT
    queue.views[JOB] = [view(State.SCHEDULED)]
    assert await handle.state() is State.SCHEDULED


@pytest.mark.parametrize(
    ("state", "cancelled"),
    [
        (State.PENDING, True),
        (State.SCHEDULED, True),
        (State.ACTIVE, False),
        (State.DEAD, False),
        (None, False),
    ],
)
async def test_only_a_job_that_waits_can_be_cancelled(
    state: State | None, *, cancelled: bool
) -> None:
    handle, queue, _ = made()
    queue.views[JOB] = [None if state is None else view(state)]
    assert await handle.cancel() is cancelled


@pytest.mark.parametrize(
    ("when", "due"),
    [
        ("10m", After(600_000)),
        (0, After(0)),
        (timedelta(milliseconds=1.5), After(2)),
        (datetime(2030, 1, 1, tzinfo=UTC), At(1_893_456_000_000)),
        (datetime(1969, 1, 1, tzinfo=UTC), At(0)),
    ],
)
async def test_a_job_that_waits_is_moved_to_another_time(when: Any, due: Due) -> None:
    handle, queue, _ = made()
    assert await handle.reschedule(when)
    assert await handle.promote()
    assert queue.moves == [([JOB], due), ([JOB], None)]


@pytest.mark.parametrize("moved", [Moved.GONE, Moved.NOT_SCHEDULED])
async def test_only_a_job_that_waits_for_its_time_can_be_moved(moved: Moved) -> None:
    handle, queue, _ = made()
    queue.moved = moved
    assert not await handle.reschedule("1s")
    assert not await handle.promote()


@pytest.mark.parametrize(
    "when",
    [-1, "5", "soon", True, None, datetime(2030, 1, 1), datetime.max.replace(tzinfo=UTC)],  # noqa: DTZ001
)
async def test_a_time_that_cannot_be_meant_moves_nothing(when: Any) -> None:
    handle, queue, _ = made()
    with pytest.raises(InvalidArgumentError):
        await handle.reschedule(when)
    assert queue.moves == []


@pytest.mark.parametrize("done", [Reprioritized.OK, Reprioritized.NOT_WAITING, Reprioritized.GONE])
async def test_a_job_gets_another_priority_unless_it_is_gone(done: Reprioritized) -> None:
    handle, queue, _ = made()
    queue.reprioritized = done
    assert await handle.reprioritize(-5) is (done is not Reprioritized.GONE)
    assert queue.priorities == [([JOB], -5)]


async def test_a_job_of_a_lane_gets_no_priority() -> None:
    handle, queue, _ = made()
    queue.reprioritized = Reprioritized.LANE
    with pytest.raises(InvalidArgumentError, match="belongs to a lane"):
        await handle.reprioritize(3)


@pytest.mark.parametrize("priority", [2**20 + 1, -(2**20) - 1, 1.0, True, "1", None])
async def test_what_is_no_priority_is_not_sent(priority: Any) -> None:
    handle, queue, _ = made()
    with pytest.raises(InvalidArgumentError, match="expected a whole number"):
        await handle.reprioritize(priority)
    assert queue.priorities == []


def test_handles_of_one_job_are_equal() -> None:
    assert made()[0] == made()[0]
    assert len({made()[0], made()[0]}) == 1
    assert repr(made()[0]) == f"JobHandle(id='{JOB}', queue='default', created=False)"


def test_a_handle_needs_an_id() -> None:
    app = EchoMQ(backend=FakeBackend())
    with pytest.raises(InvalidIdError):
        app.job("x")(lambda: None).handle("7")
