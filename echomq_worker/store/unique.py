"""Enqueues one job under a key of uniqueness."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from echomq_worker.domain.ids import parse_id
from echomq_worker.domain.job import Admission, After, At, JobId, NewJob
from echomq_worker.domain.unique import Unique
from echomq_worker.protocol.rows import row_operands
from echomq_worker.protocol.scripts import Operand
from echomq_worker.store.calls import random_name
from echomq_worker.store.options import ServerOptions
from echomq_worker.store.patience import ask_until
from echomq_worker.store.wire import Reply

_ADMISSIONS = {
    b"0": Admission.DUPLICATE,
    b"1": Admission.ENQUEUED,
    b"2": Admission.SCHEDULED,
    b"h": Admission.HELD,
    b"r": Admission.REPLACED,
    b"p": Admission.POSTPONED,
    b"k": Admission.KEPT,
    b"f": Admission.FULL,
}

Once = Callable[[str, Mapping[str, Operand], Sequence[Operand]], Awaitable[Reply]]
"""Runs a script of the queue that takes receipts."""


def patient(run: Once, prepare: Callable[[], Awaitable[None]], options: ServerOptions) -> Once:
    """Return what runs a script under a caller of its own, until it is answered.

    Args:
        run: runs a script of the queue, once.
        prepare: awaited before: the script may be the first thing that is done to the queue.
        options: say how long to ask again, and how long the queue's log is.
    """

    async def once(name: str, args: Mapping[str, Operand], rest: Sequence[Operand]) -> Reply:
        call = {"caller": random_name(), "call_number": 1, "log_size": options.log_size}

        async def ask(again: str) -> Reply:
            await prepare()
            return await run(name, {**args, **call, "again": again}, rest)

        return await ask_until(ask, options.give_up_ms)

    return once


async def enqueue_unique(once: Once, job: NewJob, unique: Unique) -> tuple[Admission, JobId]:
    """Enqueue a job unless its key is held; return what became of it, and whose job that is.

    Args:
        once: runs the script.
        job: the job.
        unique: its key, and what becomes of it if that is held.

    Raises:
        InvalidArgumentError: if the wire cannot carry a part of the job.
        ServerError: if the server refuses or is silent; asking again is safe.
    """
    parse_id(job.id)
    conflict = unique.conflict
    match job.due:
        case After(delay_ms):
            due: tuple[str, int] = ("in", delay_ms)
        case At(unix_ms):
            due = ("at", unix_ms)
        case None:
            due = ("", 0)
    args: dict[str, Operand] = {
        "dedup": unique.key,
        "mode": conflict.mode.value,
        "wait": conflict.wait_ms,
        "most": conflict.most_ms,
        "release": conflict.release.value,
        "ttl": conflict.ttl_ms,
        "due_mode": due[0],
        "due_ms": due[1],
        "id": job.id,
        "payload": job.payload,
    }
    verdict, winner = await once("enqueue_unique", args, row_operands(job))
    return _ADMISSIONS[verdict], JobId(winner.decode())
