"""Services that fail are run again; a worker never lives on idle."""

import asyncio
from collections.abc import Iterator
from itertools import pairwise, repeat

import pytest
from structlog.testing import capture_logs

from echomq_worker.errors import OutOfMemoryError, WireVersionError, WrongTypeError
from echomq_worker.worker.supervisor import FAILURES_LIMIT, HEALTHY_MS, keep_running
from tests.fakes import FakeClock, settled


class Failing:
    """Fails as often as it is told, each time after a while."""

    name = "failing"

    def __init__(
        self, clock: FakeClock, errors: Iterator[Exception | None], *, after_ms: int = 0
    ) -> None:
        self._clock = clock
        self._errors = errors
        self._after_ms = after_ms
        self.started_at: list[int] = []

    async def run(self) -> None:
        self.started_at.append(self._clock.ms)
        await self._clock.sleep_ms(self._after_ms)
        error = next(self._errors)
        if error is not None:
            raise error
        await asyncio.Event().wait()


async def keep(service: Failing, clock: FakeClock, ms: int) -> list[tuple[str, Exception]]:
    given_up: list[tuple[str, Exception]] = []

    def gave_up(name: str, error: Exception) -> None:
        given_up.append((name, error))

    with capture_logs():
        life = asyncio.create_task(keep_running(service, clock, gave_up))
        for _ in range(100):
            await clock.advance(ms // 100)
        life.cancel()
        await settled()
    return given_up


async def test_a_service_that_fails_runs_again_after_a_growing_wait():
    clock = FakeClock()
    service = Failing(clock, iter([OSError()] * 4 + [None]))
    assert await keep(service, clock, 10_000) == []
    assert service.started_at == [0, 200, 600, 1_400, 3_000]


async def test_a_service_that_fails_again_and_again_is_given_up():
    clock = FakeClock()
    errors = [OSError(str(number)) for number in range(100)]
    service = Failing(clock, iter(errors))
    given_up = await keep(service, clock, 60_000)
    assert given_up == [("failing", errors[FAILURES_LIMIT - 1])]
    assert len(service.started_at) == FAILURES_LIMIT


async def test_failures_with_long_health_between_them_are_not_in_a_row():
    clock = FakeClock()
    service = Failing(clock, iter([OSError()] * 50), after_ms=HEALTHY_MS)
    assert await keep(service, clock, HEALTHY_MS * 20) == []
    assert len(service.started_at) >= 19


async def test_another_wire_version_is_no_passing_trouble():
    clock = FakeClock()
    error = WireVersionError("other", found="a", own="b")
    service = Failing(clock, iter([error]))
    assert await keep(service, clock, 1_000) == [("failing", error)]


async def test_a_service_that_is_cancelled_ends():
    clock = FakeClock()
    service = Failing(clock, iter([None]))
    life = asyncio.create_task(keep_running(service, clock, lambda _name, _error: None))
    await settled()
    life.cancel()
    await settled()
    assert life.cancelled()


@pytest.mark.parametrize("error", [WrongTypeError("a string"), OutOfMemoryError("full")])
async def test_what_an_operator_can_mend_is_tried_for_ever_and_told_now_and_then(error: Exception):
    clock, given_up = FakeClock(), list[str]()
    service = Failing(clock, repeat(error))
    with capture_logs() as logs:
        life = asyncio.create_task(
            keep_running(service, clock, lambda name, _error: given_up.append(name))
        )
        await clock.advance(120_000)
        life.cancel()
        await settled()
    assert given_up == []
    waits = [after - before for before, after in pairwise(service.started_at)]
    assert waits[:6] == [200, 400, 800, 1_600, 3_200, 5_000]
    assert set(waits[6:]) == {5_000}
    assert [line["event"] for line in logs] == ["service.failed"] * len(logs)
    assert 3 <= len(logs) <= 5
    assert logs[0]["error_message"] == str(error)
    assert "tried again" in logs[0]["hint"]


async def test_who_waits_for_the_worker_to_end_does_not_wait_for_an_operator():
    clock, given_up = FakeClock(), list[str]()
    service = Failing(clock, repeat(WrongTypeError("a string")))
    with capture_logs() as logs:
        life = asyncio.create_task(
            keep_running(service, clock, lambda name, _error: given_up.append(name), patient=False)
        )
        await clock.advance(60_000)
        await life
    assert given_up == ["failing"]
    assert logs[-1]["event"] == "service.given_up"
    assert logs[-1]["error_message"] == "a string"
