"""Lets an application's jobs run inside a test, without a server."""

from collections.abc import AsyncGenerator, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

from echomq_worker.app import EchoMQ
from echomq_worker.client.portal import Portal
from echomq_worker.domain.backoff import Dice
from echomq_worker.testing.backend import InlineBackend
from echomq_worker.testing.bench import Bench
from echomq_worker.testing.kit import Kit
from echomq_worker.testing.sync import SyncKit
from echomq_worker.testing.waiting import WaitingClock
from echomq_worker.worker import WorkerOptions


class _FromLifespan:
    def __repr__(self) -> str:
        return "FROM_LIFESPAN"


FROM_LIFESPAN = _FromLifespan()


def longest(_low: float, high: float) -> float:
    """Roll the highest number: with it, a wait with jitter is as long as it can be."""
    return high


@asynccontextmanager
async def inline(  # noqa: PLR0913 - a keyword for each
    app: EchoMQ,
    *,
    state: object = FROM_LIFESPAN,
    concurrency: int = 1,
    dice: Dice = longest,
    backend: InlineBackend | None = None,
    options: WorkerOptions | None = None,
) -> AsyncGenerator[Kit]:
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
        app: the application; as it was again afterwards.
        state: what handlers receive as `State[...]`, in place of what the lifespan yields; the
            lifespan is then not entered.
        concurrency: how many jobs may run at once. One at a time run in a predictable order.
        dice: draws the random part of backoffs, `random.uniform` in a worker. By default it rolls
            the longest wait, so that a test knows when a retry is due.
        backend: memory that exists already, with its jobs and its clock.
        options: what holds where a handler says nothing, such as
            `WorkerOptions(max_attempts=3)`. By default that of a worker without settings; the
            environment is not read.

    Yields:
        The kit: it runs the jobs, moves the clock, and looks at what was enqueued.

    Raises:
        HandlerError: if a handler asks for another state than there is.
    """
    backend = InlineBackend() if backend is None else backend
    options = replace(options or WorkerOptions(), concurrency=concurrency)
    bench = Bench(backend, app.registry, app.run_layers, options, dice)
    kit = Kit(backend, app.registry, bench)
    clock = WaitingClock(backend.clock, bench, kit.run_until_idle)
    with app.stand_in(backend, clock):
        async with bench.open(_lifespan(app, state)):
            yield kit


@contextmanager
def inline_sync(  # noqa: PLR0913 - as for inline
    app: EchoMQ,
    *,
    state: object = FROM_LIFESPAN,
    concurrency: int = 1,
    dice: Dice = longest,
    backend: InlineBackend | None = None,
    options: WorkerOptions | None = None,
) -> Generator[SyncKit]:
    """Do the same for a test that is not async. Its arguments are those of `inline`.

    The jobs, and the application's lifespan, run in an event loop in a thread of its own.

    Example:
        with testing.inline_sync(app) as kit:
            app.sync.enqueue(send, to="a@b.c")
            kit.run_until_idle().raise_errors()

    Raises:
        EchoMQError: if an event loop runs here: there, use `inline`.
        HandlerError: if a handler asks for another state than there is.
    """
    portal = Portal()
    block = partial(
        inline,
        app,
        state=state,
        concurrency=concurrency,
        dice=dice,
        backend=backend,
        options=options,
    )()
    try:
        kit = portal.call(block.__aenter__)
        try:
            yield SyncKit(kit, portal)
        finally:
            portal.call(partial(block.__aexit__, None, None, None))
    finally:
        portal.close()


def _lifespan(app: EchoMQ, state: object) -> AbstractAsyncContextManager[Any]:
    return app.lifespan_context() if state is FROM_LIFESPAN else nullcontext(state)
