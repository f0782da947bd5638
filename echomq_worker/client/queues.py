"""What is set for a queue as a whole: `app.queues`."""

from collections.abc import Callable

from echomq_worker.client.client import Client
from echomq_worker.client.ports import Queue
from echomq_worker.domain.job import JobId
from echomq_worker.domain.queue_name import check_queue_name
from echomq_worker.domain.unique import wire_key
from echomq_worker.domain.views import Order
from echomq_worker.errors import InvalidArgumentError


class Queues:
    """The queues on the server, one at a time; where none is given, the default queue is meant.

    Every method raises `ServerError` if the server refuses, or does not answer
    (`UnavailableError`).

    Args:
        client: gives the application's client.
        default_queue: the queue that is meant where none is given.
    """

    def __init__(self, client: Callable[[], Client], default_queue: str) -> None:
        self._client = client
        self._default_queue = default_queue

    async def order(self, queue: str | None = None) -> Order:
        """Return what decides among waiting jobs of the same priority."""
        return await (await self._queue(queue)).order()

    async def put_order(self, order: Order | str, /, *, queue: str | None = None) -> None:
        """Say what decides among waiting jobs of the same priority.

        Jobs that wait already are put in that order. Jobs without a priority are always in mint
        order.

        Args:
            order: `"arrival"`: who came to wait first; or `"mint"`: whose id is older.
            queue: the queue.

        Raises:
            InvalidArgumentError: if it is neither.
        """
        try:
            wanted = Order(order)
        except ValueError:
            msg = f"the order is {order!a:.80}: expected 'arrival' or 'mint'"
            raise InvalidArgumentError(msg) from None
        await (await self._queue(queue)).put_order(wanted)

    async def drain(self, queue: str | None = None, /, *, scheduled: bool = False) -> int:
        """Remove the jobs that wait in a queue, but for those in lanes, and return how many.

        Parents and schedulers are told. What runs or is dead stays. It is done in slices, so that
        the server serves others in between: what is enqueued meanwhile may go or stay.

        Args:
            queue: the queue.
            scheduled: whether to remove what is due later, or waits for its next attempt, as well.
        """
        return await (await self._queue(queue)).operator.drain(scheduled=scheduled)

    async def obliterate(self, queue: str, /, *, force: bool = False) -> None:
        """Remove a paused queue with all that belongs to it: jobs, lanes, results, schedulers.

        Nobody is told. It is done in slices; if it is cut short, the queue stays paused, and asking
        again goes on.

        Args:
            queue: the queue; there is no default for what cannot be undone.
            force: whether to go on though jobs are active: their outcomes will find nothing.

        Raises:
            NotPausedError: if the queue is not paused.
            ActiveJobsError: if jobs are active, without `force`.
        """
        operator = (await self._queue(queue)).operator
        while not await operator.obliterate(force=force):
            pass

    async def holder(self, key: str, /, *, queue: str | None = None) -> JobId | None:
        """Return the id of the job that holds a key of uniqueness; None if none does.

        Raises:
            InvalidArgumentError: if the key cannot be one.
        """
        return await (await self._queue(queue)).operator.holder(wire_key(key))

    async def release(self, key: str, /, *, queue: str | None = None) -> bool:
        """Set a key of uniqueness free before its time; the job that holds it goes on.

        A job that is kept until that one has ended waits no longer.

        Returns:
            False if the key was free.

        Raises:
            InvalidArgumentError: if the key cannot be one.
        """
        return await (await self._queue(queue)).operator.release(wire_key(key))

    async def _queue(self, queue: str | None) -> Queue:
        name = self._default_queue if queue is None else check_queue_name(queue)
        return (await self._client().backends.backend()).queue(name)
