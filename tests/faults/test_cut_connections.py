"""Connections that are cut, deaf or slow are made anew, and no reply is mixed up."""

import asyncio
import secrets

import pytest

from echomq_worker.domain.outcome import Completed, Verdict
from echomq_worker.errors import UnavailableError
from echomq_worker.store import QueueStore, Server, ServerOptions, hints
from echomq_worker.store.line import Line
from tests.support.jobs import A, B, claim, claim_one, enqueue, new_job, settle
from tests.support.look import Look
from tests.support.proxy import Proxy


async def test_a_lost_reply_is_noticed_when_its_time_is_up(
    proxy: Proxy, queue_name: str, look: Look
):
    async with Server(ServerOptions(url=proxy.url, timeout_ms=80)) as server:
        queue = server.queue(queue_name)
        await enqueue(queue, A)

        async def hear_again(error: Exception, tries: int) -> None:
            assert isinstance(error, UnavailableError)
            assert tries == 1
            proxy.deaf = False

        line = queue.line(trouble=hear_again)
        await claim(line, 0)
        proxy.deaf = True
        assert (await claim_one(line)).id == A
        await line.aclose()
    assert await look.places() == {"active": [A]}


async def test_a_hint_that_is_overdue_is_no_hint_and_the_next_wait_is_a_new_one(
    proxy: Proxy, queue_name: str, look: Look, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(hints, "EXTRA_MS", 200)
    async with Server(ServerOptions(url=proxy.url, timeout_ms=50)) as server:
        queue = server.queue(queue_name)
        assert not await queue.wait_hint(bell=True, clock=True, timeout_ms=20)
        proxy.deaf = True
        with pytest.raises(UnavailableError):
            await queue.wait_hint(bell=True, clock=True, timeout_ms=20)
        proxy.deaf = False
        assert not await queue.wait_hint(bell=True, clock=True, timeout_ms=20)
        await look.do("RPUSH", look.keys.bell, "1")
        assert await queue.wait_hint(bell=True, clock=True, timeout_ms=20)


async def test_who_waits_for_a_hint_is_told_of_a_cut_and_can_wait_again(
    far_queue: QueueStore, proxy: Proxy
):
    waiting = asyncio.create_task(far_queue.wait_hint(bell=True, clock=True, timeout_ms=900))
    await asyncio.sleep(0.05)
    proxy.go_down()
    with pytest.raises(UnavailableError):
        await waiting

    proxy.come_up()
    waiting = asyncio.create_task(far_queue.wait_hint(bell=True, clock=True, timeout_ms=900))
    await enqueue(far_queue, A)
    assert await waiting


async def test_a_server_that_comes_back_is_used_again(
    far_queue: QueueStore, far_line: Line, proxy: Proxy
):
    await enqueue(far_queue, A)
    proxy.go_down()
    later = asyncio.create_task(far_queue.enqueue([new_job(B)]))
    await asyncio.sleep(0.03)
    proxy.come_up()

    assert await later == ["enqueued"]
    assert await settle(far_line, await claim_one(far_line), Completed()) is Verdict.OK


@pytest.mark.case("CLI-01")
async def test_calls_that_are_cancelled_mix_up_no_replies(far_queue: QueueStore, proxy: Proxy):
    proxy.delay_s = 0.004
    wires = (far_queue._wire, far_queue.line(trouble=never).wire)
    for wire in wires:
        for number in range(40):
            call = asyncio.create_task(wire.command("PING", f"cancelled {number}"))
            await asyncio.sleep(0.0003 * (number % 20))
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            nonce = secrets.token_bytes(8)
            assert await wire.command("PING", nonce) == nonce
    await wires[1].aclose()


async def never(error: Exception, tries: int) -> None:
    raise AssertionError from error
