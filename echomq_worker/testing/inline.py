"""Lets an application's jobs run inside a test, without a server."""

from collections.abc import AsyncGenerator, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, TypedDict, Unpack

from echomq_worker.app import EchoMQ
from echomq_worker.client.portal import Portal
from echomq_worker.domain.backoff import Dice
from echomq_worker.domain.scheduling.firing import zone_data_of
from echomq_worker.testing.backend import InlineBackend
from echomq_worker.testing.bench import Bench
from echomq_worker.testing.kit import Kit
from echomq_worker.testing.sync import SyncKit
from echomq_worker.testing.waiting import WaitingClock
from echomq_worker.worker import WorkerOptions
from echomq_worker.zones import zone_data_version


def longest(_low: float, high: float) -> float:
    """Roll the highest number: with it, a wait with jitter is as long as it can be."""
    return high


class KitOptions(TypedDict, total=False):
    """How a kit is set up."""

    state: object
    """What handlers receive as `State[...]`, in place of what the application's lifespan yields;
    the lifespan is then not entered."""
    concurrency: int
    """How many jobs may run at once. By default 1: then they run in a predictable order."""
    dice: Dice
    """Draws the random part of backoffs, `random.uniform` in a worker. By default `longest`, so
    that a test knows when a retry is due."""
    backend: InlineBackend
    """Memory that exists already, with its jobs and its clock."""
    schedulers: bool
    """False leaves out what `@app.cron` and `@app.every` declare. By default they are put in place,
    as by a worker that starts, and fire when the clock is moved."""
    options: WorkerOptions
    """What holds where a handler says nothing, such as `WorkerOptions(max_attempts=3)`. By default
    that of a worker without settings; the environment is not read."""


@asynccontextmanager
async def inline(app: EchoMQ, **kit_options: Unpack[KitOptions]) -> AsyncGenerator[Kit]:
    """Let memory stand in for the server inside a block, and run jobs when the test says so.

    The jobs run through the parts of a real worker: retries, time limits, middleware, lifespan,
    `JobContext` and the rest are the real ones. The clock stands still until the test moves it.

    Example:
        async with testing.inline(app) as kit:
            await sign_up("a@b.c")
            kit.assert_enqueued(send_welcome, to="a@b.c")
            report = await kit.run_until_idle()
        report.raise_errors()

    Args:
        app: the application; it is afterwards as it was before.
        **kit_options: `state`, `concurrency`, `dice`, `backend`, `schedulers`, `options`; see
            `KitOptions`.

    Yields:
        The kit: it runs the jobs, moves the clock, and looks at what was enqueued.

    Raises:
        HandlerError: if a handler asks for another state than there is.
    """
    backend = kit_options.get("backend") or InlineBackend()
    options = replace(
        kit_options.get("options") or WorkerOptions(),
        concurrency=kit_options.get("concurrency", 1),
    )
    dice = kit_options.get("dice", longest)
    bench = Bench(backend, app.registry, app.run_layers, options, dice)
    kit = Kit(backend, app.registry, bench)
    clock = WaitingClock(backend.clock, bench, kit.run_until_idle)
    if kit_options.get("schedulers", True):
        await _put_schedulers(app, backend)
    with app.stand_in(backend, clock):
        async with bench.open(_lifespan(app, kit_options)):
            yield kit


@contextmanager
def inline_sync(app: EchoMQ, **kit_options: Unpack[KitOptions]) -> Generator[SyncKit]:
    """Do the same for a test that is not async.

    The jobs, and the application's lifespan, run in an event loop in a thread of its own.

    Example:
        with testing.inline_sync(app) as kit:
            app.sync.enqueue(send, to="a@b.c")
            kit.run_until_idle().raise_errors()

    Args:
        app: the application; it is afterwards as it was before.
        **kit_options: `state`, `concurrency`, `dice`, `backend`, `schedulers`, `options`; see
            `KitOptions`.

    Yields:
        The kit.

    Raises:
        EchoMQError: if an event loop runs here: there, use `inline`.
        HandlerError: if a handler asks for another state than there is.
    """
    portal = Portal()
    block = inline(app, **kit_options)
    try:
        kit = portal.call(block.__aenter__)
        try:
            yield SyncKit(kit, portal)
        finally:
            portal.call(partial(block.__aexit__, None, None, None))
    finally:
        portal.close()


async def _put_schedulers(app: EchoMQ, backend: InlineBackend) -> None:
    for declared in app.scheduled:
        store = backend.queue(declared.queue).schedulers
        tz = zone_data_of(declared.spec, zone_data_version())
        await store.put(declared.spec, force=False, source="code", tz=tz)


def _lifespan(app: EchoMQ, options: KitOptions) -> AbstractAsyncContextManager[Any]:
    return nullcontext(options["state"]) if "state" in options else app.lifespan_context()
