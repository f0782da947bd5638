"""Lanes: odd names of tenants, and the order of a lane when one of its jobs fails."""

import asyncio

import pytest

from echomq_worker import EchoMQ, InvalidArgumentError, Retry
from echomq_worker.domain.lanes import lane_group
from tests.support.commands import Ask
from tests.support.crew import crew, wait_for
from tests.support.least_rights import least

ODD = ["", " ", "a b", "a\tb", "a\n", "\0", "ü", "u\u0308", "🚚", "x" * 201, "x" * 10_000]
SAFE = [
    *("*", "?", "[a]", "\\", "../x", "a'b", 'a"b', "%s", "${x}", "<b>"),
    *("a:b", "::", "a", "x" * 200),
]
RESERVED = [
    *("pending", "schedule", "dead", "active", "ring", "paused", "meta", "names"),
    "g:a:pending",
]


@pytest.mark.case("NAM-03")
@pytest.mark.parametrize("name", ODD)
async def test_an_odd_name_of_a_tenant_is_refused_by_one_rule_everywhere(
    app: EchoMQ, ask: Ask, name: str
):
    @app.job("mail.send")
    async def send() -> None: ...

    with pytest.raises(InvalidArgumentError, match="cannot name a lane"):
        send.options(lane=name)
    with pytest.raises(InvalidArgumentError, match="cannot name a lane"):
        await app.enqueue_raw(b"x", lane=name)
    with pytest.raises(InvalidArgumentError, match="cannot name a lane"):
        await app.lanes.pause(name)
    if "\0" not in name:
        assert "cannot name a lane" in (await ask("lane", "inspect", "--", name)).err


@pytest.mark.case("NAM-02", "NAM-03", "NAM-06")
async def test_names_that_mean_something_elsewhere_are_names_like_any_other(app: EchoMQ):
    names = SAFE + RESERVED
    for count, name in enumerate(names, 1):
        for _ in range(count):
            await app.enqueue_raw(b"x", lane=name)
    await app.lanes.pause("*")

    depths = await app.lanes.depths(names)
    views = {view.name: view for view in await app.lanes.list(limit=1_000)}

    assert list(depths.values()) == list(range(1, len(names) + 1))
    assert set(views) == set(names)
    assert [name for name, view in views.items() if view.paused] == ["*"]
    assert await app.lanes.drain("a") == depths["a"]
    assert await app.lanes.depth("a:b") == depths["a:b"]


@pytest.mark.case("NAM-05")
@pytest.mark.parametrize("name", [1, b"1", True, 1.0])
async def test_what_is_no_text_names_no_lane(app: EchoMQ, name: object):
    with pytest.raises(InvalidArgumentError, match="cannot name a lane"):
        await app.enqueue_raw(b"x", lane=name)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert lane_group("1") != lane_group("1.0")


@pytest.mark.case("ORD-04")
@pytest.mark.parametrize("wait", ["0s", "1h"])
async def test_a_job_that_fails_comes_back_to_its_place_and_holds_nobody_up(
    server_url: str, queue_name: str, wait: str
):
    app = EchoMQ(redis_url=least(server_url), default_queue=queue_name)
    ran: list[int] = []

    @app.job("group.step")
    async def step(number: int) -> None:
        ran.append(number)
        if number == 2 and ran.count(2) < 3:
            raise Retry(after=wait)

    handles = await app.enqueue_many(step.options(lane="acme").call(n) for n in range(10))

    async with crew(app, server_url, 1, CONCURRENCY="1"):
        for runs in (10, 11, 12) if wait == "1h" else (12,):
            await wait_for(lambda runs=runs: len(ran) == runs)
            while runs < 12 and not await handles[2].promote():  # noqa: ASYNC110 - no event of ours
                await asyncio.sleep(0.005)

    assert [number for number in ran if number != 2] == [0, 1, 3, 4, 5, 6, 7, 8, 9]
    assert ran.count(2) == 3
    # While it waits the others go on; when it may run it is before all that were minted later.
    assert ran[-2:] == ([2, 2] if wait == "1h" else [8, 9])
