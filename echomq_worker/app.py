"""The application object: what it declares, what it enqueues, when it is connected."""

import random
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from typing import Any, ParamSpec, Self, TypeVar, Unpack

from echomq_worker.backend import Wiring, wired_around, wired_by_settings
from echomq_worker.client import (
    Backend,
    Call,
    Client,
    Connections,
    JobHandle,
    JobSender,
    SyncClient,
    TimedOptions,
)
from echomq_worker.client.timetable import Timetable
from echomq_worker.client.unbound import call_by_name, raw_call
from echomq_worker.domain.backoff import Duration
from echomq_worker.domain.clock import Clock
from echomq_worker.domain.job import JobId
from echomq_worker.domain.minter import Minter
from echomq_worker.system_clock import SystemClock

P = ParamSpec("P")
R = TypeVar("R")

_WIRED = ("_backend", "_clock", "minter", "_connections", "client", "_wiring")
"""What depends on where jobs go and on who tells the time."""


class EchoMQ(Timetable):
    """An application: the handlers it declares, and the jobs it enqueues for them.

    Making one, and declaring handlers, does no I/O. It connects when a job is first enqueued, or
    in `async with app:`, and disconnects at the end of that block or of the event loop.

    Example:
        app = EchoMQ()

        @app.job("email.send")
        async def send(to: str) -> None: ...

        await send.enqueue("a@b.c")

    Args:
        redis_url: where the queues live, such as `redis://127.0.0.1:6379/0`. What is not given
            here comes from the environment: `ECHOMQ_REDIS_URL` and the other settings.
        redis_username: the user to log in as.
        redis_password: the password.
        default_queue: the queue of handlers that name none.
        max_payload: the largest payload, such as `"256KiB"`, or a number of bytes.
        node_id: the node number of minted ids, 0 to 1023. Unless every producer has its own, leave
            it out: then one is drawn, and an id that is taken is minted again.
        backend: stands in for the server, in tests; then no setting is read.
        clock: tells the time; the machine's by default.
    """

    def __init__(  # noqa: PLR0913 - a keyword for each
        self,
        redis_url: str | None = None,
        *,
        redis_username: str | None = None,
        redis_password: str | None = None,
        default_queue: str = "default",
        max_payload: str | int | None = None,
        node_id: int | None = None,
        backend: Backend | None = None,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(default_queue, lambda: self.client)
        self._flags = {
            "redis_url": redis_url,
            "redis_username": redis_username,
            "redis_password": redis_password,
            "max_payload": None if max_payload is None else str(max_payload),
            "node_id": None if node_id is None else str(node_id),
        }
        self._wire(backend, clock or SystemClock())
        # Made here, not when first asked for: threads may ask at once, and get one event loop.
        self._sync = SyncClient(
            lambda: self.client,
            self._call_by_name,
            self._raw_call,
            schedulers=lambda: self.schedulers,
            lanes=lambda: self.lanes,
            limits=lambda: self.limits,
            queues=lambda: self.queues,
        )

    # --- enqueue -------------------------------------------------------------------------

    async def enqueue(
        self, job: JobSender[P, R], /, *args: P.args, **kwargs: P.kwargs
    ) -> JobHandle[R]:
        """Enqueue a call of a handler; the same as `job.enqueue(...)`.

        Raises:
            ArgumentsError: if the arguments do not fit the handler. Nothing was sent.
            PayloadTooLargeError: if they are larger than `ECHOMQ_MAX_PAYLOAD`. Nothing was sent.
            ServerError: if the server refuses, or does not answer (`UnavailableError`).
        """
        return await job.enqueue(*args, **kwargs)

    async def enqueue_in(
        self, delay: Duration, job: JobSender[P, R], /, *args: P.args, **kwargs: P.kwargs
    ) -> JobHandle[R]:
        """Enqueue a call to run after a delay; the same as `job.enqueue_in(delay, ...)`.

        Raises:
            InvalidArgumentError: if the delay is no duration, negative, NaN, or over 100 years.
            EchoMQError: as `enqueue`.
        """
        return await job.enqueue_in(delay, *args, **kwargs)

    async def enqueue_at(
        self, when: datetime, job: JobSender[P, R], /, *args: P.args, **kwargs: P.kwargs
    ) -> JobHandle[R]:
        """Enqueue a call to run at an instant; the same as `job.enqueue_at(when, ...)`.

        Raises:
            InvalidArgumentError: if `when` does not say its time zone, or is over 100 years away.
            EchoMQError: as `enqueue`.
        """
        return await job.enqueue_at(when, *args, **kwargs)

    async def enqueue_many(self, calls: Iterable[Call[R]]) -> list[JobHandle[R]]:
        """Enqueue calls, in one round trip per thousand and queue.

        `await app.enqueue_many(send.call(to) for to in addresses)`. All calls are checked before
        the first is sent. If the server fails in between, some are in and others not.

        Returns:
            Their handles, in order.

        Raises:
            EchoMQError: as `enqueue`.
        """
        return await self.client.send(list(calls))

    async def enqueue_by_name(
        self, name: str, arguments: Mapping[str, Any], /, **options: Unpack[TimedOptions]
    ) -> JobHandle[Any]:
        """Enqueue a call of a handler without importing it.

        The arguments are checked here if the handler is registered here, else only by the worker.

        Args:
            name: the handler's name.
            arguments: by parameter name.
            **options: `queue` (else the handler's, else the default queue), `delay` or `at`,
                `job_id`, `max_attempts`, `keep_result`, `timeout`, `backoff`, `expires`; see
                `TimedOptions`.

        Raises:
            InvalidArgumentError: if an option cannot be used.
            EchoMQError: as `enqueue`.
        """
        (handle,) = await self.client.send([self._call_by_name(name, arguments, options)])
        return handle

    async def enqueue_raw(
        self, payload: bytes, /, **options: Unpack[TimedOptions]
    ) -> JobHandle[Any]:
        """Enqueue bytes as they are, for a worker of another runtime or a raw handler.

        Args:
            payload: what that worker reads.
            **options: as for `enqueue_by_name`.

        Raises:
            InvalidArgumentError: if the payload or an option cannot be used.
            ServerError: if the server refuses, or does not answer (`UnavailableError`).
        """
        (handle,) = await self.client.send([self._raw_call(payload, options)])
        return handle

    def new_job_id(self) -> JobId:
        """Mint an id, to be given to a job as `job_id=`. It needs no connection."""
        return self.client.mint()

    @property
    def sync(self) -> SyncClient:
        """The same for code that blocks: `app.sync.enqueue(send, "a@b.c")`."""
        return self._sync

    # --- connect -------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        await self._connections.hold()
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self._connections.release()

    @cached_property
    def client(self) -> Client:
        """The producers' side, made when first asked for. Raises `SettingsError`."""
        wiring = self._wiring
        if wiring.node is not None:
            self.minter.use_node(wiring.node)
        return Client(
            backends=self._connections,
            mint=self.minter.mint,
            clock=self._clock,
            max_payload=wiring.max_payload,
            middleware=self.enqueue_layers,
        )

    @contextmanager
    def stand_in(self, backend: Backend, clock: Clock) -> Generator[None]:
        """Let a backend stand in for the server, and a clock for the machine's, inside a block.

        For tests: `echomq_worker.testing` does it. No setting is read but those given in code. At
        the end of the block `app.sync` is closed; its next call connects again.

        Args:
            backend: where jobs are enqueued.
            clock: tells the time.
        """
        before = {name: vars(self).pop(name) for name in _WIRED if name in vars(self)}
        self._wire(backend, clock)
        try:
            yield
        finally:
            self._sync.close()
            for name in _WIRED:
                vars(self).pop(name, None)
            vars(self).update(before)

    @property
    def given(self) -> Mapping[str, str]:
        """What was decided in code, as texts by attribute of `Settings`."""
        return {name: text for name, text in self._flags.items() if text is not None}

    def use(self, wiring: Wiring) -> None:
        """Enqueue where a program says that has read the settings, such as a worker.

        Call it before anything is enqueued.
        """
        vars(self).pop("client", None)
        self._wiring = wiring

    def _wire(self, backend: Backend | None, clock: Clock) -> None:
        self._backend = backend
        self._clock = clock
        # The operating system's dice: an application may have seeded the others.
        dice = random.SystemRandom().randrange
        self.minter = Minter(clock_ms=clock.now_ms, dice=dice)
        self._connections = Connections(self._make_backend)

    @cached_property
    def _wiring(self) -> Wiring:
        if self._backend is not None:
            return wired_around(self._backend, self._flags)
        return wired_by_settings(self._flags)

    def _make_backend(self) -> Backend:
        return self._wiring.make_backend()

    def _call_by_name(
        self, name: str, arguments: Mapping[str, Any], options: TimedOptions
    ) -> Call[Any]:
        return call_by_name(self.registry, self.default_queue, name, arguments, options)

    def _raw_call(self, payload: bytes, options: TimedOptions) -> Call[Any]:
        return raw_call(payload, self.default_queue, options)
