"""The client library, and what it may do to us: replies, pools, protocols."""

import asyncio
from random import Random
from typing import Any

import pytest
from redis._parsers import _AsyncRESP2Parser

from echomq_worker.config.redis_url import parse_redis_url
from echomq_worker.domain.backoff import Backoff, exponential, fixed, linear, steps
from echomq_worker.embedded import EmbeddedServer
from echomq_worker.errors import InvalidArgumentError
from echomq_worker.store import QueueStore, Server, ServerOptions
from echomq_worker.store.gate import LONGEST_WAIT_S, ConnectGate
from tests.support.grumpy import Grumpy
from tests.support.jobs import A, B, C, claim_one, enqueue, job_id, new_job
from tests.support.private import QUEUE
from tests.support.shop import Shop
from tests.support.stores import no_trouble

TEN_MINUTES_MS = 600_000


@pytest.mark.case("CLI-03")
async def test_no_blocking_call_takes_a_job_and_none_lasts_longer_than_its_connection_waits(
    shop: Shop, grumpy: Grumpy
):
    async with shop.worker(grumpy.url, BEAT="100ms", REDIS_TIMEOUT="150ms"):
        for _ in range(8):
            await shop.add()
            await asyncio.sleep(0.25)  # longer than one read, and than any time-out of a command
        await shop.completed()

    blocking = [words for _, words in grumpy.heard if words[0].upper().startswith(b"B")]
    assert {words[0] for words in blocking} == {b"BLPOP"}
    keys = {key for words in blocking for key in words[1:-1]}
    assert keys <= {b"emq:{own}:bell", b"emq:{own}:clock"}
    assert max(float(words[-1]) for words in blocking) <= 5
    # None of them ran into its time-out: that would have closed the connection.
    hints = [words for use, words in grumpy.heard if use == "hints" and words[0] == b"CLIENT"]
    assert sum(words[1] == b"SETNAME" for words in hints) == 1
    assert await shop.ran_once()


@pytest.mark.case("CLI-04")
async def test_calls_that_are_cancelled_give_their_connections_back(grumpy: Grumpy):
    dice = Random(4)
    options = ServerOptions(url=grumpy.url, client_name="t", max_connections=4)
    async with Server(options) as server:
        queue = server.queue(QUEUE)
        for number in range(200):
            calls: list[asyncio.Task[Any]] = [
                asyncio.create_task(queue.counts()),
                asyncio.create_task(queue.enqueue([new_job(job_id(number))])),
            ]
            await asyncio.sleep(dice.uniform(0, 0.003))
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)

        # All four can be had at once, and answer rightly.
        counts = await asyncio.wait_for(asyncio.gather(*(queue.counts() for _ in range(20))), 5)
        assert len({found.pending for found in counts}) == 1
        assert len(grumpy.uses()) <= options.max_connections + 1


@pytest.mark.case("CLI-06")
async def test_five_hundred_enqueues_at_once_over_few_connections_all_go_in(
    private_server: EmbeddedServer,
):
    options = ServerOptions(url=private_server.url, max_connections=10)
    async with Server(options) as server:
        queue = server.queue(QUEUE)
        said = await asyncio.gather(*(queue.enqueue([new_job(job_id(n))]) for n in range(500)))
        looked = await asyncio.gather(*(queue.inspect(job_id(n)) for n in range(500)))
        assert said == [["enqueued"]] * 500
        assert all(looked)
        assert (await queue.counts()).pending == 500


def longest(_: float, high: float) -> float:
    return high


@pytest.mark.case("CLI-07")
@pytest.mark.parametrize(
    "backoff",
    [exponential(), exponential("1s", "10m", jitter=False), linear("1s"), fixed("10m"), steps([1])],
)
def test_the_backoff_of_any_failure_is_between_nothing_and_its_cap(backoff: Backoff):
    waits = [backoff.delay_ms(attempt, longest) for attempt in (*range(1, 5_001), 10**9)]
    assert min(waits) >= 0
    assert max(waits) <= TEN_MINUTES_MS


@pytest.mark.case("CLI-07")
def test_a_connection_that_fails_for_ever_is_tried_again_for_ever():
    now_s = 0.0
    gate = ConnectGate(monotonic=lambda: now_s, dice=longest)
    for _ in range(5_000):
        began_s = now_s
        while (wait_s := gate.ask(gate.failures)) > 0:
            now_s += wait_s
        assert now_s - began_s <= LONGEST_WAIT_S + 0.1
        gate.note(ConnectionError("refused"))


@pytest.mark.case("CLI-10")
@pytest.mark.parametrize("wish", ["", "protocol=2", "protocol=3"])
async def test_whatever_protocol_a_url_wishes_for_the_replies_mean_the_same(
    private_server: EmbeddedServer, wish: str
):
    async with Server(ServerOptions(url=f"{private_server.url}&{wish}")) as server:
        await use_it_all(server.queue(QUEUE))


@pytest.mark.case("CLI-10")
async def test_a_parser_that_is_written_in_python_gives_the_same(private_server: EmbeddedServer):
    async with Server(ServerOptions(url=private_server.url)) as server:
        queue = server.queue(QUEUE)
        queue._client.connection_pool.connection_kwargs["parser_class"] = _AsyncRESP2Parser
        await server._client.connection_pool.disconnect()
        server._client.connection_pool.reset()
        await use_it_all(queue)


@pytest.mark.case("CLI-10")
@pytest.mark.parametrize("wish", ["decode_responses=true", "encoding=latin-1"])
def test_what_would_change_replies_is_not_taken_from_a_url(wish: str):
    with pytest.raises(InvalidArgumentError):
        parse_redis_url(f"redis://127.0.0.1:6379/0?{wish}")


async def use_it_all(queue: QueueStore) -> None:
    """Have each shape of a reply read: numbers, texts, nothing, lists, pairs, streams."""
    line = queue.line(trouble=no_trouble, worker_id="w1", watch_ms=9_000)
    await enqueue(queue, A, B)
    assert await queue.pending_ids(9) == [A, B]
    held = await claim_one(line)
    assert held.id == A
    assert await queue.extend([held], 60_000)
    view = await queue.inspect(B)
    assert view is not None
    assert view.payload == B.encode()
    assert await queue.inspect(C) is None
    counts = await queue.counts()
    assert (counts.pending, counts.active) == (1, 1)
    assert await queue.wait_hint(bell=True, clock=True, timeout_ms=50)
    assert await queue.pause_note() is None
    await queue.pause(reason="why", by="me")
    note = await queue.pause_note()
    assert note is not None
    assert note.reason == "why"
    await line.aclose()
