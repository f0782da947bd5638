"""Repeating registrations of the base wire, which other runtimes know as well."""

from collections.abc import Callable, Sequence

from echomq_worker.client.client import Client
from echomq_worker.client.ports import Queue
from echomq_worker.client.scheduling import Caller
from echomq_worker.domain.backoff import Duration
from echomq_worker.domain.duration import parse_duration_ms
from echomq_worker.domain.queue_name import check_queue_name
from echomq_worker.domain.repeats import RepeatView
from echomq_worker.errors import InvalidArgumentError


class Repeats:
    """The part of `app.schedulers` that is about the base wire.

    Args:
        client: gives the application's client.
        caller: makes the calls of schedulers.
    """

    def __init__(self, client: Callable[[], Client], caller: Caller) -> None:
        self._client = client
        self._caller = caller

    async def repeats(self, *, queue: str | None = None) -> "Sequence[RepeatView]":
        """Return the repeating registrations of the base wire, as other runtimes make them.

        Workers fire them too. They have an interval and a payload, and none of the policies here.

        Raises:
            InvalidQueueError: if the queue's name cannot be used.
            ServerError: if the server refuses, or does not answer (`UnavailableError`).
        """
        return await (await self._queue(queue)).repeats.list()

    async def register_repeat(
        self,
        name: str,
        every: Duration,
        payload: bytes,
        /,
        *,
        first_in: Duration | None = None,
        queue: str | None = None,
    ) -> bool:
        """Register a repeating job of the base wire, for queues that other runtimes serve as well.

        Where only workers of this library serve a queue, `put` can do more.

        Args:
            name: 1 to 200 visible ASCII characters.
            every: the time from one job to the next, from 1 ms.
            payload: the bytes of each job, which carries no handler's name.
            first_in: how long until the first job; one interval if not given.
            queue: the queue.

        Returns:
            False if the name is registered already: then nothing was changed.

        Raises:
            InvalidArgumentError: if something cannot be used.
            ServerError: if the server refuses, or does not answer (`UnavailableError`).
        """
        if not isinstance(payload, bytes):  # pyright: ignore[reportUnnecessaryIsInstance]
            msg = f"the payload of {name!r} is {type(payload).__qualname__}: expected bytes"
            raise InvalidArgumentError(msg)
        self._client().check_payload(name, payload)
        every_ms = parse_duration_ms(every)
        first_in_ms = every_ms if first_in is None else parse_duration_ms(first_in)
        repeats = (await self._queue(queue)).repeats
        return await repeats.register(name, every_ms, payload, first_in_ms)

    async def cancel_repeat(self, name: str, /, *, queue: str | None = None) -> bool:
        """Remove a repeating registration of the base wire; return whether there was one.

        Raises:
            ServerError: if the server refuses, or does not answer (`UnavailableError`).
        """
        return await (await self._queue(queue)).repeats.cancel(name)

    async def _queue(self, name: str | None) -> Queue:
        backend = await self._client().backends.backend()
        return backend.queue(check_queue_name(self._named(name)))

    def _named(self, queue: str | None) -> str:
        return self._caller.default_queue if queue is None else queue
