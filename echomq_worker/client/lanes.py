"""The lanes of a queue, for code that looks after tenants: `app.lanes`."""

from collections.abc import Callable, Mapping, Sequence

from echomq_worker.client.client import Client
from echomq_worker.client.lane_ports import LaneStore
from echomq_worker.domain.gates import parse_rate
from echomq_worker.domain.ids import parse_id
from echomq_worker.domain.job import JobId
from echomq_worker.domain.lanes import LaneView, Reassigned
from echomq_worker.domain.queue_name import check_queue_name
from echomq_worker.errors import InvalidArgumentError


class Lanes:
    """The lanes on the server, one queue's at a time.

    A lane is there as soon as a job is enqueued with `lane="acme"`, and costs nothing when it has
    none. What is set here holds for all workers with their next claim. Where no queue is given, the
    application's default queue is meant.

    Every method raises `InvalidArgumentError` for a name that no lane can have, and `ServerError`
    if the server refuses, or does not answer (`UnavailableError`).

    Args:
        client: gives the application's client.
        default_queue: the queue that is meant where none is given.
    """

    def __init__(self, client: Callable[[], Client], default_queue: str) -> None:
        self._client = client
        self._default_queue = default_queue

    async def pause(
        self, name: str, /, *, reason: str = "", by: str = "", queue: str | None = None
    ) -> bool:
        """Start no more jobs of a lane until `resume`; those that run go on.

        Args:
            name: the lane.
            reason: why, for those who wonder later.
            by: who pauses it.
            queue: its queue.

        Returns:
            False if it was paused already. Then the new reason stands.
        """
        return await (await self._lanes(queue)).pause(name, reason=reason, by=by)

    async def resume(self, name: str, /, *, queue: str | None = None) -> bool:
        """Start jobs of a lane again, in their order; False if it was not paused."""
        return await (await self._lanes(queue)).resume(name)

    async def limit(self, name: str, most: int | None, /, *, queue: str | None = None) -> None:
        """Let at most `most` jobs of a lane be active at once, on all workers together.

        Args:
            name: the lane.
            most: how many, from 1; None lifts the limit.
            queue: its queue.
        """
        await (await self._lanes(queue)).limit(name, most)

    async def weight(self, name: str, weight: int | None, /, *, queue: str | None = None) -> None:
        """Let `weight` jobs of a lane be served whenever it is its turn.

        Args:
            name: the lane.
            weight: how many, from 1; None means one, as for every lane.
            queue: its queue.
        """
        await (await self._lanes(queue)).weight(name, weight)

    async def rate(
        self,
        name: str,
        rate: str | None,
        /,
        *,
        burst: int | None = None,
        sliding: bool = False,
        queue: str | None = None,
    ) -> bool:
        """Limit how often jobs of a lane may start: `await app.lanes.rate("acme", "50/s")`.

        Args:
            name: the lane.
            rate: how many in how long, such as `"50/s"` or `"5/10s"`; None takes the limit away.
            burst: how many may start at once after a rest (a token bucket); by default what a
                tenth of a second brings, at least 1.
            sliding: count starts in a sliding window instead: never more than that in any.
            queue: its queue.

        Returns:
            False if it was so already.
        """
        read = None if rate is None else parse_rate(rate, burst=burst, sliding=sliding)
        return await (await self._lanes(queue)).rate(name, read)

    async def first(self, name: str, /, *, on: bool = True, queue: str | None = None) -> bool:
        """Serve a lane before all that do not go first, as long as it has work.

        Several such lanes take turns. The others wait for them: give such a lane a limit, or little
        to do. Jobs without a lane keep their share.

        Args:
            name: the lane.
            on: False lets it take its turn like any other.
            queue: its queue.

        Returns:
            False if it was so already.
        """
        return await (await self._lanes(queue)).first(name, on=on)

    async def maximum(
        self,
        name: str,
        most: int | None,
        /,
        on_full: str = "refuse",
        *,
        queue: str | None = None,
    ) -> None:
        """Let at most `most` jobs wait in a lane.

        It counts when a job is enqueued to run at once. What comes back to its lane, or becomes
        due, has been taken in before and stays.

        Args:
            name: the lane.
            most: how many, from 1; None lifts the maximum.
            on_full: `"refuse"` the new job (`LaneFullError`), or `"drop-oldest"`: remove for it the
                one that was minted first.
            queue: its queue.
        """
        await (await self._lanes(queue)).maximum(name, most, on_full)

    async def reassign(self, job_id: str, lane: str, /, *, queue: str | None = None) -> Reassigned:
        """Let a waiting job wait in another lane, in mint order there.

        Also one that is in no lane: it leaves its place, and loses its priority if it has one.

        Args:
            job_id: the job.
            lane: where it shall wait.
            queue: the queue of both.

        Returns:
            What became of it; only a job that waits is moved.

        Raises:
            InvalidIdError: if that is no job's id.
        """
        checked = JobId(parse_id(job_id).text)
        return await (await self._lanes(queue)).reassign(checked, lane, flat=True)

    async def drain(self, name: str, /, *, queue: str | None = None) -> int:
        """Remove for good the jobs that wait in a lane now, with all that belongs to them.

        What runs, is due later or is dead stays, and so does what is set for the lane. Parents that
        wait for a removed job are told that it has died.

        Returns:
            How many were removed; fewer, if an answer of the server was lost.
        """
        return await (await self._lanes(queue)).drain(name)

    async def reap(self, name: str, /, *, queue: str | None = None) -> Sequence[JobId]:
        """Take back jobs of a lane whose lease has run out. Workers do so for all, once a beat.

        Returns:
            The ids of those that wait again; one that is out of attempts is dead instead.
        """
        return (await (await self._lanes(queue)).reap(name)).recovered

    async def depth(self, name: str, /, *, queue: str | None = None) -> int:
        """Return how many jobs wait in a lane."""
        return (await self.depths([name], queue=queue))[name]

    async def depths(
        self, names: Sequence[str], /, *, queue: str | None = None
    ) -> Mapping[str, int]:
        """Return how many jobs wait in each of some lanes, by their names."""
        return await (await self._lanes(queue)).depths(names)

    async def list(
        self, *, queue: str | None = None, limit: int = 100, offset: int = 0
    ) -> Sequence[LaneView]:
        """Return lanes that have jobs, that something is set for, or whose name is known.

        Those that have jobs are found first; what is returned is in the order of the names.

        Args:
            queue: the queue.
            limit: how many, from 1.
            offset: how many to leave out first.

        Raises:
            InvalidArgumentError: if a number cannot be used.
        """
        _check_number("limit", limit, 1)
        _check_number("offset", offset, 0)
        return await (await self._lanes(queue)).list(limit, offset=offset)

    async def inspect(self, name: str, /, *, queue: str | None = None) -> LaneView:
        """Return how a lane stands; one that nobody has heard of is idle."""
        return await (await self._lanes(queue)).inspect(name)

    async def _lanes(self, queue: str | None) -> LaneStore:
        backend = await self._client().backends.backend()
        return backend.queue(check_queue_name(queue or self._default_queue)).lanes


def _check_number(what: str, number: int, least: int) -> None:
    if type(number) is not int or number < least:
        msg = f"{what} is {number!r}: expected a whole number from {least}"
        raise InvalidArgumentError(msg)
