"""A server whose memory is full: it takes no new jobs, and lets those that it has be finished."""

from collections.abc import AsyncGenerator, Generator
from contextlib import closing, contextmanager

import pytest
import pytest_asyncio
import redis

from echomq_worker.domain.job import After, Held
from echomq_worker.domain.outcome import (
    Buried,
    Completed,
    HandedBack,
    Outcome,
    Retried,
    Snoozed,
    Verdict,
)
from echomq_worker.embedded import EmbeddedServer
from echomq_worker.errors import OutOfMemoryError
from echomq_worker.store import (
    Moved,
    Places,
    Presence,
    QueueStore,
    Removed,
    Reprioritized,
    Requeued,
    Server,
    ServerOptions,
)
from echomq_worker.store.extender import BlockingExtender
from echomq_worker.store.line import Line
from tests.support.cut_wire import CutWire, Fault
from tests.support.jobs import (
    LEASE_MS,
    A,
    B,
    C,
    D,
    E,
    F,
    claim,
    claim_one,
    enqueue,
    new_job,
    settle,
)
from tests.support.look import Look
from tests.support.private import QUEUE
from tests.support.stores import no_trouble

FAR_MS = 4_000_000_000_000
TINY = 1_000


class Full:
    """A queue on a server that is full: A and B are held, C waits, D is due, E is dead."""

    def __init__(self, queue: QueueStore, line: Line, admin: "redis.Redis") -> None:
        self.queue = queue
        self.line = line
        self._admin = admin
        self.held: list[Held] = []

    async def begin(self) -> None:
        await enqueue(self.queue, E)
        await settle(self.line, await claim_one(self.line), Buried("no"))
        await enqueue(self.queue, A, B)
        self.held = list(await claim(self.line, 2))
        await self.queue.enqueue([new_job(C), new_job(D, at_ms=1)])
        self._admin.config_set("maxmemory", TINY)

    @contextmanager
    def with_room(self) -> Generator[None]:
        """Let there be room inside the block."""
        self._admin.config_set("maxmemory", 0)
        yield
        self._admin.config_set("maxmemory", TINY)


@pytest_asyncio.fixture
async def full(private_server: EmbeddedServer, admin: "redis.Redis") -> AsyncGenerator[Full]:
    async with Server(ServerOptions(url=private_server.url)) as server:
        queue = server.queue(QUEUE)
        line = queue.line(trouble=no_trouble, worker_id="w1", watch_ms=9_000)
        full = Full(queue, line, admin)
        await full.begin()
        yield full
        await line.aclose()


@pytest.fixture
def extender(private_server: EmbeddedServer) -> Generator[BlockingExtender]:
    with closing(BlockingExtender(ServerOptions(url=private_server.url))) as extender:
        yield extender


@pytest.mark.parametrize("due_ms", [None, FAR_MS])
@pytest.mark.case("SRV-03")
async def test_an_enqueue_is_refused_and_leaves_nothing(
    full: Full, own_look: Look, due_ms: int | None
):
    before = await own_look.dumps()

    with pytest.raises(OutOfMemoryError, match="free memory or raise maxmemory"):
        await full.queue.enqueue([new_job(F, at_ms=due_ms)])

    assert await own_look.dumps() == before
    with full.with_room():
        assert len(await full.queue.enqueue([new_job(F, at_ms=due_ms)])) == 1


@pytest.mark.case("SRV-03")
async def test_a_batch_is_refused_whole(full: Full, own_look: Look):
    before = await own_look.dumps()

    with pytest.raises(OutOfMemoryError):
        await full.queue.enqueue([new_job(A), new_job(F), new_job(B)])

    assert await own_look.dumps() == before


@pytest.mark.parametrize(
    "outcome",
    [
        Completed(b"x", 60_000),
        Retried(60_000, "no", b"[]"),
        Buried("no"),
        Snoozed(60_000),
        HandedBack(),
    ],
)
@pytest.mark.case("SRV-03")
async def test_every_outcome_is_taken(full: Full, own_look: Look, outcome: Outcome):
    assert await settle(full.line, full.held[0], outcome) is Verdict.OK

    assert (await own_look.places())["active"] == [B]


async def test_a_late_outcome_is_taken(full: Full, own_look: Look):
    with full.with_room():
        await own_look.expire_lease(A)
        await full.queue.reap(1)

    assert await settle(full.line, full.held[0], Completed()) is Verdict.OK


