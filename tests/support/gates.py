"""Gates of a queue, set and looked at by plain commands."""

from collections.abc import Sequence
from dataclasses import replace

from echomq_worker.domain.job import Held, JobId
from echomq_worker.store import QueueStore
from tests.support.jobs import new_job
from tests.support.look import Look

HOUR = "3600000"


async def limit(look: Look, gate: str, rule: str) -> None:
    """Set a rule as the scripts read it."""
    await look.do("HSET", f"{look.keys.root}limits", gate, rule)


async def strike(look: Look, scope: str, until: str = "-") -> None:
    """Stop jobs of a scope."""
    await look.do("HSET", f"{look.keys.root}strikes", scope, f"{until} {{}}")


async def lift(look: Look, scope: str) -> None:
    """As the script that lifts a strike does."""
    await look.do("HDEL", f"{look.keys.root}strikes", scope)
    await look.do("ZADD", f"{look.keys.root}gates", 0, f"strike:{scope}")


async def parked(look: Look, gate: str) -> list[str]:
    """Return the jobs that wait at a gate, in their order."""
    return await look.members(f"{look.keys.root}parked:{gate}")


async def gates(look: Look) -> dict[str, str]:
    """Return when each shut gate opens."""
    flat = await look.do("ZRANGE", f"{look.keys.root}gates", 0, -1, "WITHSCORES")
    return {
        name.decode(): score.decode() for name, score in zip(flat[::2], flat[1::2], strict=True)
    }


async def busy(look: Look) -> dict[str, str]:
    """Return how many jobs are active under each cap."""
    return await look.hash(f"{look.keys.root}busy")


async def put(queue: QueueStore, name: str, *ids: JobId, key: str | None = None) -> None:
    """Enqueue jobs of a handler."""
    await queue.enqueue([replace(new_job(id_, name=name), limit_key=key) for id_ in ids])


def ids(jobs: Sequence[Held]) -> list[JobId]:
    """Return the ids of jobs."""
    return [job.id for job in jobs]


async def never(error: Exception, _tries: int) -> None:
    """Ask no second time."""
    raise error
