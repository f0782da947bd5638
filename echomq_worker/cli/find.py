"""Finding queues and jobs when nobody says exactly where they are."""

from collections.abc import Iterable, Sequence

from echomq_worker.cli.exit_codes import CommandError, ExitCode
from echomq_worker.cli.words import near_misses
from echomq_worker.domain.job import JobId
from echomq_worker.domain.queue_name import QueueWeight, check_queue_name
from echomq_worker.domain.views import JobView, KeptResult
from echomq_worker.errors import InvalidQueueError
from echomq_worker.store import QueueStore, Server


async def find_queues(
    server: Server, named: Sequence[str], configured: Iterable[QueueWeight]
) -> list[str]:
    """Return the queues to look at: those that are named, else all that there are.

    The whole server is looked through only if none is named, or one of them seems not to be there.

    Args:
        server: where to look.
        named: queues that must exist on the server or in the settings.
        configured: the queues of the settings.

    Raises:
        InvalidQueueError: for a name that cannot be a queue's.
        CommandError: if one of those named does not exist.
    """
    for name in named:
        check_queue_name(name)
    own = {queue.name for queue in configured}
    strangers = [name for name in named if name not in own and not await server.has_queue(name)]
    if named and not strangers:
        return list(dict.fromkeys(named))
    known = sorted({*await _queues_on(server), *own})
    for name in strangers:
        if name not in known:
            msg = f"there is no queue {name!r}.{near_misses(name, known)}"
            raise CommandError(msg, ExitCode.NOT_FOUND)
    return list(dict.fromkeys(named)) or known


async def find_job(
    server: Server, job_id: JobId, queue: str | None, configured: Iterable[QueueWeight]
) -> JobView | tuple[str, KeptResult]:
    """Return a job; or, if it has completed, the name of its queue and its kept result.

    Args:
        server: where to look.
        job_id: the job.
        queue: the only queue to look into; None looks into those of the settings, then into
            all others on the server.
        configured: the queues of the settings.

    Raises:
        CommandError: if no queue knows the job.
    """
    first = [queue] if queue else [each.name for each in configured]
    for name in first:
        if found := await _look(server.queue(name), job_id):
            return found
    if queue:
        await find_queues(server, [queue], configured)
    others = [] if queue else [name for name in await _queues_on(server) if name not in first]
    for name in others:
        if found := await _look(server.queue(name), job_id):
            return found
    looked = ", ".join([*first, *others])
    msg = (
        f"there is no job {job_id} in {looked}: it has completed without keeping a result (or the "
        f"result has expired), it was removed, or it never was"
    )
    raise CommandError(msg, ExitCode.NOT_FOUND)


async def _queues_on(server: Server) -> list[str]:
    return [name for name in await server.queue_names() if _may_be_queue(name)]


def _may_be_queue(name: str) -> bool:
    try:
        check_queue_name(name)
    except InvalidQueueError:
        return False
    return True


async def _look(store: QueueStore, job_id: JobId) -> JobView | tuple[str, KeptResult] | None:
    if (view := await store.inspect(job_id)) is not None:
        return view
    kept = await store.result(job_id)
    return None if kept is None else (store.name, kept)
