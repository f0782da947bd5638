"""What a queue in memory and one on a server have in common, so that one suite can hold both to it.

The suite moves time by a driver: the clock of the memory is moved on; on a server everything that
is due later, or held until later, is moved nearer.
"""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, cast

import pytest
import pytest_asyncio
from redis.asyncio import Redis

from echomq_worker.client.operator_ports import OperatorStore
from echomq_worker.domain.job import Admission, Claimed, Due, Held, JobId, NewJob
from echomq_worker.domain.outcome import Outcome, Verdict
from echomq_worker.domain.replies import Beat, Presence, Reaped, Settled
from echomq_worker.domain.unique import Unique
from echomq_worker.domain.views import (
    Counts,
    JobView,
    KeptResult,
    Moved,
    Order,
    Places,
    Promoted,
    Removed,
    Reprioritized,
    Requeued,
)
from echomq_worker.protocol.keyspace import Keyspace
from echomq_worker.store import Server, ServerOptions
from echomq_worker.testing import InlineBackend, InlineQueue
from tests.support.stores import no_trouble


class LinePort(Protocol):
    """A worker's line."""

    async def claim(self, *, limit: int, lease_ms: int, promote: int) -> Claimed: ...

    async def settle(
        self,
        settlements: Sequence[tuple[Held, Outcome]],
        *,
        limit: int = 0,
        lease_ms: int = 1,
        promote: int = 0,
    ) -> Settled: ...

    async def beat(
        self,
        *,
        limit: int,
        lease_ms: int,
        promote: int,
        reap: int,
        crash_limit: int,
        max_attempts: int,
        worker: Presence | None = None,
    ) -> Beat: ...

    async def aclose(self) -> None: ...


class QueuePort(Protocol):
    """A queue."""

    @property
    def operator(self) -> OperatorStore: ...

    async def enqueue(self, jobs: Sequence[NewJob]) -> list[Admission]: ...
    async def enqueue_unique(self, job: NewJob, unique: Unique) -> tuple[Admission, JobId]: ...
    async def promote(self, limit: int) -> Promoted: ...
    async def reap(self, limit: int, *, crash_limit: int = 0, max_attempts: int = 0) -> Reaped: ...
    async def extend(self, held: Sequence[Held], lease_ms: int) -> list[Verdict]: ...
    async def pause(self, *, reason: str = "", by: str = "") -> None: ...
    async def resume(self) -> None: ...
    async def requeue(self, ids: Sequence[JobId]) -> list[Requeued]: ...
    async def remove(self, job_id: JobId, places: Places) -> Removed: ...
    async def reschedule(self, ids: Sequence[JobId], due: Due) -> list[Moved]: ...
    async def promote_now(self, ids: Sequence[JobId]) -> list[Moved]: ...
    async def reprioritize(self, ids: Sequence[JobId], priority: int) -> list[Reprioritized]: ...
    async def order(self) -> Order: ...
    async def put_order(self, order: Order) -> None: ...
    async def counts(self) -> Counts: ...
    async def inspect(self, job_id: JobId) -> JobView | None: ...
    async def result(self, job_id: JobId) -> KeptResult | None: ...
    async def dead(self, limit: int, *, offset: int = 0) -> list[JobView]: ...
    async def pending_ids(self, limit: int, *, newest_first: bool = False) -> list[JobId]: ...


class Driver(Protocol):
    """One queue, and the time that it goes by."""

    @property
    def queue(self) -> QueuePort:
        """The queue."""
        ...

    def line(self) -> LinePort:
        """Return a line of a worker of its own."""
        ...

    async def now_ms(self) -> int:
        """Return the queue's clock, in Unix milliseconds."""
        ...

    async def pass_time(self, ms: int) -> None:
        """Let `ms` milliseconds go by for every job of the queue."""
        ...

    async def aclose(self) -> None:
        """Close what was opened."""
        ...


@dataclass
class InlineDriver:
    """A queue in memory."""

    backend: InlineBackend = field(default_factory=InlineBackend)

    @property
    def queue(self) -> InlineQueue:
        return self.backend.queue("behaviour")

    def line(self) -> LinePort:
        return self.queue.line()

    async def now_ms(self) -> int:
        return self.backend.clock.now_ms()

    async def pass_time(self, ms: int) -> None:
        self.backend.clock.advance(ms / 1_000)

    async def aclose(self) -> None:
        pass


@dataclass
class ServerDriver:
    """A queue on a real server."""

    server: Server
    client: "Redis"
    name: str
    lines: list[LinePort] = field(default_factory=list[LinePort])

    @property
    def queue(self) -> QueuePort:
        return self.server.queue(self.name)

    def line(self) -> LinePort:
        queue = self.server.queue(self.name)
        self.lines.append(queue.line(trouble=no_trouble, worker_id="w1"))
        return self.lines[-1]

    async def now_ms(self) -> int:
        seconds, micros = await self.client.time()
        return int(seconds) * 1_000 + int(micros) // 1_000

    async def pass_time(self, ms: int) -> None:
        keys = Keyspace(self.name)
        for key in (keys.schedule, keys.active):
            for member in await self._members(key):
                await self.client.zincrby(key, -ms, member)
        for member in await self._members(keys.completed):
            result = keys.done(JobId(member.decode()))
            await self.client.pexpire(result, await self.client.pttl(result) - ms)
        await self._pass_time_for_keys(keys, ms)

    async def _pass_time_for_keys(self, keys: Keyspace, ms: int) -> None:
        held = cast("list[bytes]", await self.client.execute_command("KEYS", f"{keys.root}de:*"))
        for key in held:
            if (left_ms := await self.client.pttl(key)) > 0:
                await self.client.pexpire(key, left_ms - ms)
        for member in await self._members(keys.schedule):
            row = keys.job(JobId(member.decode()))
            if (first := await self.client.hget(row, "first")) is not None:
                await self.client.hset(row, "first", str(int(first) - ms))

    async def _members(self, key: str) -> list[bytes]:
        return cast("list[bytes]", await self.client.zrange(key, 0, -1))

    async def aclose(self) -> None:
        for line in self.lines:
            await line.aclose()
        await self.server.aclose()


@pytest_asyncio.fixture(params=["memory", "server"])
async def driver(
    request: pytest.FixtureRequest, server_url: str, redis_client: "Redis", queue_name: str
) -> AsyncGenerator[Driver]:
    """A queue in memory, and then one on a server."""
    driver: Driver = (
        InlineDriver()
        if request.param == "memory"
        else ServerDriver(Server(ServerOptions(url=server_url)), redis_client, queue_name)
    )
    yield driver
    await driver.aclose()
