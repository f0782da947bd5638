"""What a running job writes down about itself: how far it has come, and lines of a log."""

import asyncio
import json
from collections.abc import Coroutine
from typing import Any, Protocol

from echomq_worker.domain.job import JobId
from echomq_worker.errors import EchoMQError, InvalidArgumentError


class JobNotebook(Protocol):
    """Where a job writes what it tells."""

    async def update_progress(self, job_id: JobId, progress: str) -> bool:
        """Write down how far a job has come; False if there is no such job."""
        ...

    async def add_log(self, job_id: JobId, line: str) -> int | None:
        """Add a line to a job's log; return how many there are."""
        ...


class Notes:
    """The notes of one job.

    Args:
        job_id: whose they are.
        notebook: where they go; None keeps nothing.
    """

    __slots__ = ("_job_id", "_loop", "_notebook")

    def __init__(self, job_id: JobId, notebook: JobNotebook | None) -> None:
        self._job_id = job_id
        self._notebook = notebook
        self._loop = _running_loop()

    async def set_progress(self, progress: object) -> None:
        """Write down how far the job has come. See `JobContext.set_progress`."""
        text = _progress_text(progress)
        if self._notebook is not None:
            await self._notebook.update_progress(self._job_id, text)

    async def add_log(self, line: str) -> None:
        """Add a line to the job's own log. See `JobContext.add_log`."""
        if self._notebook is not None:
            await self._notebook.add_log(self._job_id, line)

    def wait_for(self, writing: Coroutine[Any, Any, None]) -> None:
        """Let the worker's event loop write, and wait for it in this thread.

        Raises:
            EchoMQError: if this thread runs an event loop, which the wait would block, or if the
                worker has stopped.
        """
        if self._loop is not None and self._loop.is_closed():
            writing.close()
            msg = "the worker has stopped while this handler ran in a thread: nothing is written"
            raise EchoMQError(msg)
        if self._loop is None or _running_loop() is not None:
            writing.close()
            msg = (
                "context.sync waits for the worker's event loop, which would wait for itself here: "
                "expected it in a handler that runs in a thread. Await context.set_progress(...) "
                "or context.add_log(...) instead"
            )
            raise EchoMQError(msg)
        asyncio.run_coroutine_threadsafe(writing, self._loop).result()


class SyncNotes:
    """The notes of one job, for a handler that runs in a thread. Reached as `context.sync`.

    Its methods return when the server has answered. They raise `EchoMQError` where an event loop
    runs, which they would block.
    """

    __slots__ = ("_notes",)

    def __init__(self, notes: Notes) -> None:
        self._notes = notes

    def set_progress(self, progress: object) -> None:
        """Tell how far the job has come. See `JobContext.set_progress`."""
        self._notes.wait_for(self._notes.set_progress(progress))

    def add_log(self, line: str) -> None:
        """Add a line to the job's own log. See `JobContext.add_log`."""
        self._notes.wait_for(self._notes.add_log(line))


def _progress_text(progress: object) -> str:
    if isinstance(progress, str):
        return progress
    try:
        return json.dumps(progress, allow_nan=False)
    except (TypeError, ValueError) as error:
        msg = f"the progress is {progress!a:.80}: expected what JSON can carry, such as 0.5"
        raise InvalidArgumentError(msg) from error


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
