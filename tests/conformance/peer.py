"""A stand-in for a worker of another runtime: lanes and flows written as the base wire has them.

Our scripts must keep the rows, lanes and parents of such a peer right. The scripts here are the
test's own reading of the wire; the verbs of the jobs themselves come from our store.
"""

from typing import Any

from redis.asyncio import Redis

from tests.conformance.adapter import Adapter
from tests.conformance.server_verbs import is_branded, refusal
from tests.support.least_rights import unrestricted

LANE_ENQUEUE = """
local B, id, payload, group = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
if redis.call('EXISTS', B .. 'job:' .. id) == 1 then return 0 end
redis.call('HSET', B .. 'job:' .. id, 'state', 'pending', 'attempts', '0',
  'payload', payload, 'group', group)
redis.call('ZADD', B .. 'g:' .. group .. ':pending', 0, id)
local limit = tonumber(redis.call('HGET', B .. 'glimit', group))
local used = tonumber(redis.call('HGET', B .. 'gactive', group)) or 0
if redis.call('SISMEMBER', B .. 'paused', group) == 0 and not (limit and used >= limit)
  and not redis.call('LPOS', B .. 'ring', group) then
  redis.call('RPUSH', B .. 'ring', group)
  redis.call('LPUSH', B .. 'wake', '1')
  redis.call('LTRIM', B .. 'wake', 0, 63)
end
return 1
"""

LANE_LIMIT = """
local B, group, limit = KEYS[1], ARGV[1], tonumber(ARGV[2])
redis.call('HSET', B .. 'glimit', group, limit)
if (tonumber(redis.call('HGET', B .. 'gactive', group)) or 0) >= limit then
  redis.call('LREM', B .. 'ring', 0, group)
elseif redis.call('ZCARD', B .. 'g:' .. group .. ':pending') > 0
  and redis.call('SISMEMBER', B .. 'paused', group) == 0
  and not redis.call('LPOS', B .. 'ring', group) then
  redis.call('RPUSH', B .. 'ring', group)
  redis.call('LPUSH', B .. 'wake', '1')
  redis.call('LTRIM', B .. 'wake', 0, 63)
end
return 1
"""

LANE_CLAIM = """
local B, lease = KEYS[1], tonumber(ARGV[1])
local t = redis.call('TIME')
local group = redis.call('LMOVE', B .. 'ring', B .. 'ring', 'LEFT', 'RIGHT')
if not group then return {} end
local lane = B .. 'g:' .. group .. ':pending'
local id = redis.call('ZPOPMIN', lane)[1]
if not id then redis.call('LREM', B .. 'ring', 0, group) return {} end
local row = B .. 'job:' .. id
local attempts = redis.call('HINCRBY', row, 'attempts', 1)
redis.call('HSET', row, 'state', 'active')
redis.call('ZADD', B .. 'active', t[1] * 1000 + math.floor(t[2] / 1000) + lease, id)
local used = redis.call('HINCRBY', B .. 'gactive', group, 1)
local limit = tonumber(redis.call('HGET', B .. 'glimit', group))
if (limit and used >= limit) or redis.call('ZCARD', lane) == 0 then
  redis.call('LREM', B .. 'ring', 0, group)
end
return { id, redis.call('HGET', row, 'payload'), attempts, group }
"""

HOLD_CHILD = """
local B, id, payload = KEYS[1], ARGV[1], ARGV[2]
local parent, parent_queue, policy = ARGV[3], ARGV[4], ARGV[5]
redis.call('HSET', B .. 'job:' .. id, 'state', 'pending', 'attempts', '0', 'payload', payload,
  'parent', parent, 'parent_policy', policy)
if parent_queue ~= '' then redis.call('HSET', B .. 'job:' .. id, 'parent_queue', parent_queue) end
redis.call('ZADD', B .. 'pending', 0, id)
return 1
"""

DELIVER = """
local B, parent, child, result = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local row = B .. 'job:' .. parent
if redis.call('EXISTS', row) == 0 then return 0 end
if redis.call('HSETNX', row .. ':processed', child, result) == 1
  and redis.call('DECR', row .. ':dependencies') <= 0 then
  redis.call('ZADD', B .. 'pending', 0, parent)
  redis.call('HSET', row, 'state', 'pending')
end
return 1
"""

