"""A registered function that can be called, and enqueued with checked arguments."""

from collections.abc import Callable, Coroutine
from datetime import datetime
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, Unpack, overload

from echomq_worker.client.call import Call, CallOptions, SendOptions, placed, send_options
from echomq_worker.client.client import Client
from echomq_worker.client.handle import JobHandle
from echomq_worker.domain.backoff import Duration
from echomq_worker.domain.ids import parse_id
from echomq_worker.domain.job import JobId
from echomq_worker.handlers import Handler

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
A = TypeVar("A")


class JobSender(Generic[P, R]):
    """Enqueues the jobs of one handler. Made by `@app.job(...)` and by `job.options(...)`."""

    def __init__(
        self, handler: Handler, client: Callable[[], Client], options: SendOptions
    ) -> None:
        self.handler = handler
        self._client = client
        self._options = options

    @property
    def name(self) -> str:
        """What jobs call the handler by."""
        return self.handler.label

    @property
    def queue(self) -> str:
        """The queue that jobs are sent to."""
        return self._options.queue or self.handler.queue

    def options(self, **decided: Unpack[CallOptions]) -> "JobSender[P, R]":
        """Return a sender with other options; what is not given stays as it is.

        Options stand apart from arguments: `send.options(queue="bulk").enqueue(to="a@b.c")`.

        Args:
            **decided: `queue` to send to; `job_id`, an id chosen by the caller, with which no
                second job is admitted; `max_attempts`; `keep_result`, how long a result is kept;
                `timeout` of a run; `backoff` between attempts; `expires`, until when it is to be
                started; `priority` or `lane`, where it waits. See `CallOptions`.

        Raises:
            InvalidArgumentError: if a value cannot be used.
            HandlerError: if JSON cannot carry the result that is to be kept.
        """
        given = send_options(**decided)
        if given.keep_result_ms:
            self.handler.results.check()
        return JobSender(self.handler, self._client, self._options.merged(given))

    def call(self, /, *args: P.args, **kwargs: P.kwargs) -> Call[R]:
        """Check arguments; return the call, to be sent by `app.enqueue_many`.

        Raises:
            ArgumentsError: if the arguments do not fit the handler.
        """
        return Call(
            queue=self.queue,
            name=self.handler.name,
            payload=self.handler.encode_arguments(args, kwargs),
            results=self.handler.results,
            options=placed(self.handler, self._options, args, kwargs),
            limit_key=self.handler.options.wanted.limit_key_for(self.name, args, kwargs),
            unique=self._options.unique
            or self.handler.options.wanted.unique_for(self.name, args, kwargs),
        )

    async def enqueue(self, /, *args: P.args, **kwargs: P.kwargs) -> JobHandle[R]:
        """Enqueue a call, to run as soon as a worker is free.

        Raises:
            ArgumentsError: if the arguments do not fit the handler. Nothing was sent.
            PayloadTooLargeError: if they are larger than `ECHOMQ_MAX_PAYLOAD`. Nothing was sent.
            ServerError: if the server refuses, or does not answer (`UnavailableError`).
        """
        return await self._send(self.call(*args, **kwargs))

    async def enqueue_in(
        self, delay: Duration, /, *args: P.args, **kwargs: P.kwargs
    ) -> JobHandle[R]:
        """Enqueue a call, to run after a delay such as `"10m"`, 90 (seconds) or a timedelta.

        Raises:
            InvalidArgumentError: if the delay is no duration, negative, NaN, or over 100 years.
            EchoMQError: as `enqueue`.
        """
        return await self._send(self.call(*args, **kwargs).after(delay))

    async def enqueue_at(
        self, when: datetime, /, *args: P.args, **kwargs: P.kwargs
    ) -> JobHandle[R]:
        """Enqueue a call, to run at an instant: a datetime with a time zone.

        Raises:
            InvalidArgumentError: if `when` does not say its time zone, or is over 100 years away.
            EchoMQError: as `enqueue`.
        """
        return await self._send(self.call(*args, **kwargs).at(when))

    async def update(self, job_id: str, /, *args: P.args, **kwargs: P.kwargs) -> bool:
        """Give a job that was enqueued before other arguments.

        A run that has begun goes on with the old ones; its next attempt has the new ones. Where the
        job waits does not change, nor what limits by key count it under.

        Returns:
            False if there is no such job (any more).

        Raises:
            ArgumentsError: if the arguments do not fit the handler. Nothing was sent.
            InvalidIdError: if that is no id.
            PayloadTooLargeError: if they are larger than `ECHOMQ_MAX_PAYLOAD`. Nothing was sent.
            ServerError: if the server refuses, or does not answer (`UnavailableError`).
        """
        payload = self.handler.encode_arguments(args, kwargs)
        client = self._client()
        client.check_payload(self.name, payload)
        queue = (await client.backends.backend()).queue(self.queue)
        return await queue.operator.update_data(JobId(parse_id(job_id).text), payload)

    def handle(self, job_id: str) -> JobHandle[R]:
        """Return a handle on a job that was enqueued before. Raises `InvalidIdError`."""
        return self._client().handle(JobId(parse_id(job_id).text), self.queue, self.handler.results)

    async def _send(self, call: Call[R]) -> JobHandle[R]:
        (handle,) = await self._client().send([call])
        return handle

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name} in queue {self.queue}>"


class Job(JobSender[P, R]):
    """A registered function. Calling it calls the function, here and now."""

    def __init__(self, handler: Handler, client: Callable[[], Client]) -> None:
        super().__init__(handler, client, SendOptions())
        update_wrapper(self, handler.function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - told by the subclasses
        """Call the function itself."""
        return self.handler.function(*args, **kwargs)


class AsyncJob(Job[P, R]):
    """A registered async function."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, R]:
        """Call the function itself; nothing is enqueued."""
        return self.handler.function(*args, **kwargs)


class SyncJob(Job[P, R]):
    """A registered plain function, which a worker runs in a thread."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function itself; nothing is enqueued."""
        return self.handler.function(*args, **kwargs)


class BatchJob(Job[[T], Any], Generic[T, A]):
    """A registered function that takes many jobs at once; each is enqueued with one item."""

    def __call__(self, items: list[T], /, *args: Any, **kwargs: Any) -> A:  # noqa: ANN401
        """Call the function itself; nothing is enqueued."""
        return self.handler.function(items, *args, **kwargs)


class BatchDecorator(Protocol):
    """Registers a function that takes a list, and returns its `BatchJob`."""

    def __call__(self, function: Callable[[list[T]], A], /) -> BatchJob[T, A]:
        """Register the function."""
        ...


class JobDecorator(Protocol):
    """Registers a function and returns its `Job`."""

    # A plain function may return a coroutine too; it is taken for an async one.
    @overload
    def __call__(  # pyright: ignore[reportOverlappingOverload]
        self, function: Callable[P, Coroutine[Any, Any, R]], /
    ) -> AsyncJob[P, R]: ...
    @overload
    def __call__(self, function: Callable[P, R], /) -> SyncJob[P, R]: ...
