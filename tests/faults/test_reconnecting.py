"""Life after a broken connection: whatever breaks, a worker works again when it is mended."""

import asyncio
from random import Random

import pytest
import redis

from echomq_worker.embedded import EmbeddedServer
from echomq_worker.errors import UnavailableError
from echomq_worker.store import Server, ServerOptions
from tests.support.grumpy import About, Grumpy, calls_of, on
from tests.support.jobs import LEASE_MS
from tests.support.private import QUEUE, cut_all_connections
from tests.support.shop import Shop, until
from tests.support.stores import no_trouble

AGAIN_S = 2.0
"""How soon a worker consumes again once the server answers."""
TIMEOUT_S = 0.4
"""How long the workers here wait for an answer."""
USES = ("claims", "hints", "leases", "commands")
CALLS = {name: calls_of(name) for name in ("claim", "settle", "beat", "extend")}
KINDS: dict[str, About] = {use: on(use) for use in USES} | CALLS


async def soon_again(_error: Exception, _tries: int) -> None:
    """Ask again in a moment."""
    await asyncio.sleep(0.02)


@pytest.mark.case("REC-02")
async def test_connections_that_are_cut_again_and_again_stop_nobody(
    shop: Shop, private_server: EmbeddedServer, admin: "redis.Redis"
):
    dice = Random(2)
    async with shop.worker(private_server.url):
        for _ in range(15):
            adding = asyncio.create_task(shop.add(20))
            await asyncio.sleep(dice.uniform(0, 0.2))
            cut_all_connections(admin)
            await adding
            await shop.completed(within_s=5)

    assert await shop.ran_once()


@pytest.mark.case("REC-03")
async def test_a_network_that_swallows_everything_is_noticed_and_work_goes_on_when_it_heals(
    shop: Shop, grumpy: Grumpy
):
    async with shop.worker(grumpy.url):
        await shop.add(5)
        await shop.completed()
        grumpy.ignore(lambda _use, _words: True)
        await shop.add(5)
        asked = len(grumpy.asked_at)
        await asyncio.sleep(3 * TIMEOUT_S)
        assert len(grumpy.asked_at) > asked
        assert shop.runs.total() == 5
        grumpy.relent()
        assert await shop.completed() < 2 * TIMEOUT_S + AGAIN_S

    assert await shop.ran_once()


@pytest.mark.case("REC-05")
@pytest.mark.parametrize("kind", KINDS)
async def test_one_kind_of_call_that_gets_no_answer_ends_no_loop(
    shop: Shop, grumpy: Grumpy, kind: str
):
    async with shop.worker(grumpy.url, LEASE="600ms"):
        await shop.add(2)
        await shop.completed()
        shop.run_s = 0.3  # long enough for an extension of leases
        grumpy.ignore(KINDS[kind])
        await shop.add(2)
        await asyncio.sleep(1.5 * TIMEOUT_S)
        grumpy.relent()
        await shop.add(2, after="10ms")
        assert await shop.completed() < 2 * TIMEOUT_S + AGAIN_S + shop.run_s

        ended = len(grumpy.heard)
        await until(lambda: {"claims", "hints"} <= {use for use, _ in grumpy.heard[ended:]})
    assert set(shop.runs) == set(range(6))


@pytest.mark.case("REC-11")
async def test_a_server_that_is_busy_for_long_is_waited_for(
    shop: Shop, private_server: EmbeddedServer, admin: "redis.Redis"
):
    spin = """
    local function ms() local t = redis.call('TIME') return t[1] * 1000 + t[2] / 1000 end
    local start = ms()
    while ms() - start < 1500 do end
    """
    admin.config_set("busy-reply-threshold", 10)
    async with shop.worker(private_server.url):
        await shop.add(100)
        spinning = asyncio.create_task(asyncio.to_thread(admin.eval, spin, 0))
        await shop.add(100)  # asked again until the server has time
        await spinning
        assert await shop.completed() < 3

    assert await shop.ran_once()


@pytest.mark.case("REC-12")
async def test_ten_blocked_readers_behind_a_black_hole_are_there_again_and_no_more_than_before(
    shop: Shop, grumpy: Grumpy, admin: "redis.Redis"
):
    queues = ["own", *(f"idle-{number}" for number in range(9))]
    async with shop.worker(grumpy.url, queues=queues, REDIS_MAX_CONNECTIONS="22"):
        await shop.add()  # the shop has its connection as well
        await shop.completed()
        await until(lambda: grumpy.uses().count("hints") == 10)
        before = len(admin.client_list())
        grumpy.ignore(lambda _use, _words: True)
        await asyncio.sleep(3 * TIMEOUT_S)
        grumpy.relent()
        await shop.add(10)
        assert await shop.completed() < 10
        await until(lambda: grumpy.uses().count("hints") == 10)
        # Those of the pool that end ten waits at once may be more than before.
        await until(lambda: len(admin.client_list()) <= before + 10)


@pytest.mark.case("REC-14")
async def test_handlers_that_use_up_the_shared_connections_stop_no_lease_no_recovery_no_outcome(
    shop: Shop, grumpy: Grumpy
):
    await shop.add()
    dead_peer = shop.queue.line(trouble=no_trouble)
    await dead_peer.claim(limit=1, lease_ms=900, promote=0)
    async with shop.worker(grumpy.url, LEASE="300ms", REDIS_TIMEOUT="10s"):
        grumpy.ignore(on("commands", "enqueue"))
        shop.run_s = 1.8
        await shop.add()
        await until(lambda: shop.runs[1] == 1)
        shop.run_s = 0.0
        await shop.add(10)
        await shop.completed(within_s=5)
    await dead_peer.aclose()

    assert await shop.ran_once()


async def test_a_connection_for_hints_that_is_never_made_holds_up_the_others_no_longer_than_any(
    grumpy: Grumpy,
):
    grumpy.ignore(on("hints"))
    options = ServerOptions(url=grumpy.url, client_name="echomq:w", timeout_ms=100)
    async with Server(options) as server:
        queue = server.queue(QUEUE)
        waiting = asyncio.create_task(queue.wait_hint(bell=True, clock=True, timeout_ms=5_000))
        await until(lambda: grumpy.made["hints"] == 1)
        async with asyncio.timeout(2):  # its wait and 2 s on top would be 7
            line = queue.line(trouble=soon_again)
            await line.claim(limit=1, lease_ms=LEASE_MS, promote=0)
            await line.aclose()
            with pytest.raises(UnavailableError):
                await waiting


async def test_a_server_that_answers_again_is_worked_for_within_two_seconds(
    shop: Shop, grumpy: Grumpy
):
    async with shop.worker(grumpy.url):
        await shop.add()
        await shop.completed()
        for outage_s in (0.1, 0.6, 2.5):
            grumpy.shut = True
            grumpy.close_all()
            await asyncio.sleep(outage_s)
            grumpy.shut = False
            await shop.add()
            assert await shop.completed() < AGAIN_S, outage_s

    assert await shop.ran_once()
