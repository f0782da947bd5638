"""`app.limits`, limits that handlers declare, and `echomq queue limits`: what holds work back."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime

import pytest
import pytest_asyncio

from echomq_worker import EchoMQ, InvalidArgumentError
from echomq_worker.domain.gates import Rate, Strike, parse_rate
from echomq_worker.domain.outcome import Completed
from echomq_worker.handlers.standing import Limit
from echomq_worker.store import QueueStore
from echomq_worker.store.rights import Role
from echomq_worker.testing.backend import InlineBackend
from tests.support.commands import Ask
from tests.support.crew import crew, wait_for
from tests.support.jobs import A, B, C, claim, new_job, settle
from tests.support.lanes import put as put_in_lane
from tests.support.least_rights import least
from tests.support.look import Look


def tenant_of(tenant: str) -> str:
    return tenant


def nothing_of(tenant: str) -> str:
    raise KeyError(tenant)


@pytest_asyncio.fixture
async def worked(server_url: str, queue_name: str) -> AsyncGenerator[EchoMQ]:
    """An application that workers may serve."""
    app = EchoMQ(redis_url=least(server_url, Role.WORKER), default_queue=queue_name)
    async with app:
        yield app


@pytest_asyncio.fixture(params=["server", "memory"])
async def both(
    request: pytest.FixtureRequest, server_url: str, queue_name: str
) -> AsyncGenerator[EchoMQ]:
    """An application on a server, and one in memory."""
    backend = InlineBackend() if request.param == "memory" else None
    url = None if backend else least(server_url, Role.WORKER)
    async with EchoMQ(url, backend=backend, default_queue=queue_name) as app:
        yield app
        for name in ("mail", None):
            await app.limits.rate(None, name=name)
            await app.limits.concurrency(None, name=name)
        await app.limits.rate(None, name="mail", by_key=True)


async def test_limits_are_set_told_and_taken_away(both: EchoMQ):
    assert await both.limits.rate("50/s", burst=10, name="mail")
    assert not await both.limits.rate("50/s", burst=10, name="mail"), "it was so already"
    assert await both.limits.rate("5/10s", sliding=True, name="mail", by_key=True)
    assert await both.limits.concurrency(4, name="mail")
    assert await both.limits.concurrency(9)

    assert (await both.limits.list()).limits == {
        "rate:name:mail": "50 1000 10 bucket",
        "rate:key:mail": "5 10000 1 window",
        "cap:name:mail": "4",
        "cap:queue": "9",
    }
    assert await both.limits.concurrency(None)
    assert "cap:queue" not in (await both.limits.list()).limits


async def test_a_penalty_ends_by_itself_and_a_pause_when_somebody_says_so(both: EchoMQ):
    before = datetime.now(UTC)
    until = await both.limits.penalize("30s", name="mail", key="acme", reason="429")
    assert until is not None
    await both.limits.pause(name="sms", reason="the provider is down", by="ann")

    found = {strike.scope: strike for strike in (await both.limits.list()).strikes}
    assert found["key:mail/acme"].until_ms == round(until.timestamp() * 1000)
    assert found["key:mail/acme"].reason == "429"
    sms = found["name:sms"]
    assert sms == Strike("name:sms", None, "the provider is down", "ann", sms.since_ms)
    assert sms.since_ms is not None
    assert before.timestamp() > 0

    assert await both.limits.resume(name="mail", key="acme")
    assert await both.limits.resume(name="sms")
    assert not await both.limits.resume(name="sms")


@pytest.mark.parametrize(
    ("rate", "told"),
    [
        ("50", "50/s or 5/10s"),
        ("50/1", "50/s"),
        ("0/s", "range"),
        ("-1/s", "50/s"),
        ("5/0s", "rang"),
    ],
)
async def test_a_rate_without_a_unit_or_out_of_range_is_refused(both: EchoMQ, rate: str, told: str):
    with pytest.raises(InvalidArgumentError, match=told):
        await both.limits.rate(rate, name="mail")
    with pytest.raises(InvalidArgumentError, match=told):
        Limit(rate)


def test_a_limit_that_limits_nothing_is_refused():
    with pytest.raises(InvalidArgumentError, match="limits nothing"):
        Limit()
    with pytest.raises(InvalidArgumentError, match="whole number"):
        Limit(concurrency=0)
    with pytest.raises(InvalidArgumentError, match="without a rate"):
        Limit(concurrency=1, burst=3)
    with pytest.raises(InvalidArgumentError, match="function"):
        Limit("1/s", by="tenant")  # pyright: ignore[reportArgumentType]


async def test_a_queue_has_so_many_limits_and_no_more(queue: QueueStore, look: Look):
    many = {f"cap:name:n{n}": "1" for n in range(100)}
    flat = [word for pair in many.items() for word in pair]
    await look.do("HSET", f"{look.keys.root}limits", *flat)

    with pytest.raises(InvalidArgumentError, match="100 limits"):
        await queue.gates.limit_concurrency("name:more", 1)

    assert await queue.gates.limit_concurrency("name:n7", 2), "one that is there may change"
    assert await queue.gates.limit_concurrency("queue", 2), "the queue's own is the wire's"
    await look.do("DEL", f"{look.keys.root}limits", look.keys.meta)


async def test_the_limits_of_a_queue_are_told_to_peers(queue: QueueStore, look: Look):
    await queue.gates.limit_rate("queue", parse_rate("7/s"))
    await queue.gates.limit_concurrency("queue", 3)
    meta = await look.hash(look.keys.meta)
    assert (meta["max"], meta["concurrency"]) == ("7", "3")

    await queue.gates.limit_rate("queue", None)
    await queue.gates.limit_concurrency("queue", None)

    assert not {"max", "concurrency"} & set(await look.hash(look.keys.meta))


@pytest.mark.parametrize(("name", "gate"), [("mail", "mail"), ("mail/a%", "mail%2Fa%25")])
async def test_workers_put_the_limits_of_handlers_in_place_and_keep_them(
    worked: EchoMQ, server_url: str, look: Look, name: str, gate: str
):
    running, most, done = 0, 0, 0

    @worked.job(name, limit=Limit(concurrency=2, by=tenant_of))
    async def mail(tenant: str) -> None:
        nonlocal running, most, done
        running += tenant == "acme"
        most = max(most, running)
        await asyncio.sleep(0.02)
        running -= tenant == "acme"
        done += 1

    for _ in range(10):
        await mail.enqueue("acme")
        await mail.enqueue("other")
    async with crew(worked, least(server_url, Role.WORKER), 2):
        await wait_for(lambda: done == 20)

    assert most == 2
    assert await look.hash(f"{look.keys.root}limits") == {f"cap:key:{gate}": "2"}
    await look.do("DEL", f"{look.keys.root}limits")


async def test_a_key_that_cannot_be_told_is_an_error_of_the_producer(worked: EchoMQ):
    @worked.job("mail", limit=Limit("5/s", by=nothing_of))
    async def mail(tenant: str) -> None:
        del tenant

    with pytest.raises(InvalidArgumentError, match="mail: its function for the limit raised"):
        await mail.enqueue("acme")


async def test_a_slash_in_a_handlers_name_is_not_taken_for_the_end_of_it(
    worked: EchoMQ, queue: QueueStore
):
    @worked.job("mail", limit=Limit(concurrency=9, by=tenant_of))
    async def mail(tenant: str) -> None: ...

    @worked.job("mail/bulk", limit=Limit(concurrency=1, by=tenant_of))
    async def bulk(tenant: str) -> None: ...

    await worked.limits.concurrency(1, name="mail/bulk", by_key=True)
    await worked.limits.pause(name="mail/bulk", key="other")
    await worked.enqueue_many([bulk.call("acme"), bulk.call("acme"), bulk.call("other")])
    await worked.enqueue_many(mail.call(tenant) for tenant in ("bulk/acme", "bulk/other"))
    line = queue.line(trouble=_never)

    claimed = await claim(line, 9)

    names = [job.name for job in claimed]
    assert names == ["mail/bulk", "mail", "mail"]
    assert await worked.limits.resume(name="mail/bulk", key="other")
    await line.aclose()


async def test_limits_are_seen_and_set_from_the_shell(ask: Ask, queue: QueueStore):
    name = queue.name
    assert (await ask("queue", "limit", name, "--name", "mail", "--rate", "50/s")).code == 0
    assert (await ask("queue", "limit", name, "--concurrency", "5")).code == 0
    await ask("queue", "pause", name, "--name", "sms", "--for", "1h", "--reason", "429s")
    await queue.enqueue([new_job(A, name="sms")])
    async with asyncio.timeout(5):
        line = queue.line(trouble=_never)
        assert await claim(line) == []
        await line.aclose()

    await queue.lanes.rate("acme", Rate(1, 3_600_000))
    await put_in_lane(queue, "acme", B, C)
    async with asyncio.timeout(5):
        line = queue.line(trouble=_never)
        (started,) = await claim(line, 9)
        await settle(line, started, Completed())
        await line.aclose()

    records = (await ask("queue", "limits", name, "--json")).records
    shown = (await ask("queue", "limits", name)).out
    await queue.lanes.rate("acme", None)

    assert [(each["gate"], each["rule"], each["parked"]) for each in records] == [
        ("cap:queue", "5 at once", 0),
        ("rate:lane:acme", "1 in 1h, burst 1", 1),
        ("rate:name:mail", "50 in 1s, burst 5", 0),
        ("strike:name:sms", "stopped", 1),
    ]
    assert records[3]["reason"] == "429s"
    assert records[3]["opens_at"] is not None
    assert records[1]["opens"].startswith("in 59m")
    assert "in 5" in shown
    assert (await ask("queue", "resume", name, "--name", "sms")).code == 0
    assert (await ask("queue", "limit", name, "--name", "mail", "--rate", "0")).code == 0
    assert (await ask("queue", "limit", name, "--concurrency", "0")).code == 0
    line = queue.line(trouble=_never)
    assert [job.id for job in await claim(line)] == [A]
    await line.aclose()
    assert (await ask("queue", "limits", name, "--json")).records == []


@pytest.mark.parametrize(
    "words", [(), ("--rate", "50"), ("--by-key", "--rate", "5/s"), ("--concurrency", "-1")]
)
async def test_a_limit_that_makes_no_sense_is_refused_by_the_shell(
    ask: Ask, queue: QueueStore, words: tuple[str, ...]
):
    answer = await ask("queue", "limit", queue.name, *words)

    assert answer.code == 2
    assert "expected" in answer.err


async def _never(error: Exception, _tries: int) -> None:
    raise error
