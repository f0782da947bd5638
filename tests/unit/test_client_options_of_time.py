"""What a producer may decide about a job's times: how long it runs, waits, and may wait."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from echomq_worker import EchoMQ
from echomq_worker.domain.backoff import backoff_text, exponential, fixed, steps
from echomq_worker.domain.job import After, At, Due
from echomq_worker.errors import InvalidArgumentError
from tests.unit.client_fakes import FakeBackend, FakeQueue, StepClock

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
NOON_MS = 1_893_499_200_000


def made() -> tuple[EchoMQ, Any, FakeQueue]:
    backend = FakeBackend()
    app = EchoMQ(backend=backend, clock=StepClock())

    @app.job("work", queue="q")
    async def work() -> None: ...

    return app, work, backend.queue("q")


@pytest.mark.parametrize(
    ("expires", "due"),
    [
        ("10m", After(600_000)),
        (90, After(90_000)),
        (timedelta(milliseconds=1), After(1)),
        (NOON, At(NOON_MS)),
        (NOON.replace(microsecond=1), At(NOON_MS + 1)),
    ],
)
async def test_a_job_may_expire(expires: Any, due: Due) -> None:
    app, work, queue = made()
    await work.options(expires=expires).enqueue()
    await app.enqueue_by_name("work", {}, expires=expires)
    await app.enqueue_raw(b"", queue="q", expires=expires)

    assert [job.expires for job in queue.jobs] == [due] * 3


async def test_a_job_may_have_a_time_limit_and_a_backoff_of_its_own() -> None:
    app, work, queue = made()
    waits = steps(["1s", "10s"])
    await work.options(timeout="30s", backoff=waits).enqueue()
    await work.options(timeout=0, backoff="1m").enqueue_in("1h")
    await app.enqueue_by_name("work", {}, backoff=[1, 2], timeout=None)
    await work.options(backoff="exponential").enqueue()

    assert [(job.timeout_ms, job.backoff) for job in queue.jobs] == [
        (30_000, backoff_text(waits)),
        (0, backoff_text(fixed("1m"))),
        (None, backoff_text(steps([1, 2]))),
        (None, backoff_text(exponential())),
    ]


async def test_what_is_not_decided_is_not_sent() -> None:
    _, work, queue = made()
    await work.enqueue()
    assert (queue.jobs[0].timeout_ms, queue.jobs[0].backoff, queue.jobs[0].expires) == (None,) * 3


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"expires": 0}, "no job starts so soon"),
        ({"expires": "0s"}, "no job starts so soon"),
        ({"expires": "5"}, "does not say its unit"),
        ({"expires": -1}, "is no duration"),
        ({"expires": True}, "is no duration"),
        ({"expires": datetime(2030, 1, 1)}, "does not say its time zone"),  # noqa: DTZ001
        ({"timeout": "never"}, "is no duration"),
        ({"timeout": float("nan")}, "is no duration"),
        ({"backoff": float}, "a function belongs to the handler"),
        ({"backoff": ()}, "is empty"),
        ({"backoff": object()}, "cannot be a backoff"),
        ({"backoff": list(range(1, 100))}, "use fewer steps"),
    ],
)
def test_what_cannot_be_meant_is_refused_where_it_is_said(
    options: dict[str, Any], hint: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=hint):
        made()[1].options(**options)


async def test_a_job_that_expires_before_it_is_due_is_refused() -> None:
    app, work, queue = made()
    late = work.options(expires=NOON)
    with pytest.raises(InvalidArgumentError, match="1000 ms before it is due"):
        await late.enqueue_at(NOON + timedelta(seconds=1))
    with pytest.raises(InvalidArgumentError, match="over 100 years away"):
        await app.enqueue(work.options(expires=datetime.max.replace(tzinfo=UTC)))
    assert queue.calls == []
    await late.enqueue_at(NOON)
    assert queue.jobs == [replace(queue.jobs[0], due=At(NOON_MS), expires=At(NOON_MS))]
