"""A server that somebody empties under a running worker gets back what workers need."""

import pytest
import redis

from echomq_worker.domain.job import JobId
from echomq_worker.domain.outcome import Completed
from echomq_worker.domain.replies import Beat, Presence
from echomq_worker.embedded import EmbeddedServer
from echomq_worker.errors import WireVersionError
from echomq_worker.protocol.keyspace import VERSION_KEY
from echomq_worker.store import QueueStore, Server, ServerOptions
from echomq_worker.store.line import Line
from echomq_worker.version import WIRE_VERSION
from tests.support.jobs import LEASE_MS, A, B, claim_one, enqueue
from tests.support.look import Look
from tests.support.private import QUEUE
from tests.support.stores import no_trouble

pytestmark = pytest.mark.usefixtures("private_server")


async def beat(line: Line) -> Beat:
    return await line.beat(
        limit=1,
        lease_ms=LEASE_MS,
        promote=1,
        reap=1,
        crash_limit=5,
        max_attempts=10,
        worker=Presence("w1"),
    )


async def lines_of(server: Server) -> tuple[QueueStore, Line]:
    queue = server.queue(QUEUE)
    return queue, queue.line(trouble=no_trouble, worker_id="w1")


async def test_the_second_beat_brings_back_the_fence_the_mark_and_the_presence(
    private_server: EmbeddedServer, admin: "redis.Redis", own_look: Look
):
    async with Server(ServerOptions(url=private_server.url)) as server:
        _, line = await lines_of(server)
        assert not (await beat(line)).emptied
        admin.flushall()

        assert (await beat(line)).emptied
        assert not (await beat(line)).emptied

        assert admin.get(VERSION_KEY) == WIRE_VERSION.encode()
        assert b"ext" in admin.hgetall(own_look.keys.meta)  # pyright: ignore[reportOperatorIssue]
        assert admin.zscore(own_look.keys.workers, "w1") is not None
        await line.aclose()


async def test_the_outcome_of_a_job_that_went_with_it_is_gone_and_makes_no_row(
    private_server: EmbeddedServer, admin: "redis.Redis", own_look: Look
):
    async with Server(ServerOptions(url=private_server.url)) as server:
        queue, line = await lines_of(server)
        await enqueue(queue, A)
        job = await claim_one(line)
        admin.flushall()

        settled = await line.settle([(job, Completed())])

        assert settled.verdicts == ["gone"]
        assert admin.keys(own_look.keys.root + "job:*") == []
        await enqueue(queue, B)
        assert (await claim_one(line)).id == JobId(B)
        await line.aclose()


async def test_what_somebody_else_made_of_it_meanwhile_is_left_alone(
    private_server: EmbeddedServer, admin: "redis.Redis"
):
    async with Server(ServerOptions(url=private_server.url)) as server:
        _, line = await lines_of(server)
        await beat(line)
        admin.flushall()
        admin.set(VERSION_KEY, "another wire")
        assert (await beat(line)).emptied

        with pytest.raises(WireVersionError):
            await beat(line)
        assert admin.get(VERSION_KEY) == b"another wire"
        await line.aclose()
