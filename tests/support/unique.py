"""Jobs that are enqueued under a key, and who waits for the holder of one."""

from dataclasses import replace

from echomq_worker.domain.job import Admission, JobId, NewJob
from echomq_worker.domain.unique import Conflict, Mode, Unique
from echomq_worker.store import QueueStore
from tests.support.jobs import new_job
from tests.support.look import Look

REJECT = Conflict(Mode.REJECT)
REPLACE = Conflict(Mode.REPLACE)
KEEP = Conflict(Mode.KEEP_LATEST)
HELD = Admission.HELD
KEY = "order-42"


async def send(
    queue: QueueStore, job: JobId | NewJob, conflict: Conflict = REJECT, key: str = KEY
) -> tuple[Admission, JobId]:
    """Enqueue a job under a key."""
    found = job if isinstance(job, NewJob) else new_job(job)
    unique = Unique(key, conflict)
    return await queue.enqueue_unique(replace(found, unique=unique), unique)


async def later(look: Look, key: str = KEY) -> list[str]:
    """Return who waits for the holder of a key to end."""
    return [each.decode() for each in await look.do("ZRANGE", parked(look, key), 0, -1)]


async def now_ms(look: Look) -> int:
    return await look.now_us() // 1_000


def parked(look: Look, key: str = KEY) -> str:
    return f"{look.keys.root}parked:unique:{key}"
