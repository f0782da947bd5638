"""Whatever is done to them, a queue in memory and one on a server give the same answers."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis.asyncio import Redis

from echomq_worker.domain.job import After, At, Due, Held, JobId
from echomq_worker.domain.outcome import Buried, Completed, HandedBack, Outcome, Retried, Snoozed
from echomq_worker.domain.views import JobView, Order, Places
from echomq_worker.store import Server, ServerOptions
from tests.support.behaviour import Driver, InlineDriver, LinePort, ServerDriver
from tests.support.jobs import A, B, C, new_job

MINUTE_MS = 60_000
IDS = st.sampled_from([A, B, C])
OUTCOMES: list[Outcome] = [
    Completed(),
    Completed(b"1", keep_ms=2 * MINUTE_MS),
    Retried(MINUTE_MS, "no", b"[]"),
    Retried(0, "no", counted=False),
    Buried("no"),
    Snoozed(MINUTE_MS, unknown=True),
    Snoozed(0),
    HandedBack(),
]

Step = tuple[str, *tuple[object, ...]]

STEPS = st.one_of(
    st.tuples(
        st.just("enqueue"), IDS, st.sampled_from([None, MINUTE_MS]), st.sampled_from([None, -1, 2])
    ),
    st.tuples(st.just("claim"), st.integers(0, 3), st.integers(0, 3)),
    st.tuples(
        st.just("settle"),
        st.integers(0, 9),
        st.sampled_from(OUTCOMES),
        st.integers(0, 2),
        st.sampled_from([0, 0, 0, 1]),
    ),
    st.tuples(st.just("extend"), st.integers(0, 9)),
    st.tuples(st.just("pass_time"), st.sampled_from([MINUTE_MS, 2 * MINUTE_MS])),
    st.tuples(st.just("reap"), st.integers(1, 3), st.integers(0, 2), st.integers(0, 2)),
    st.tuples(st.just("promote"), st.integers(1, 3)),
    st.tuples(st.just("requeue"), IDS),
    st.tuples(st.just("reschedule"), IDS, st.sampled_from([After(0), After(MINUTE_MS), At(1)])),
    st.tuples(st.just("promote_now"), IDS),
    st.tuples(st.just("remove"), IDS, st.sampled_from(list(Places))),
    st.tuples(st.just("reprioritize"), IDS, st.sampled_from([0, -1, 2])),
    st.tuples(st.just("put_order"), st.sampled_from(Order)),
    st.tuples(st.just("pause")),
    st.tuples(st.just("resume")),
)


@dataclass
class History:
    """What was done to one queue, and what it answered."""

    driver: Driver
    line: LinePort
    held: list[Held] = field(default_factory=list[Held])
    """Everything that was ever claimed, for settlements that come late, twice or not at all."""

    async def take(self, step: Step) -> list[object]:
        """Do one thing; return the answer, and how the queue looks then."""
        kind, *args = step
        answer = await getattr(self, f"do_{kind}")(*args)
        # What two steps make due is never due at the same instant.
        await self.driver.pass_time(1_000)
        return [answer, await self.driver.queue.counts(), *[await self.look(i) for i in (A, B, C)]]

    async def look(self, job_id: JobId) -> object:
        view = await self.driver.queue.inspect(job_id)
        kept = await self.driver.queue.result(job_id)
        return view and _timeless(view), kept and (kept.outcome, kept.result)

    async def do_enqueue(self, job_id: JobId, after_ms: int | None, priority: int | None) -> object:
        job = replace(new_job(job_id, after_ms=after_ms), priority=priority)
        return await self.driver.queue.enqueue([job])

    async def do_claim(self, limit: int, promote: int) -> object:
        claimed = await self.line.claim(limit=limit, lease_ms=MINUTE_MS, promote=promote)
        self.held += claimed.jobs
        return [_anonymous(held) for held in claimed.jobs], claimed.left, claimed.paused

    async def do_settle(self, which: int, outcome: Outcome, limit: int, wrong: int) -> object:
        if not self.held:
            return None
        held = self.held[which % len(self.held)]
        settled = await self.line.settle(
            [(replace(held, token=held.token + wrong), outcome)],
            limit=limit,
            lease_ms=MINUTE_MS,
            promote=1,
        )
        self.held += settled.claimed.jobs
        return settled.verdicts, [_anonymous(held) for held in settled.claimed.jobs]

    async def do_extend(self, which: int) -> object:
        if not self.held:
            return None
        held = self.held[which % len(self.held)]
        return await self.driver.queue.extend([held], 2 * MINUTE_MS)

    async def do_pass_time(self, ms: int) -> object:
        # A little more than a minute, because a server's clock goes on by itself.
        return await self.driver.pass_time(ms + 5_000)

    async def do_reap(self, limit: int, crash_limit: int, max_attempts: int) -> object:
        return await self.driver.queue.reap(
            limit, crash_limit=crash_limit, max_attempts=max_attempts
        )

    async def do_promote(self, limit: int) -> object:
        return (await self.driver.queue.promote(limit)).moved

    async def do_requeue(self, job_id: JobId) -> object:
        return await self.driver.queue.requeue([job_id])

    async def do_reschedule(self, job_id: JobId, due: Due) -> object:
        return await self.driver.queue.reschedule([job_id], due)

    async def do_promote_now(self, job_id: JobId) -> object:
        return await self.driver.queue.promote_now([job_id])

    async def do_reprioritize(self, job_id: JobId, priority: int) -> object:
        return await self.driver.queue.reprioritize([job_id], priority)

    async def do_put_order(self, order: Order) -> object:
        await self.driver.queue.put_order(order)
        return await self.driver.queue.order()

    async def do_remove(self, job_id: JobId, places: Places) -> object:
        return await self.driver.queue.remove(job_id, places)

    async def do_pause(self) -> object:
        return await self.driver.queue.pause()

    async def do_resume(self) -> object:
        return await self.driver.queue.resume()


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(steps=st.lists(STEPS, min_size=5, max_size=30))
async def test_the_same_steps_get_the_same_answers(
    server_url: str, redis_client: "Redis", new_queue_name: Callable[[], str], steps: list[Step]
):
    memory = InlineDriver()
    server = ServerDriver(Server(ServerOptions(url=server_url)), redis_client, new_queue_name())
    try:
        in_memory = History(memory, memory.line())
        on_server = History(server, server.line())
        for step in steps:
            assert await in_memory.take(step) == await on_server.take(step), step
    finally:
        await server.aclose()


def _timeless(view: JobView) -> JobView:
    return replace(
        view,
        queue="",
        due_ms=view.due_ms and 1,
        lease_ms=view.lease_ms and 1,
        died_ms=view.died_ms and 1,
        fields={},
    )


def _anonymous(held: Held) -> Held:
    return replace(held, queue="", claim="", unknown_since_ms=held.unknown_since_ms and 1)
