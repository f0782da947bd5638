"""A real worker inside a test, on a real server."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from echomq_worker.app import EchoMQ
from echomq_worker.backend import server_options
from echomq_worker.config import load
from echomq_worker.errors import EchoMQError
from echomq_worker.worker import ExitStatus, Stats

if TYPE_CHECKING:
    from echomq_worker.wiring import Wired

NOTHING: Mapping[str, str] = {}


async def run_worker(
    app: EchoMQ,
    redis_url: str,
    *,
    queues: Iterable[str] | None = None,
    settings: Mapping[str, str] = NOTHING,
) -> Stats:
    """Run a worker in this process until there is nothing left to run.

    Delayed jobs and retries that are not due stay where they are.

    Args:
        app: whose jobs to run; made with the same URL: `EchoMQ(redis_url=...)`.
        redis_url: the server, such as what the fixture `echomq_server` gives.
        queues: the names of the queues to serve; None serves those of the app's handlers.
        settings: others, as in the environment: `{"ECHOMQ_CONCURRENCY": "1"}`. The environment
            itself is not read.

    Returns:
        How many jobs completed, were retried, were buried...

    Raises:
        SettingsError: if a setting cannot be used.
        ServerError: if the server refuses or cannot be reached.
        EchoMQError: if the worker fails, because the app's lifespan does, say.
    """
    async with _wired(app, redis_url, queues, settings) as wired:
        return _checked(await wired.run(burst=True)).stats


@asynccontextmanager
async def running_worker(
    app: EchoMQ,
    redis_url: str,
    *,
    queues: Iterable[str] | None = None,
    settings: Mapping[str, str] = NOTHING,
) -> AsyncGenerator[None]:
    """Let a worker run in this process as long as the block lasts. It has started when that begins.

    What still runs at the end of the block is cancelled and handed back. The arguments, and what
    may be raised, are those of `run_worker`.
    """
    ready = asyncio.Event()
    async with _wired(app, redis_url, queues, settings) as wired:
        worker = asyncio.create_task(replace(wired, on_ready=ready.set).run())
        started = asyncio.create_task(ready.wait())
        try:
            await asyncio.wait((worker, started), return_when=asyncio.FIRST_COMPLETED)
            if not worker.done():
                yield
        finally:
            started.cancel()
            if not worker.done():
                worker.cancel()
            with suppress(asyncio.CancelledError):
                _checked(await worker)


@asynccontextmanager
async def _wired(
    app: EchoMQ, redis_url: str, queues: Iterable[str] | None, settings: Mapping[str, str]
) -> AsyncGenerator["Wired"]:
    from echomq_worker.store import Server  # noqa: PLC0415 - it loads redis
    from echomq_worker.wiring import Wired  # noqa: PLC0415 - and so does this

    served = _queues_of(app) if queues is None else queues
    loaded = load(settings, {"redis_url": redis_url, "queues": ",".join(served)}).settings
    async with Server(server_options(loaded)) as server:
        yield Wired(settings=loaded, app=app, server=server)


def _checked(status: ExitStatus) -> ExitStatus:
    if status.code:
        msg = (
            f"the worker has failed: {status.reason} (its process would have ended with exit code "
            f"{status.code}). The log says more"
        )
        raise EchoMQError(msg)
    return status


def _queues_of(app: EchoMQ) -> list[str]:
    return sorted({handler.queue for handler in app.registry.handlers()} | {app.default_queue})
