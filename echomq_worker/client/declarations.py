"""What an application declares: its handlers, and what wraps and precedes them."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar, Unpack, cast, overload

from echomq_worker.client.client import Client
from echomq_worker.client.job import (
    AsyncJob,
    BatchDecorator,
    BatchJob,
    JobDecorator,
    JobSender,
    SyncJob,
)
from echomq_worker.domain.backoff import BackoffSpec, Duration
from echomq_worker.domain.queue_name import check_queue_name
from echomq_worker.errors import HandlerError
from echomq_worker.handlers import (
    EnqueueMiddleware,
    Lifespan,
    LifespanFunction,
    PeerPayloads,
    Registry,
    RunMiddleware,
    handler_options,
    lifespan_of,
    named_handler,
    no_lifespan,
    raw_handler,
)
from echomq_worker.handlers.batches import Batch
from echomq_worker.handlers.options import ErrorTypes
from echomq_worker.handlers.peers import ArgumentsFrom, NameFrom
from echomq_worker.handlers.standing import PlaceOptions, Wanted

S = TypeVar("S")
F = TypeVar("F", bound=Callable[..., Any])
RunLayer = TypeVar("RunLayer", bound=RunMiddleware)
EnqueueLayer = TypeVar("EnqueueLayer", bound=EnqueueMiddleware)


class RunOptions(PlaceOptions, total=False):
    """How a handler wants its jobs to be treated; what is not given is up to the worker."""

    timeout: Duration | None
    """How long a run may take, such as `"30s"`; 0 means for ever."""
    max_attempts: int | None
    """How often a job may be tried, from 1."""
    backoff: BackoffSpec | None
    """How long to wait between attempts: `exponential()`, `fixed("10s")`, a duration, a list of
    durations, or a function of the number of the failed attempt."""
    bury_on: ErrorTypes
    """Exceptions after which no further attempt is made."""
    uncounted_on: ErrorTypes
    """Exceptions that do not use up an attempt."""
    keep_result: Duration | None
    """How long a result is kept, such as `"1h"`; without it, none is."""


class JobOptions(RunOptions, total=False):
    """The same, with how it takes them."""

    batch: Batch | None
    """Take many jobs at once: `Batch(100, wait="1s")`; see `Batch`."""


class Declarations:
    """The part of an application that workers and producers share.

    Args:
        default_queue: the queue of handlers that name none.
        client: gives the application's client, when a job is enqueued.
    """

    def __init__(self, default_queue: str, client: Callable[[], Client]) -> None:
        self.default_queue = check_queue_name(default_queue)
        self.registry = Registry()
        self.run_layers: list[RunMiddleware] = []
        """What wraps every run, the outermost first."""
        self.enqueue_layers: list[EnqueueMiddleware] = []
        """What wraps everything that is enqueued, the outermost first."""
        self._client_of = client
        self._lifespan: Lifespan[Any] | None = None

    @overload
    def job(
        self, name: str, /, *, queue: str | None = None, batch: Batch, **options: Unpack[RunOptions]
    ) -> BatchDecorator: ...
    @overload
    def job(
        self,
        name: str,
        /,
        *,
        queue: str | None = None,
        batch: None = None,
        **options: Unpack[RunOptions],
    ) -> JobDecorator: ...
    def job(
        self, name: str, /, *, queue: str | None = None, **options: Unpack[JobOptions]
    ) -> JobDecorator | BatchDecorator:
        """Register a function as the handler of all jobs of a name.

        The function, async or plain, stays callable as it was. Its parameters are the arguments
        of its jobs; those annotated `JobContext` or `State[...]` are filled in by the worker, and
        their default `INJECTED` says so to type checkers.

        Args:
            name: what jobs call the handler by, such as `"email.send"`. Jobs outlive code: keep it.
            queue: where its jobs go; the application's default queue if not given.
            **options: `timeout`, `max_attempts`, `backoff`, `bury_on`, `uncounted_on`, `batch`,
                `keep_result`, `priority`, `lane`, `limit`, `key`, `mode`, `release`: `JobOptions`.

        Raises:
            HandlerError: if the name is taken, or the function or name cannot be used.
            InvalidArgumentError: if an option cannot be used.
        """
        if callable(name):
            msg = 'give the handler a name for its jobs, as in @app.job("email.send")'
            raise HandlerError(msg)
        where = self.default_queue if queue is None else check_queue_name(queue)
        treated = handler_options(**options)

        def register(function: Callable[..., Any], /) -> Any:  # noqa: ANN401
            _check_no_job(function)
            handler = named_handler(function, name=name, queue=where, options=treated)
            self.registry.add(handler)
            if treated.batch is not None:
                return BatchJob[Any, Any](handler, self._client_of)
            if handler.is_async:
                return AsyncJob[..., Any](handler, self._client_of)
            return SyncJob[..., Any](handler, self._client_of)

        return cast("JobDecorator", register)

    def raw_handler(self, *, queue: str, **options: Unpack[JobOptions]) -> Callable[[F], F]:
        """Register a function for the jobs of a queue that carry no handler's name, as bytes.

        Such jobs come from other runtimes, or from `enqueue_raw`.

        Args:
            queue: the queue.
            **options: as for `job`.

        Raises:
            HandlerError: if the queue has a raw handler, or the function does not take one `bytes`.
            InvalidArgumentError: if an option cannot be used.
        """
        where, treated = check_queue_name(queue), handler_options(**options)
        if treated.wanted != Wanted():
            msg = (
                f"the raw handler of queue {where}: priority, lane and limit go by a handler's "
                f"name: expected them with @app.job, or given to enqueue_raw"
            )
            raise HandlerError(msg)

        def register(function: F) -> F:
            self.registry.add(raw_handler(function, queue=where, options=treated))
            return function

        return register

    def queue(
        self, name: str, /, *, name_from: NameFrom, arguments_from: ArgumentsFrom | None = None
    ) -> None:
        """Say how to find the handler of a queue's jobs that carry no name.

        With it, a producer in another runtime can call a Python handler:
        `app.queue("orders", name_from="type", arguments_from="data")` reads
        `{"type": "order.paid", "data": {"id": 7}}`.

        Args:
            name: the queue.
            name_from: the field of the JSON payload that names the handler, or a function of the
                payload's bytes that returns the name. Where it finds none (None, or an
                exception), the job is the raw handler's.
            arguments_from: the field that holds the arguments, or a function of the payload's
                bytes that returns them as a JSON object. Left out, they are the other fields next
                to the named one, or, where a function finds the name, the whole payload.

        Raises:
            HandlerError: if that was said before.
            InvalidQueueError: if the queue's name cannot be used.
        """
        self.registry.read_peers(name, PeerPayloads(name_from, arguments_from))

    def lifespan(self, function: LifespanFunction[S]) -> Lifespan[S]:
        """Declare what is opened before handlers run and closed after them.

        Args:
            function: an async generator function that yields the state once. Handlers receive it
                by a parameter annotated `State[...]`.

        Returns:
            A function that makes the context manager: a web application can enter the same one.

        Raises:
            HandlerError: if a lifespan is declared already, or this is none.
        """
        if self._lifespan is not None:
            msg = "the application has a lifespan already: enter both contexts in one"
            raise HandlerError(msg)
        self._lifespan = lifespan_of(function)
        return self._lifespan

    def lifespan_context(self) -> AbstractAsyncContextManager[Any]:
        """Return the context manager of one start and stop; entering it gives the state."""
        return no_lifespan() if self._lifespan is None else self._lifespan()

    def middleware(self, function: RunLayer) -> RunLayer:
        """Wrap every run in `async def function(context, run)`, which awaits `run()`.

        The first one declared is the outermost.
        """
        self.run_layers.append(function)
        return function

    def enqueue_middleware(self, function: EnqueueLayer) -> EnqueueLayer:
        """Wrap everything enqueued in `async def function(jobs, send)`, which awaits `send(jobs)`.

        The first one declared is the outermost.
        """
        self.enqueue_layers.append(function)
        return function


def _check_no_job(function: Callable[..., Any]) -> None:
    if isinstance(function, JobSender):
        made = cast("JobSender[..., Any]", function)
        msg = (
            f"{made.name} is a job already: give it one @app.job, below its @app.cron and "
            f"@app.every"
        )
        raise HandlerError(msg)
