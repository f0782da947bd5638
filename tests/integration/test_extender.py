"""The extender: leases pushed back from a thread, on a connection that no event loop holds up."""

import threading
from collections.abc import Generator
from contextlib import closing

import pytest
import redis

from echomq_worker.domain.outcome import Completed, Verdict
from echomq_worker.embedded import EmbeddedServer
from echomq_worker.errors import InvalidArgumentError, InvalidQueueError, UnavailableError
from echomq_worker.store import QueueStore, ServerOptions
from echomq_worker.store.extender import BlockingExtender
from echomq_worker.store.line import Line
from tests.support.jobs import LEASE_MS, A, B, C, claim, claim_one, enqueue, settle
from tests.support.look import Look
from tests.support.private import QUEUE, cut_all_connections


@pytest.fixture
def extender(server_url: str) -> Generator[BlockingExtender]:
    with closing(BlockingExtender(ServerOptions(url=server_url))) as extender:
        yield extender


async def test_every_held_job_gets_its_new_lease_and_its_verdict(
    queue: QueueStore, line: Line, look: Look, extender: BlockingExtender
):
    await enqueue(queue, A, B, C)
    a, b, c = await claim(line, 3)
    await settle(line, a, Completed())
    await look.expire_lease(B)
    await queue.reap(1)
    before_ms = await look.now_us() // 1000

    verdicts = extender.extend(queue.name, [a, b, c], 2 * LEASE_MS)

    assert verdicts == [Verdict.GONE, Verdict.STALE, Verdict.OK]
    ends = await look.scores(look.keys.active)
    assert list(ends) == [C]
    assert ends[C] >= before_ms + 2 * LEASE_MS


async def test_nothing_held_is_nothing_extended(queue: QueueStore, extender: BlockingExtender):
    assert extender.extend(queue.name, [], LEASE_MS) == []


async def test_wrong_arguments_are_refused(queue: QueueStore, extender: BlockingExtender):
    with pytest.raises(InvalidArgumentError):
        extender.extend(queue.name, [], 0)
    with pytest.raises(InvalidQueueError):
        extender.extend("no queue", [], LEASE_MS)


async def test_a_script_that_the_server_forgot_is_sent_again(
    queue: QueueStore, line: Line, look: Look, extender: BlockingExtender
):
    await enqueue(queue, A)
    job = await claim_one(line)
    for _ in range(2):
        await look.do("SCRIPT", "FLUSH")
        assert extender.extend(queue.name, [job], LEASE_MS) == [Verdict.OK]


async def test_threads_take_turns(queue: QueueStore, line: Line, extender: BlockingExtender):
    await enqueue(queue, A)
    job = await claim_one(line)
    verdicts: list[list[Verdict]] = []

    def extend_often() -> None:
        verdicts.extend(extender.extend(queue.name, [job], LEASE_MS) for _ in range(20))

    threads = [threading.Thread(target=extend_often) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert verdicts == [[Verdict.OK]] * 160


def test_a_connection_that_was_cut_is_made_again(
    private_server: EmbeddedServer, admin: "redis.Redis"
):
    with closing(BlockingExtender(ServerOptions(url=private_server.url))) as extender:
        assert extender.extend(QUEUE, [], LEASE_MS) == []
        cut_all_connections(admin)
        assert extender.extend(QUEUE, [], LEASE_MS) == []


def test_a_server_that_stands_still_is_called_unavailable_and_used_again_later(
    private_server: EmbeddedServer, admin: "redis.Redis"
):
    options = ServerOptions(url=private_server.url, timeout_ms=60)
    with closing(BlockingExtender(options)) as extender:
        extender.extend(QUEUE, [], LEASE_MS)
        admin.execute_command("CLIENT", "PAUSE", "130", "ALL")
        with pytest.raises(UnavailableError):
            extender.extend(QUEUE, [], LEASE_MS)
        admin.ping()  # answered when the pause is over
        assert extender.extend(QUEUE, [], LEASE_MS) == []
