"""Jobs that are stopped by their arguments, and when a job that is kept back may start."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime

import pytest
import pytest_asyncio

from echomq_worker import EchoMQ, InvalidArgumentError
from echomq_worker.domain.gates import Gate, expected_ms
from echomq_worker.domain.struck import argument_scope, struck_by
from echomq_worker.store import QueueStore
from echomq_worker.store.rights import Role
from tests.support.crew import crew, wait_for
from tests.support.jobs import claim
from tests.support.least_rights import least
from tests.support.look import Look


@pytest_asyncio.fixture
async def worked(server_url: str, queue_name: str) -> AsyncGenerator[EchoMQ]:
    """An application that workers may serve."""
    app = EchoMQ(redis_url=least(server_url, Role.WORKER), default_queue=queue_name)
    async with app:
        yield app


async def test_workers_obey_a_pause_of_jobs_with_such_arguments_at_once(
    worked: EchoMQ, server_url: str, look: Look
):
    ran: list[str] = []

    @worked.job("mail")
    async def mail(tenant: str) -> None:
        ran.append(tenant)

    await worked.limits.pause(name="mail", where={"tenant": "acme"}, reason="they asked")
    await mail.enqueue("acme")
    await mail.enqueue("other")
    async with crew(worked, least(server_url, Role.WORKER), 1):
        await wait_for(lambda: ran == ["other"])
        (strike,) = (await worked.limits.list()).strikes
        await wait_for_parked(worked, f"strike:{strike.scope}")
        assert await worked.limits.resume(name="mail", where={"tenant": "acme"})
        await wait_for(lambda: ran == ["other", "acme"])

    assert await look.do("EXISTS", f"{look.keys.root}gates") == 0


async def wait_for_parked(app: EchoMQ, gate: str) -> None:
    async with asyncio.timeout(10):
        while Gate(gate, None, 1) not in (await app.limits.list()).shut:  # noqa: ASYNC110 - the server's
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("name", "payload", "struck"),
    [
        ("mail", b'{"tenant":"acme","n":1}', True),
        ("mail", b'{"tenant":"other","n":1}', False),
        ("mail", b'{"n":1}', False),
        ("mail", b"no json", False),
        ("mail", b"[1]", False),
        ("mail", b'{"tenant":"acme","n":true}', False),
        ("sms", b'{"tenant":"acme","n":1}', False),
        (None, b'{"tenant":"acme","n":1}', False),
    ],
)
def test_a_job_falls_under_what_is_stopped_if_all_of_its_arguments_are_such(
    name: str | None, payload: bytes, *, struck: bool
):
    scope = argument_scope("mail", {"tenant": "acme", "n": 1})
    scopes = ["arg:{", "arg:[1,2]", "name:mail", scope]

    assert struck_by(scopes, name, payload) == (scope if struck else None)


@pytest.mark.parametrize("where", [{}, {"a": object()}, {"a": "x" * 2_000}, {"a": float("nan")}])
def test_arguments_that_json_cannot_carry_are_refused(where: dict[str, object]):
    with pytest.raises(InvalidArgumentError, match="expected"):
        argument_scope("mail", where)


async def test_a_producer_can_ask_when_a_job_is_expected_to_start(
    worked: EchoMQ, queue: QueueStore
):
    @worked.job("mail")
    async def mail() -> None: ...

    later = await mail.enqueue_in("1h")
    due = await later.expected_start()
    assert due is not None
    assert 3_590 < (due - datetime.now(UTC)).total_seconds() <= 3_601

    await worked.limits.rate("1/60s", burst=1, name="mail")
    handles = [await mail.enqueue() for _ in range(3)]
    line = queue.line(trouble=_never)
    (running,) = await claim(line, 5)
    await line.aclose()
    running_handle, *parked = sorted(handles, key=lambda handle: handle.id)
    assert running.id == running_handle.id
    assert await running_handle.expected_start() is None
    expected = [await handle.expected_start() for handle in parked]
    assert expected[0] is not None
    assert expected[1] is not None
    assert 55 < (expected[0] - datetime.now(UTC)).total_seconds() <= 61
    assert (expected[1] - expected[0]).total_seconds() == pytest.approx(60)

    await worked.limits.pause(name="mail")
    stopped = await mail.enqueue()
    line = queue.line(trouble=_never)
    assert await claim(line, 5) == []
    await line.aclose()
    assert await stopped.expected_start() is None
    await worked.limits.rate(None, name="mail")
    await worked.limits.resume(name="mail")


@pytest.mark.parametrize(
    ("opens_ms", "before", "rule", "expected"),
    [
        (None, 0, "", 1_000),
        (None, 9, "", 1_000),
        (1_500, 0, "2 1000 1 bucket", 1_500),
        (1_500, 3, "2 1000 1 bucket", 3_000),
        (None, 3, "2 1000 4 bucket", 1_000),
        (None, 5, "2 1000 4 bucket", 2_000),
        (1_500, 1, "2 1000 0 window", 1_500),
        (1_500, 4, "2 1000 0 window", 3_500),
        (500, 1, "nonsense", 1_000),
    ],
)
def test_an_expected_start_follows_from_how_many_are_before_it(
    opens_ms: int | None, before: int, rule: str, expected: int
):
    assert expected_ms(1_000, opens_ms, before, rule) == expected


async def _never(error: Exception, _tries: int) -> None:
    raise error
