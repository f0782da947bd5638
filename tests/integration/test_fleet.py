"""What workers tell each other by their presence."""

from redis.asyncio import Redis

from echomq_worker.domain.replies import Presence
from echomq_worker.store import Server
from tests.support.stores import no_trouble


async def test_the_time_zone_data_of_each_living_worker_can_be_asked_for(
    server: Server, redis_client: Redis, queue_name: str
):
    queue = server.queue(queue_name)
    said = {"ann": {"tz": "2026a"}, "bob": {"tz": "2026b"}, "old": {"name": "old"}, "eve": {}}
    for who, fields in said.items():
        line = queue.line(trouble=no_trouble, worker_id=who, watch_ms=1_000)
        await line.beat(
            limit=0, lease_ms=1_000, promote=0, reap=0, crash_limit=1, max_attempts=1,
            worker=Presence(who, {"pid": "1", **fields}),
        )  # fmt: skip
        await line.aclose()
    await redis_client.zadd(queue.keys.workers, {"killed": 1})

    assert await server.fleet.zone_data(queue_name) == {"ann": "2026a", "bob": "2026b"}


async def test_a_presence_that_is_no_hash_hides_nobody_else(
    server: Server, redis_client: Redis, queue_name: str
):
    queue = server.queue(queue_name)
    await redis_client.zadd(queue.keys.workers, {"ann": 1, "odd": 2})
    await redis_client.hset(queue.keys.worker("ann"), "tz", "2026b")
    await redis_client.expire(queue.keys.worker("ann"), 60)
    await redis_client.set(queue.keys.worker("odd"), "text", ex=60)

    assert await server.fleet.zone_data(queue_name) == {"ann": "2026b"}
    await redis_client.delete(queue.keys.worker("odd"))