@pytest.mark.case("SRV-03")
async def test_what_waits_is_claimed_and_finished(full: Full, own_look: Look):
    jobs = await claim(full.line, 9, promote=9)
    assert [job.id for job in jobs] == [C, D]

    for job in (*full.held, *jobs):
        assert await settle(full.line, job, Completed()) is Verdict.OK
    assert await own_look.places() == {"dead": [E]}


async def test_a_claim_that_finds_nothing_is_answered(full: Full):
    await claim(full.line, 9, promote=9)

    assert await claim(full.line, 9, promote=9) == []


@pytest.mark.case("SRV-03")
async def test_leases_are_extended(full: Full, own_look: Look, extender: BlockingExtender):
    with full.with_room():
        await own_look.expire_lease(A, B)

    assert extender.extend(QUEUE, full.held, LEASE_MS) == [Verdict.OK, Verdict.OK]
    assert await full.queue.extend(full.held, LEASE_MS) == [Verdict.OK, Verdict.OK]
    assert min((await own_look.scores(own_look.keys.active)).values()) > 1_000_000


@pytest.mark.case("SRV-03")
async def test_lost_leases_are_taken_back_and_due_jobs_promoted(full: Full, own_look: Look):
    with full.with_room():
        await own_look.expire_lease(A)

    assert (await full.queue.reap(9)).recovered == (A,)
    assert (await full.queue.promote(9)).moved == 1
    assert (await own_look.places())["pending"] == [A, C, D]


async def test_a_beat_does_all_its_work(full: Full, own_look: Look):
    with full.with_room():
        await own_look.expire_lease(A)

    beat = await full.line.beat(
        limit=9,
        lease_ms=LEASE_MS,
        promote=9,
        reap=9,
        crash_limit=5,
        max_attempts=10,
        worker=Presence("w1", {"host": "a"}),
    )

    assert beat.reaped.recovered == (A,)
    assert [job.id for job in beat.claimed.jobs] == [A, C, D]


async def test_a_pump_that_finds_nothing_due_is_answered(full: Full):
    await full.queue.promote(9)

    promoted = await full.queue.promote(9, worker_id="w2", watch_ms=9_000)

    assert (promoted.moved, promoted.watching) == (0, False)


async def test_the_watcher_keeps_its_watch(full: Full, own_look: Look):
    with full.with_room():
        await full.queue.promote(9, worker_id="w1", watch_ms=9_000)
    await own_look.do("PEXPIRE", own_look.keys.pump, 5_000)

    assert (await full.queue.promote(9, worker_id="w1", watch_ms=9_000)).watching
    assert await own_look.do("PTTL", own_look.keys.pump) > 5_000


async def test_dead_jobs_are_brought_back_and_jobs_removed(full: Full, own_look: Look):
    assert await full.queue.requeue([E]) == [Requeued.OK]
    assert await full.queue.remove(E, Places.WAITING) is Removed.OK
    assert await full.queue.remove(D, Places.WAITING) is Removed.OK
    assert await own_look.places() == {"pending": [C], "active": [A, B]}


async def test_waiting_jobs_are_moved_to_another_time_and_let_run(full: Full, own_look: Look):
    assert await full.queue.reschedule([D], After(60_000)) == [Moved.OK]
    assert await full.queue.promote_now([D]) == [Moved.OK]
    assert D in (await own_look.places())["pending"]


async def test_jobs_get_another_priority(full: Full, own_look: Look):
    assert await full.queue.reprioritize([C, D, A], -1) == [
        Reprioritized.OK,
        Reprioritized.NOT_WAITING,
        Reprioritized.NOT_WAITING,
    ]
    assert await own_look.members(f"{own_look.keys.root}prioritized") == [C]


async def test_the_queue_can_be_paused_and_resumed(full: Full):
    await full.queue.pause(reason="full", by="ann")
    assert (await full.queue.counts()).paused
    await full.queue.resume()
    assert not (await full.queue.counts()).paused


@pytest.mark.parametrize("fault", Fault)
async def test_a_settlement_that_is_asked_again_is_answered(full: Full, fault: Fault):
    gone, held = full.held
    await settle(full.line, gone, Completed())
    wire = CutWire(full.line.wire)

    async def again(error: Exception, tries: int) -> None:
        assert tries == 1, error

    full.line.wire, full.line.trouble = wire, again

    for job, verdict in ((gone, Verdict.GONE), (held, Verdict.OK)):
        wire.next_calls(fault)
        assert await settle(full.line, job, Completed()) is verdict