DELIVER_DEATH = """
local B, parent, child, policy, reason = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local row = B .. 'job:' .. parent
if policy == 'fp' then
  if redis.call('HSETNX', row .. ':failed', child, reason) == 1 then
    redis.call('HSET', row, 'state', 'dead')
    redis.call('ZADD', B .. 'dead', 0, parent)
    redis.call('ZREM', B .. 'pending', parent)
  end
elseif redis.call('HSETNX', row .. ':unsuccessful', child, reason) == 1
  and redis.call('DECR', row .. ':dependencies') <= 0 then
  redis.call('ZADD', B .. 'pending', 0, parent)
  redis.call('HSET', row, 'state', 'pending')
end
return 1
"""


class MixedFleet(Adapter):
    """Our package for the jobs, the stand-in for lanes and flows."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._peer: Redis = Redis.from_url(unrestricted(url), protocol=2, decode_responses=False)

    async def close(self) -> None:
        await super().close()
        await self._peer.aclose()

    async def _eval(self, source: str, queue: str, *args: Any) -> Any:
        return await self._peer.eval(source, 1, f"emq:{{{queue}}}:", *args)

    async def lane_enqueue(self, queue: str, group: str, id: str, payload: str | bytes) -> Any:  # noqa: A002
        if not is_branded(id) or not is_branded(group):
            return refusal("invalid_id")
        if not id.startswith("JOB"):
            return refusal("kind")
        admitted = await self._eval(LANE_ENQUEUE, queue, id, payload, group)
        return "enqueued" if admitted else "duplicate"

    async def lane_claim(self, queue: str, lease_ms: int) -> Any:
        found = await self._eval(LANE_CLAIM, queue, lease_ms)
        if not found:
            return None
        return {"id": found[0], "payload": found[1], "attempts": found[2], "group": found[3]}

    async def lane_limit(self, queue: str, group: str, limit: Any) -> Any:
        if not isinstance(limit, int) or limit < 1:
            return refusal("invalid_argument")
        await self._eval(LANE_LIMIT, queue, group, limit)
        return "ok"

    async def flow_add(self, parent: dict[str, Any], children: list[dict[str, Any]]) -> Any:
        home = parent["queue"]
        base = f"emq:{{{home}}}:job:{parent['id']}"
        row: dict[str, str] = {
            "state": "awaiting_children",
            "attempts": "0",
            "payload": parent["payload"],
        }
        for field, value in row.items():
            await self._peer.hset(base, field, value)
        await self._peer.set(f"{base}:dependencies", str(len(children)))
        for child in children:
            queue = child.get("queue", home)
            policy = "id" if child.get("ignore_dependency_on_failure") else "fp"
            away = "" if queue == home else home
            await self._eval(
                HOLD_CHILD, queue, child["id"], child["payload"], parent["id"], away, policy
            )
        leaves: list[dict[str, Any]] = [{"id": child["id"], "children": []} for child in children]
        return {"id": parent["id"], "children": leaves}

    async def flow_dependencies(self, queue: str, id: str) -> int:  # noqa: A002
        return int(await self._peer.get(f"emq:{{{queue}}}:job:{id}:dependencies") or 0)

    async def flow_children_values(self, queue: str, id: str) -> Any:  # noqa: A002
        return await self._peer.hgetall(f"emq:{{{queue}}}:job:{id}:processed")

    async def flow_ignored_failures(self, queue: str, id: str) -> Any:  # noqa: A002
        return await self._peer.hgetall(f"emq:{{{queue}}}:job:{id}:unsuccessful")

    async def sweep_outbox(self, queue: str, limit: int = 100) -> int:
        outbox = f"emq:{{{queue}}}:flow:outbox"
        entries: list[Any] = await self._peer.lrange(outbox, 0, limit - 1)
        for entry in entries:
            await self._deliver(entry)
            await self._peer.lrem(outbox, 1, entry)
        return len(entries)

    async def _deliver(self, entry: bytes) -> None:
        if entry.startswith(b"\0fail\0"):
            home, parent, child, policy, reason = entry[6:].split(b"\0", 4)
            await self._eval(DELIVER_DEATH, home.decode(), parent, child, policy, reason)
            return
        home, parent, child, result = entry.split(b"\0", 3)
        await self._eval(DELIVER, home.decode(), parent, child, result)

    async def update_progress(self, queue: str, id: str, progress: str) -> str:  # noqa: A002
        await self._peer.hset(f"emq:{{{queue}}}:job:{id}", "progress", progress)
        return "ok"

    async def add_log(self, queue: str, id: str, line: str, keep: int = 0) -> int:  # noqa: A002, ARG002
        return await self._peer.rpush(f"emq:{{{queue}}}:job:{id}:logs", line)
