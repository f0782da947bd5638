from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from echomq_worker.domain.backoff import fixed
from echomq_worker.domain.job import Admission, JobId, NewJob
from echomq_worker.errors import HandlerError, InvalidArgumentError
from echomq_worker.handlers import (
    Discard,
    JobContext,
    Next,
    Outgoing,
    Retry,
    Send,
    Sent,
    Snooze,
    around_run,
    around_send,
    handler_options,
    lifespan_of,
    no_lifespan,
)


def test_options_not_given_are_the_workers_to_decide() -> None:
    options = handler_options()
    assert (options.timeout_ms, options.max_attempts, options.backoff) == (None, None, None)
    assert (options.bury_on, options.uncounted_on, options.keep_result_ms) == ((), (), 0)


def test_options_are_read_as_people_write_them() -> None:
    options = handler_options(
        timeout="30s",
        max_attempts=5,
        backoff="10s",
        bury_on=ValueError,
        uncounted_on=[OSError, KeyError],
        keep_result=timedelta(hours=1),
    )
    assert (options.timeout_ms, options.max_attempts) == (30_000, 5)
    assert options.backoff == fixed("10s")
    assert options.bury_on == (ValueError,)
    assert options.uncounted_on == (OSError, KeyError)
    assert options.keep_result_ms == 3_600_000


def test_a_timeout_of_zero_means_for_ever_and_not_the_workers_default() -> None:
    assert handler_options(timeout=0).timeout_ms == 0


@pytest.mark.parametrize("attempts", [0, -1, True, 1.5, "3", 10**9])
def test_a_number_of_attempts_that_is_none_is_refused(attempts: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="expected a whole number"):
        handler_options(max_attempts=attempts)


@pytest.mark.parametrize("option", ["bury_on", "uncounted_on"])
def test_only_exception_classes_can_be_listed(option: str) -> None:
    given: dict[str, Any] = {option: (ValueError, "KeyError")}
    with pytest.raises(HandlerError, match=f"{option} lists 'KeyError': expected exception class"):
        handler_options(**given)


def test_a_handler_asks_for_what_is_to_become_of_its_job() -> None:
    assert (Retry().after_ms, Retry(after="30s").after_ms) == (None, 30_000)
    assert str(Retry(reason="rate limit")) == "rate limit"
    assert str(Retry()) == "the handler asked for another attempt"
    assert Discard("no such user").reason == "no such user"
    assert (Snooze(90).delay_ms, Snooze(90).until_ms) == (90_000, None)
    assert Snooze(until=datetime(2030, 1, 1, tzinfo=UTC)).until_ms == 1_893_456_000_000


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ({}, "expected one of them"),
        ({"delay": "5m", "until": datetime(2030, 1, 1, tzinfo=UTC)}, "expected one of them"),
        ({"until": datetime(2030, 1, 1)}, "does not say its time zone"),  # noqa: DTZ001
        ({"until": "5m"}, "expected a datetime"),
    ],
)
def test_a_snooze_says_how_long_or_until_when(given: dict[str, Any], hint: str) -> None:
    with pytest.raises(InvalidArgumentError, match=hint):
        Snooze(**given)


@pytest.mark.parametrize("wrong", [-1, float("nan"), "soon"])
def test_a_wait_that_is_no_duration_is_refused_where_it_is_asked_for(wrong: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        Retry(after=wrong)
    with pytest.raises(InvalidArgumentError):
        Snooze(wrong)


async def test_the_first_middleware_is_the_outermost() -> None:
    seen: list[str] = []

    async def outer(context: JobContext, run: Next) -> object:
        seen.append(f"outer {context.attempt}")
        return ("outer", await run())

    async def inner(context: JobContext, run: Next) -> object:
        seen.append(f"inner {context.attempt}")
        return ("inner", await run())

    async def handler() -> object:
        seen.append("handler")
        return 7

    context = JobContext(id=JobId("JOB0NsUH6L9tuD"), queue="q", name="x", attempt=1, max_attempts=3)
    result = await around_run([outer, inner], context, handler)()
    assert (result, seen) == (("outer", ("inner", 7)), ["outer 1", "inner 1", "handler"])


async def test_enqueue_middleware_may_change_what_is_sent() -> None:
    arrived: list[str] = []

    def to_queue(name: str) -> Any:
        async def layer(jobs: Sequence[Outgoing], send: Send) -> Sequence[Sent]:
            return await send([Outgoing(f"{job.queue}.{name}", job.job) for job in jobs])

        return layer

    async def server(jobs: Sequence[Outgoing]) -> Sequence[Sent]:
        arrived.extend(job.queue for job in jobs)
        return [Sent(job.queue, job.job.id, Admission.ENQUEUED) for job in jobs]

    job = Outgoing("q", NewJob(JobId("JOB0NsUH6L9tuD"), b"{}"))
    await around_send([to_queue("a"), to_queue("b")], server)([job])
    assert arrived == ["q.a.b"]


async def test_an_async_generator_function_is_a_lifespan() -> None:
    steps: list[str] = []

    async def resources() -> AsyncIterator[str]:
        steps.append("open")
        yield "pool"
        steps.append("close")

    async with lifespan_of(resources)() as state:
        steps.append(state)
    assert steps == ["open", "pool", "close"]


async def test_a_function_that_returns_a_context_manager_is_a_lifespan() -> None:
    @asynccontextmanager
    async def resources() -> AsyncGenerator[str]:
        yield "pool"

    async with lifespan_of(resources)() as state:
        assert state == "pool"


async def test_without_a_lifespan_there_is_no_state() -> None:
    async with no_lifespan() as state:
        assert state is None


def test_a_coroutine_function_is_no_lifespan() -> None:
    async def resources() -> None: ...

    wrong: list[Any] = [resources, 7]
    for given in wrong:
        with pytest.raises(HandlerError, match="cannot be a lifespan"):
            lifespan_of(given)
