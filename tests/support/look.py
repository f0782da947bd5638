"""Looks at the keys of a queue by plain commands, past all code that is tested."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

from redis.asyncio import Redis

from echomq_worker.protocol.keyspace import Keyspace
from tests.support.least_rights import unrestricted

READS: Mapping[str, tuple[str, ...]] = {
    "string": ("GET",),
    "list": ("LRANGE", "0", "-1"),
    "set": ("SMEMBERS",),
    "zset": ("ZRANGE", "0", "-1", "WITHSCORES"),
    "hash": ("HGETALL",),
    "stream": ("XRANGE", "-", "+"),
}
LOOK = "look"
"""The name of a look's connection."""
PASSING = ("claim", "unknown")
"""Fields of a row that differ from one run of the same history to the next."""
PLACES = ("pending", "active", "schedule", "dead")


@dataclass(frozen=True, slots=True)
class Look:
    """One queue as it lies on the server. Made by `looking_at`."""

    client: Redis
    keys: Keyspace

    async def do(self, *command: str | bytes | float) -> Any:
        """Send a command as it is."""
        return cast("Any", await self.client.execute_command(*command))

    async def places(self) -> dict[str, list[str]]:
        """Return what is in `pending`, `active`, `schedule` and `dead`; empty ones are left out."""
        found = {place: await self.members(self.keys.root + place) for place in PLACES}
        return {place: members for place, members in found.items() if members}

    async def members(self, key: str) -> list[str]:
        """Return the members of a sorted set, lowest score first."""
        return [text(member) for member in await self.do("ZRANGE", key, 0, -1)]

    async def scores(self, key: str) -> dict[str, int]:
        """Return the members of a sorted set and their scores."""
        flat = pairs(await self.do("ZRANGE", key, 0, -1, "WITHSCORES"))
        return {member: int(float(score)) for member, score in flat.items()}

    async def row(self, job_id: str) -> dict[str, str]:
        """Return the row of a job; empty if there is none."""
        return await self.hash(self.keys.job(job_id))

    async def hash(self, key: str) -> dict[str, str]:
        """Return a hash; empty if there is none."""
        return pairs(await self.do("HGETALL", key))

    async def bells(self) -> int:
        """Return how many wake tokens lie in `bell`."""
        return await self.do("LLEN", self.keys.bell)

    async def quarantine(self) -> list[dict[str, str]]:
        """Return what has been set aside, the oldest first."""
        return [
            pairs(fields) for _, fields in await self.do("XRANGE", self.keys.quarantine, "-", "+")
        ]

    async def now_us(self) -> int:
        """Return the server's clock in microseconds."""
        seconds, micros = await self.do("TIME")
        return int(seconds) * 1_000_000 + int(micros)

    async def key_names(self) -> list[str]:
        """Return every key of the queue."""
        names: list[bytes] = await self.do("KEYS", f"{self.keys.root}*")
        return sorted(text(name) for name in names)

    async def dumps(self) -> dict[str, bytes]:
        """Return every key of the queue and its serialized value: equal if nothing changed."""
        return {key: await self.do("DUMP", key) for key in await self.key_names()}

    async def everything(self) -> dict[str, Any]:
        """Return every key of the queue, without its root, and its value."""
        found: dict[str, Any] = {}
        for key in await self.key_names():
            found[key.removeprefix(self.keys.root)] = await self._value(key)
        return found

    async def state(self) -> dict[str, object]:
        """Return all but receipts, claim ids, marks and times: equal for the same history."""
        state: dict[str, object] = dict(await self.places())
        for key, value in (await self.everything()).items():
            if key.startswith("job:"):
                state[key] = {name: said for name, said in value.items() if name not in PASSING}
            elif key == "meta":
                state[key] = sorted(value)
            elif not key.startswith(("call:", "pump", "schedule", "active", "dead:at")):
                state[key] = list(value) if key == "completed" or key[:5] == "done:" else value
        return state

    async def expire_lease(self, *ids: str) -> None:
        """Let the leases of jobs have run out long ago."""
        for number, job_id in enumerate(ids, 1):
            await self.do("ZADD", self.keys.active, "XX", number, job_id)

    async def make_due(self, *ids: str) -> None:
        """Let scheduled jobs be due for long, the first the earliest."""
        for number, job_id in enumerate(ids, 1):
            await self.do("ZADD", self.keys.schedule, "XX", number, job_id)

    async def _value(self, key: str) -> Any:
        kind = text(await self.do("TYPE", key))
        command, *rest = READS[kind]
        value = await self.do(command, key, *rest)
        if kind in {"hash", "zset"}:
            return pairs(value)
        if isinstance(value, bytes):
            return text(value)
        return [text(item) if isinstance(item, bytes) else item for item in value]


@asynccontextmanager
async def looking_at(url: str, queue: str) -> AsyncGenerator[Look]:
    """Look at a queue on a server, by a connection that takes replies as they are sent."""
    client = Redis.from_url(unrestricted(url), protocol=2, socket_timeout=None, client_name=LOOK)
    client.response_callbacks.clear()
    try:
        yield Look(client, Keyspace(queue))
    finally:
        await client.aclose()


def text(value: Any) -> str:
    """Decode what the server said."""
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def pairs(flat: Sequence[Any]) -> dict[str, str]:
    """Read names and values that follow each other."""
    return {text(flat[i]): text(flat[i + 1]) for i in range(0, len(flat), 2)}
