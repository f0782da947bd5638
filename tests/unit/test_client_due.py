from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from echomq_worker import EchoMQ
from echomq_worker.domain.job import At
from echomq_worker.errors import (
    InvalidArgumentError,
)
from tests.unit.client_fakes import FakeBackend, FakeQueue, StepClock


def made(**given: Any) -> tuple[EchoMQ, FakeBackend]:
    backend = FakeBackend()
    return EchoMQ(backend=backend, clock=StepClock(), **given), backend


def with_send(**given: Any) -> tuple[EchoMQ, Any, FakeQueue]:
    app, backend = made(**given)

    @app.job("email.send", queue="mail", keep_result="1h")
    async def send(to: str, n: int = 1) -> int:
        return len(to) * n

    return app, send, backend.queue("mail")


@pytest.mark.parametrize("delay", [-1, float("nan"), float("inf"), 1e30, "soon", None])
async def test_a_delay_that_is_none_sends_nothing(delay: Any) -> None:
    _, send, mail = with_send()
    with pytest.raises(InvalidArgumentError, match="is no duration"):
        await send.enqueue_in(delay, "a")
    assert mail.calls == []


async def test_no_delay_means_at_once() -> None:
    _, send, mail = with_send()
    await send.enqueue_in(0, "a")
    assert mail.jobs[0].due is None


@pytest.mark.parametrize(
    ("when", "unix_ms"),
    [
        (datetime(2026, 3, 29, 1, 59, 59, 999_000, ZoneInfo("Europe/Berlin")), 1_774_745_999_999),
        (datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=1), 1792891800000),
        (datetime(2026, 1, 1, 0, 0, 0, 1, UTC), 1_767_225_600_001),
        (datetime(1969, 1, 1, tzinfo=UTC), 0),
    ],
)
async def test_an_instant_is_rounded_up_to_the_millisecond(when: datetime, unix_ms: int) -> None:
    _, send, mail = with_send()
    await send.enqueue_at(when, "a")
    assert mail.jobs[0].due == At(unix_ms)


@pytest.mark.parametrize(
    ("when", "hint"),
    [
        (datetime(2027, 1, 1), "does not say its time zone"),  # noqa: DTZ001
        (datetime.max.replace(tzinfo=UTC), "over 100 years away"),
        (1_750_000_000, "expected a datetime"),
        ("tomorrow", "expected a datetime"),
    ],
)
async def test_an_instant_that_cannot_be_meant_sends_nothing(when: Any, hint: str) -> None:
    _, send, mail = with_send()
    with pytest.raises(InvalidArgumentError, match=hint):
        await send.enqueue_at(when, "a")
    assert mail.calls == []
