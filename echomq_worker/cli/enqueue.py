"""Sending one job from the command line, and waiting for its end if somebody wants to know it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from echomq_worker.app import EchoMQ
from echomq_worker.backend import wired_to
from echomq_worker.client import JobHandle, TimedOptions
from echomq_worker.client.unbound import call_by_name
from echomq_worker.config import Settings
from echomq_worker.domain.job import JobId
from echomq_worker.errors import (
    HandlerError,
    InvalidArgumentError,
    JobFailedError,
    ResultTimeoutError,
    ResultUnavailableError,
)
from echomq_worker.handlers.handler import check_handler_name

COMPLETED, DIED, UNFINISHED, UNKNOWN = "completed", "dead", "unfinished", "unknown"
KEPT_AFTER_WAIT_MS = 60_000
"""A result that somebody waits for is kept for so long beyond the wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A job that was enqueued, and its end if that was waited for."""

    id: JobId
    queue: str
    created: bool
    """False if a job with the id existed before."""
    outcome: str | None = None
    """`completed`, `dead`, `unfinished` or `unknown`; None if nobody waited."""
    result: Any = None
    error: str | None = None


async def send(
    settings: Settings,
    name: str,
    arguments: Mapping[str, Any],
    options: TimedOptions,
    wait_ms: int | None,
) -> Sent:
    """Enqueue a job, and wait for its end if asked to.

    Args:
        settings: where to.
        name: the handler's name.
        arguments: by parameter name.
        options: what was decided about the job.
        wait_ms: how long to wait for its end, in ms; None does not wait.

    Raises:
        InvalidArgumentError: if an argument or an option cannot be used.
        ServerError: if the server refuses, or does not answer.
    """
    if wait_ms is not None and options.get("keep_result") is None:
        options["keep_result"] = (wait_ms + KEPT_AFTER_WAIT_MS) / 1_000
    app = EchoMQ()
    app.use(wired_to(settings))
    # Made first: what is wrong with it is told even where no server answers.
    call = call_by_name(app.registry, app.default_queue, _checked(name), arguments, options)
    async with app:
        (handle,) = await app.client.send([call])
        if wait_ms is None:
            return Sent(id=handle.id, queue=handle.queue, created=handle.created)
        return await _end_of(handle, wait_ms)


def _checked(name: str) -> str:
    """Return the name of a handler; raise `InvalidArgumentError` if it cannot be one."""
    try:
        return check_handler_name(name)
    except HandlerError as error:
        raise InvalidArgumentError(str(error)) from None


async def _end_of(handle: JobHandle[Any], wait_ms: int) -> Sent:
    outcome, result, error = COMPLETED, None, None
    try:
        result = await handle.result(wait_ms / 1_000)
    except JobFailedError as failure:
        outcome, error = DIED, f"{failure.error_type}: {failure.error_message}".strip(": ")
    except ResultTimeoutError as failure:
        outcome, error = UNFINISHED, str(failure)
    except ResultUnavailableError as failure:
        outcome, error = UNKNOWN, str(failure)
    return Sent(
        id=handle.id,
        queue=handle.queue,
        created=handle.created,
        outcome=outcome,
        result=result,
        error=error,
    )
