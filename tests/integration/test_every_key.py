"""Whatever is done, a key is held alike in memory and on a server, and never by what is over."""

from collections.abc import Callable
from dataclasses import replace
from typing import cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis.asyncio import Redis

from echomq_worker.domain.job import JobId, State
from echomq_worker.domain.outcome import Buried, Completed, HandedBack, Retried
from echomq_worker.domain.unique import Conflict, Mode, Release, Unique
from echomq_worker.domain.views import Places
from echomq_worker.store import Server, ServerOptions
from tests.integration.test_shared_histories import History, Step
from tests.support.audit import complaints_of
from tests.support.behaviour import InlineDriver, ServerDriver
from tests.support.jobs import job_id, new_job
from tests.support.least_rights import unrestricted

KEYS = ("a", "b")
MOSTLY_ONE = st.sampled_from(["a", "a", "a", "b"])
IDS = st.sampled_from([job_id(number) for number in range(6)])
CONFLICTS = [
    *(Conflict(mode) for mode in (Mode.REJECT, Mode.REPLACE, *[Mode.KEEP_LATEST] * 6)),
    *(Conflict(mode, release=Release.START) for mode in (Mode.REJECT, Mode.REPLACE)),
    # No sum of the time that steps take.
    Conflict(Mode.DEBOUNCE, 61_500, 92_500, Release.START),
    Conflict(Mode.DEBOUNCE, 61_500, 0, Release.START),
]
SENDS = st.tuples(
    st.just("send"),
    MOSTLY_ONE,
    st.sampled_from(CONFLICTS),
    st.sampled_from([*[None] * 9, 60_000]),
    st.sampled_from([None, None, -1]),
)
CLAIMS = st.tuples(st.just("claim"), st.integers(1, 2), st.just(3))
ENDS = st.tuples(
    st.just("settle"),
    st.sampled_from([-1, -1, -2, 0]),
    st.sampled_from([Completed(), Buried("no"), Buried("no"), Retried(0, "no"), HandedBack()]),
    st.just(0),
    st.just(0),
)
OTHERS = st.one_of(
    st.tuples(st.just("remove"), IDS, st.sampled_from([Places.ANY, Places.WAITING])),
    st.tuples(st.just("requeue"), IDS),
    st.tuples(st.just("release"), MOSTLY_ONE),
    st.tuples(st.just("reprioritize"), IDS, st.sampled_from([0, 1])),
    st.tuples(st.just("promote_now"), IDS),
    st.tuples(st.just("pass_time"), st.just(60_000)),
    st.tuples(st.just("reap"), st.just(3), st.integers(0, 1), st.just(0)),
)


class KeyedHistory(History):
    """A history in which jobs are enqueued under keys as well."""

    async def take(self, step: Step) -> list[object]:
        told = await super().take(step)
        told += [await self.look(job_id(number)) for number in range(self.sent)]
        return [*told, *[await self.driver.queue.operator.holder(key) for key in KEYS]]

    async def do_send(
        self,
        key: str,
        conflict: Conflict,
        after_ms: int | None,
        priority: int | None,
    ) -> object:
        unique = Unique(key, conflict)
        job = new_job(job_id(self.sent), after_ms=after_ms)
        self.sent += 1
        return await self.driver.queue.enqueue_unique(
            replace(job, unique=unique, priority=priority), unique
        )

    async def do_release(self, key: str) -> object:
        return await self.driver.queue.operator.release(key)

    sent = 0


@pytest.mark.slow
@settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    steps=st.lists(
        st.one_of(SENDS, SENDS, SENDS, CLAIMS, CLAIMS, ENDS, OTHERS),
        min_size=25,
        max_size=40,
    )
)
async def test_any_history_of_keys(
    server_url: str, redis_client: "Redis", new_queue_name: Callable[[], str], steps: list[Step]
):
    memory = InlineDriver()
    server = ServerDriver(Server(ServerOptions(url=server_url)), redis_client, new_queue_name())
    try:
        in_memory = KeyedHistory(memory, memory.line())
        on_server = KeyedHistory(server, server.line())
        for step in steps:
            assert await in_memory.take(step) == await on_server.take(step), step
            await holders_live(server)
        complaints = complaints_of(unrestricted(server_url), server.name)
        assert [each for each in complaints if not each.startswith("too-many-attempts")] == []
    finally:
        await server.aclose()


async def holders_live(server: ServerDriver) -> None:
    """Look by plain commands: who holds a key lives, and who waits for one waits for another."""
    root = f"emq:{{{server.name}}}:"
    for key in KEYS:
        holder = cast("bytes | None", await server.client.get(f"{root}de:{key}"))
        kept = cast("list[bytes]", await server.client.zrange(f"{root}parked:unique:{key}", 0, -1))
        assert len(kept) <= 1
        if holder is not None:
            seen = await server.queue.inspect(JobId(holder.decode()))
            assert seen is not None, f"{holder} holds {key} and is gone"
            assert seen.state is not State.DEAD
        assert not kept or holder not in {None, *kept}
