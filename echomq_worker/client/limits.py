"""Limits of a queue, and jobs that are stopped for a while: `app.limits`."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

from echomq_worker.client.client import Client
from echomq_worker.client.gate_ports import GateStore
from echomq_worker.domain.backoff import Duration
from echomq_worker.domain.duration import parse_duration_ms
from echomq_worker.domain.gates import Gates, Rate, by_key_scope, parse_rate, scope_of
from echomq_worker.domain.queue_name import check_queue_name
from echomq_worker.domain.struck import argument_scope
from echomq_worker.errors import InvalidArgumentError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST_TEXT = 500


class Limits:
    """What keeps jobs back, kept exactly across all workers of a queue.

    Nothing but `queue` given, a call is about the whole queue; `name` means the jobs of a handler.
    A job that may not start yet waits aside, uses no attempt, and comes back to its place in time.

    Args:
        client: gives the application's client.
        default_queue: the queue that is meant where none is given.
    """

    def __init__(self, client: Callable[[], Client], default_queue: str) -> None:
        self._client = client
        self._default_queue = default_queue

    async def rate(  # noqa: PLR0913 - a keyword for each
        self,
        rate: str | None,
        /,
        *,
        burst: int | None = None,
        sliding: bool = False,
        name: str | None = None,
        by_key: bool = False,
        queue: str | None = None,
    ) -> bool:
        """Limit how often jobs may start: `await app.limits.rate("50/s", name="mail")`.

        Args:
            rate: how many in how long, such as `"50/s"` or `"5/10s"`; None takes the limit away.
            burst: how many may start at once after a rest (a token bucket); by default what a
                tenth of a second brings, at least 1.
            sliding: count starts in a sliding window instead: never more than that in any.
            name: the handler whose jobs are meant.
            by_key: count for each value of the handler's `limit` apart.
            queue: the queue.

        Returns:
            False if it was so already.

        Raises:
            InvalidArgumentError: if a value cannot be used, or the queue has too many limits.
            ServerError: if the server refuses, or does not answer (`UnavailableError`).
        """
        read = None if rate is None else parse_rate(rate, burst=burst, sliding=sliding)
        return await self.apply_rate(read, name=name, by_key=by_key, queue=queue)

    async def apply_rate(
        self,
        rate: Rate | None,
        /,
        *,
        name: str | None = None,
        by_key: bool = False,
        queue: str | None = None,
    ) -> bool:
        """Do the same with a rate that has been read."""
        return await (await self._gates(queue)).limit_rate(_rule_scope(name, by_key=by_key), rate)

    async def concurrency(
        self,
        most: int | None,
        /,
        *,
        name: str | None = None,
        by_key: bool = False,
        queue: str | None = None,
    ) -> bool:
        """Limit how many jobs may be active at once, on all workers together.

        The slots of a worker that was killed are free again when its leases have run out.

        Args:
            most: how many, from 1; None takes the limit away.
            name: the handler whose jobs are meant.
            by_key: count for each value of the handler's `limit` apart.
            queue: the queue. Its own limit is the wire's `meta.concurrency`, so peers see it.

        Returns:
            False if it was so already.

        Raises:
            InvalidArgumentError: if a value cannot be used, or the queue has too many limits.
            ServerError: if the server refuses, or does not answer (`UnavailableError`).
        """
        gates = await self._gates(queue)
        return await gates.limit_concurrency(_rule_scope(name, by_key=by_key), most)

    async def penalize(
        self,
        duration: Duration,
        /,
        *,
        name: str | None = None,
        key: object = None,
        reason: str = "",
        queue: str | None = None,
    ) -> datetime | None:
        """Start no more jobs for a while, as a `Retry-After` of a 429 asks for.

        A pause, and a penalty that lasts longer, stay as they are.

        Args:
            duration: for how long, such as `"30s"`.
            name: the handler whose jobs are meant; the whole queue if not given.
            key: only those of this value of the handler's `limit`.
            reason: why, for those who look.
            queue: the queue.

        Returns:
            When they go on, by the server's clock; None if they are paused without an end.

        Raises:
            InvalidArgumentError: if a value cannot be used.
            ServerError: if the server refuses, or does not answer (`UnavailableError`).
        """
        for_ms = parse_duration_ms(duration)
        gates = await self._gates(queue)
        scope = scope_of(name=name, key=key)
        until_ms = await gates.strike(scope, for_ms=for_ms, at_least=True, reason=_told(reason))
        return None if until_ms is None else _EPOCH + timedelta(milliseconds=until_ms)

    async def pause(  # noqa: PLR0913 - a keyword for each
        self,
        *,
        name: str,
        key: object = None,
        where: Mapping[str, object] | None = None,
        reason: str = "",
        by: str = "",
        queue: str | None = None,
    ) -> None:
        """Start no more jobs of a handler, or only some of them, until `resume`.

        Those that run go on. The others keep their order. All workers obey with their next claim.
        A whole queue is paused by `echomq queue pause`, a lane by `app.lanes.pause`.

        Args:
            name: the handler.
            key: only those of this value of its `limit`.
            where: only those with such arguments, as in `{"tenant": "acme"}`. A worker reads them,
                so a rate is charged for each job once.
            reason: why, for those who look.
            by: who does it.
            queue: the queue.

        Raises:
            InvalidArgumentError: if a value cannot be used.
            ServerError: if the server refuses, or does not answer (`UnavailableError`).
        """
        gates = await self._gates(queue)
        await gates.strike(_scope(name, key, where), reason=_told(reason), by=_told(by))

    async def resume(
        self,
        *,
        name: str | None = None,
        key: object = None,
        where: Mapping[str, object] | None = None,
        queue: str | None = None,
    ) -> bool:
        """Let jobs start again that `pause` or `penalize` keeps back; False if none are.

        Raises:
            InvalidArgumentError: if a value cannot be used.
            ServerError: if the server refuses, or does not answer (`UnavailableError`).
        """
        return await (await self._gates(queue)).lift(_scope(name, key, where))

    async def list(self, *, queue: str | None = None) -> Gates:
        """Return the limits, what is stopped, and where jobs wait.

        Raises:
            ServerError: if the server refuses, or does not answer (`UnavailableError`).
        """
        return await (await self._gates(queue)).read()

    async def _gates(self, queue: str | None) -> GateStore:
        backend = await self._client().backends.backend()
        return backend.queue(check_queue_name(queue or self._default_queue)).gates


def _rule_scope(name: str | None, *, by_key: bool) -> str:
    if by_key and name is None:
        msg = "by_key is given without name: expected the handler whose limit counts by a key"
        raise InvalidArgumentError(msg)
    return by_key_scope(name) if name is not None and by_key else scope_of(name=name)


def _scope(name: str | None, key: object, where: Mapping[str, object] | None) -> str:
    if where is None:
        return scope_of(name=name, key=key)
    if name is None or key is not None:
        msg = "where is given without name, or with key: expected the handler, and its arguments"
        raise InvalidArgumentError(msg)
    return argument_scope(name, where)


def _told(text: str) -> str:
    return text[:_LONGEST_TEXT]
