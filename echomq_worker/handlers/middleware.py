"""Code of the application that wraps every run, or everything that is enqueued."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from echomq_worker.domain.job import Admission, JobId, NewJob
from echomq_worker.handlers.context import JobContext

Next = Callable[[], Awaitable[object]]
"""Runs the rest, down to the handler, and gives back what it returned."""

RunMiddleware = Callable[[JobContext, Next], Awaitable[object]]
"""Wraps a run: `async def middleware(context, run)`, which awaits `run()` once, or not at all.

What it returns is the job's result; what it raises, the job's failure.
"""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A job on its way to a queue."""

    queue: str
    job: NewJob


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of an outgoing job."""

    queue: str
    id: JobId
    """The id it has: not the one it set out with, if that one was taken."""
    admission: Admission


Send = Callable[[Sequence[Outgoing]], Awaitable[Sequence[Sent]]]
"""Sends jobs; gives back what became of each, in order."""

EnqueueMiddleware = Callable[[Sequence[Outgoing], Send], Awaitable[Sequence[Sent]]]
"""Wraps what is enqueued: `async def middleware(jobs, send)`, which returns one `Sent` for each.

It gets all jobs of one call at once, may send changed copies (`dataclasses.replace`), and may
raise instead: then nothing is sent.
"""


def around_run(middleware: Sequence[RunMiddleware], context: JobContext, run: Next) -> Next:
    """Wrap `run` in the middleware; the first one listed is the outermost."""
    for layer in reversed(middleware):
        run = partial(layer, context, run)
    return run


def around_send(middleware: Sequence[EnqueueMiddleware], send: Send) -> Send:
    """Wrap `send` in the middleware; the first one listed is the outermost."""
    for layer in reversed(middleware):
        send = _layered(layer, send)
    return send


def _layered(layer: EnqueueMiddleware, send: Send) -> Send:
    async def layered(jobs: Sequence[Outgoing]) -> Sequence[Sent]:
        return await layer(jobs, send)

    return layered
