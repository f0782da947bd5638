"""Workers of another runtime on the same queue: a stand-in, and what tests ask about its jobs."""

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from echomq_worker.domain.job import Held, JobId
from tests.conformance.peer import MixedFleet
from tests.support.jobs import LEASE_MS, job_id
from tests.support.look import Look

LANE = "LAN00000000001"
OTHER_LANE = "LAN00000000002"
PARENT = job_id(50)


@pytest_asyncio.fixture
async def peer(server_url: str) -> AsyncGenerator[MixedFleet]:
    """A worker of another runtime."""
    peer = MixedFleet(server_url)
    yield peer
    await peer.close()


class Lanes:
    """What a test asks about lanes."""

    def __init__(self, look: Look, peer: MixedFleet, queue: str) -> None:
        self._look = look
        self._peer = peer
        self._queue = queue

    async def enqueue(self, *ids: JobId, lane: str = LANE) -> None:
        for id_ in ids:
            assert await self._peer.lane_enqueue(self._queue, lane, id_, id_) == "enqueued"

    async def claim(self) -> Held:
        """Let the peer claim from the next lane; return what it holds."""
        job = await self._peer.lane_claim(self._queue, LEASE_MS)
        id_ = JobId(job["id"].decode())
        return Held(queue=self._queue, id=id_, payload=b"", token=job["attempts"], claim="")

    async def limit(self, most: int, lane: str = LANE) -> None:
        await self._peer.lane_limit(self._queue, lane, most)

    async def waiting(self, lane: str = LANE) -> list[str]:
        return await self._look.members(self._look.keys.lane(lane))

    async def ring(self) -> list[str]:
        return [
            lane.decode() for lane in await self._look.do("LRANGE", self._look.keys.ring, 0, -1)
        ]

    async def active(self) -> dict[str, str]:
        return await self._look.hash(self._look.keys.lane_actives)

    async def wakes(self) -> int:
        return await self._look.do("LLEN", self._look.keys.wake)


@pytest.fixture
def lanes(look: Look, peer: MixedFleet, queue_name: str) -> Lanes:
    return Lanes(look, peer, queue_name)


class Flows:
    """What a test asks about `PARENT` and its children."""

    def __init__(self, look: Look, peer: MixedFleet, queue: str) -> None:
        self._look = look
        self._peer = peer
        self._queue = queue

    async def add(self, *children: JobId, ignore: bool = False, home: str | None = None) -> None:
        """Let PARENT, in the queue `home`, wait for children in the test's own queue."""
        parent = {"queue": home or self._queue, "id": PARENT, "payload": "parent"}
        options = {"queue": self._queue, "payload": "x", "ignore_dependency_on_failure": ignore}
        await self._peer.flow_add(parent, [options | {"id": child} for child in children])

    async def left(self) -> int:
        return await self._peer.flow_dependencies(self._queue, PARENT)

    async def part(self, name: str) -> dict[str, str]:
        return await self._look.hash(self._look.keys.job_part(PARENT, name))

    async def state(self) -> str | None:
        return (await self._look.row(PARENT)).get("state")

    async def outbox(self) -> list[bytes]:
        return await self._look.do("LRANGE", self._look.keys.outbox, 0, -1)


@pytest.fixture
def flows(look: Look, peer: MixedFleet, queue_name: str) -> Flows:
    return Flows(look, peer, queue_name)
