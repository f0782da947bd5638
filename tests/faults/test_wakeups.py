"""Waking up: hints make jobs start soon, and none is needed for a job to start at all."""

import asyncio
import time
from random import Random

import pytest
import redis

from echomq_worker.embedded import EmbeddedServer
from tests.support.grumpy import Grumpy
from tests.support.look import Look
from tests.support.shop import Shop, until

SOON_S = 2.0
"""Far less than the beat of the workers here, which would find a job without a hint."""
LONGEST_BLOCK_S = 5.0


def blocks_s(grumpy: Grumpy) -> list[float]:
    """Return how long each blocking read wanted to wait."""
    return [float(words[-1]) for _, words in grumpy.heard if words[0] == b"BLPOP"]


@pytest.mark.case("WAK-01")
async def test_one_job_at_a_time_that_is_due_in_a_moment_never_waits_for_another(
    shop: Shop, grumpy: Grumpy
):
    dice = Random(1)
    async with shop.worker(grumpy.url, BEAT="20s", REDIS_TIMEOUT="5s"):
        for _ in range(60):
            after_ms = dice.randint(1, 50)
            await shop.add(after=f"{after_ms}ms")
            assert await shop.completed() < after_ms / 1_000 + SOON_S

    waits = blocks_s(grumpy)
    assert waits
    assert all(0.01 <= wait <= LONGEST_BLOCK_S for wait in waits)
    assert await shop.ran_once()


@pytest.mark.case("WAK-02")
@pytest.mark.parametrize("patience_s", [0.5, 0.15], ids=["longer than a read", "shorter"])
async def test_links_that_are_dropped_in_silence_while_idle_delay_no_job_for_long(
    shop: Shop, grumpy: Grumpy, patience_s: float
):
    async with shop.worker(grumpy.url, BEAT="100ms"):
        await shop.add()
        await shop.completed()
        grumpy.patience_s = patience_s
        await asyncio.sleep(1)
        await shop.add()
        assert await shop.completed() < SOON_S
    # A link that waits for hints is never idle for as long as middleboxes allow.
    assert ("hints" in grumpy.dropped) == (patience_s < max(blocks_s(grumpy)))
    assert max(blocks_s(grumpy)) <= LONGEST_BLOCK_S


@pytest.mark.case("WAK-05")
async def test_without_a_single_hint_jobs_are_found_by_beats(shop: Shop, grumpy: Grumpy):
    grumpy.ignore(lambda _use, words: words[0] == b"BLPOP")
    async with shop.worker(grumpy.url, BEAT="200ms"):
        for _ in range(3):
            await shop.add(33, after="50ms")
            await shop.add()
            assert await shop.completed() < SOON_S
    assert blocks_s(grumpy)
    assert await shop.ran_once()


async def test_a_worker_without_room_leaves_the_hints_to_others(
    shop: Shop, private_server: EmbeddedServer, own_look: Look
):
    slow = {"BEAT": "20s", "REDIS_TIMEOUT": "5s"}
    shop.run_s = 30
    async with shop.worker(private_server.url, CONCURRENCY="1", **slow):
        await shop.add()
        await until(lambda: bool(shop.runs))
        await asyncio.sleep(0.2)  # until it has stopped listening
        shop.run_s = 0
        async with shop.worker(private_server.url, **slow):
            for number in range(1, 21):
                began_s = time.monotonic()
                await shop.add()
                while (await shop.queue.counts()).completed < number:
                    assert time.monotonic() - began_s < SOON_S
                    await asyncio.sleep(0.01)
    assert (await own_look.places()).keys() == {"pending"}


async def test_a_busy_worker_of_one_slot_makes_no_more_connections_the_more_it_runs(
    shop: Shop, private_server: EmbeddedServer, admin: "redis.Redis"
):
    def connections() -> int:
        return admin.info("stats")["total_connections_received"]

    shop.run_s = 0.1
    async with shop.worker(private_server.url, CONCURRENCY="1"):
        await shop.add(2)
        await shop.completed()
        before = connections()
        await shop.add(20)
        await shop.completed()
        assert connections() - before <= 3

    assert await shop.ran_once()
