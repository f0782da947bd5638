"""The lanes of one queue: served or not, how much of each, and what waits in them."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

from echomq_worker.domain.gates import Rate
from echomq_worker.domain.ids import parse_id
from echomq_worker.domain.job import JobId
from echomq_worker.domain.lanes import (
    LaneView,
    OnFull,
    Reassigned,
    check_lane_count,
    check_on_full,
    lane_group,
)
from echomq_worker.domain.limits import BATCH, PAUSE_REASON, PAUSED_BY
from echomq_worker.domain.replies import Reaped
from echomq_worker.protocol.lane_replies import (
    lane_operands,
    on_full_word,
    pause_note,
    read_lane,
)
from echomq_worker.protocol.scripts import Operand
from echomq_worker.store.wire import Reply

SOURCES = (
    *("ring", "paused", "gactive", "glimit", "grate"),
    *("gweight", "gmax", "lane:first", "names"),
)
"""Where lanes are written down; those that have work come first."""
PAGE = 200
"""So many lanes are read by one call."""
SCANNED = 5_000
"""So many expired leases are looked at by one call."""
DRAINED = 500
"""So many jobs are removed by one call."""
_REASSIGNED = {
    1: Reassigned.OK,
    0: Reassigned.NOOP,
    -1: Reassigned.NOT_FOUND,
    -2: Reassigned.NOT_PENDING,
}

Change = Callable[[str, Mapping[str, Operand], Sequence[Operand]], Awaitable[Reply]]
"""Runs a script of the queue, by name; asked again if it was not answered."""


class LaneStore:
    """The lanes of one queue. Reached as `QueueStore.lanes`.

    A lane is told by its name, or by its group of the wire; there need not be any job in it.
    Every method raises `InvalidArgumentError` for what cannot name a lane, and `ServerError` (or
    one of its kinds) if the server refuses or is silent. All are safe to repeat.
    """

    def __init__(self, change: Change, log_size: int) -> None:
        self._change = change
        self._log_size = log_size

    async def pause(self, lane: str, *, reason: str = "", by: str = "") -> bool:
        """Stop serving a lane; what runs goes on. Returns whether it was served before."""
        args = lane_operands(lane) | {"note": pause_note(reason[:PAUSE_REASON], by[:PAUSED_BY])}
        return await self._change("lane_pause", args, ()) == 1

    async def resume(self, lane: str) -> bool:
        """Serve a lane again; return whether it was paused."""
        return await self._change("lane_resume", {"lane": lane_group(lane)}, ()) == 1

    async def limit(self, lane: str, most: int | None) -> None:
        """Let at most so many jobs of a lane be active at once; None lifts the limit."""
        ceiling = "" if most is None else check_lane_count("limit", most)
        await self._change("lane_limit", lane_operands(lane) | {"ceiling": ceiling}, ())

    async def weight(self, lane: str, weight: int | None) -> None:
        """Let so many jobs of a lane be served when it is its turn; None means one."""
        told = "" if weight is None else check_lane_count("weight", weight)
        await self._change("lane_weight", lane_operands(lane) | {"weight": told}, ())

    async def rate(self, lane: str, rate: Rate | None) -> bool:
        """Set how often jobs of a lane may start; None takes the rate away.

        Returns:
            False if it was so already.
        """
        args = lane_operands(lane) | {"rule": "" if rate is None else rate.rule}
        return await self._change("lane_rate", args, ()) == 1

    async def first(self, lane: str, *, on: bool = True) -> bool:
        """Serve a lane before those that do not go first; return whether that was changed."""
        args = lane_operands(lane) | {"first": int(on)}
        return await self._change("lane_first", args, ()) == 1

    async def maximum(
        self, lane: str, most: int | None, on_full: OnFull | str = OnFull.REFUSE
    ) -> None:
        """Let at most so many jobs wait in a lane; None lifts the maximum.

        It counts for what is enqueued to be run at once: what comes back to its lane, or becomes
        due, was taken in before.
        """
        word = on_full_word(check_on_full(on_full))
        told = "" if most is None else check_lane_count("maximum", most)
        args = lane_operands(lane) | {"most": told, "on_full": word}
        await self._change("lane_max", args, ())

    async def reassign(self, job_id: JobId, lane: str, *, flat: bool = False) -> Reassigned:
        """Let a waiting job wait in another lane, in mint order there.

        Args:
            job_id: the job.
            lane: where it shall wait.
            flat: also if it is in no lane now; then it loses its priority, if it has one.
        """
        args: dict[str, Operand] = {
            "id": parse_id(job_id).text,
            "flat": int(flat),
            "log_size": self._log_size,
        }
        return _REASSIGNED[await self._change("lane_reassign", lane_operands(lane) | args, ())]

    async def drain(self, lane: str) -> int:
        """Remove for good what waits in a lane now; return how many jobs that were.

        A few hundred are removed at a time, so that the server serves others in between. What
        comes meanwhile, what runs, is due later or is dead stays.
        """
        newest = (await self.inspect(lane)).newest
        removed = 0
        while newest is not None:
            args: dict[str, Operand] = {
                "lane": lane_group(lane),
                "last": newest,
                "limit": DRAINED,
                "log_size": self._log_size,
            }
            gone = await self._change("lane_drain", args, ())
            removed += gone
            if gone < DRAINED:
                break
        return removed

    async def reap(
        self, lane: str, limit: int = BATCH, *, crash_limit: int = 0, max_attempts: int = 0
    ) -> Reaped:
        """Take back at most `limit` jobs of a lane whose lease has run out.

        Args:
            lane: which one.
            limit: how many of its jobs; others do not count.
            crash_limit: leases lost in a row before a job is buried; 0 for never.
            max_attempts: attempts of a job whose row does not say; 0 for no limit.
        """
        recovered: list[JobId] = []
        buried: list[JobId] = []
        skip = 0
        while skip >= 0 and (left := limit - len(recovered) - len(buried)) > 0:
            args: dict[str, Operand] = {
                "lane": lane_group(lane),
                "limit": min(left, BATCH),
                "scan": SCANNED,
                "skip": skip,
                "counter": "crashes",
                "bury_at": crash_limit,
                "max_attempts": max_attempts,
                "log_size": self._log_size,
            }
            back, dying, skip = await self._change("lane_reap", args, ())
            recovered += _ids(back)
            buried += _ids(dying)
        return Reaped(tuple(recovered), tuple(buried))

    async def depth(self, lane: str) -> int:
        """Return how many jobs wait in a lane."""
        return (await self.depths([lane]))[lane]

    async def depths(self, lanes: Sequence[str]) -> dict[str, int]:
        """Return how many jobs wait in each of some lanes."""
        groups = [lane_group(lane) for lane in lanes]
        found: list[int] = []
        for first in range(0, len(groups), BATCH):
            found += await self._change("lane_depths", {}, groups[first : first + BATCH])
        return dict(zip(lanes, found, strict=True))

    async def inspect(self, lane: str) -> LaneView:
        """Return how a lane stands; one that nobody knows is idle."""
        args: dict[str, Operand] = {"source": "", "cursor": "0", "count": 1}
        (found,) = (await self._change("lane_list", args, [lane_group(lane)]))[1]
        return read_lane(found, lane)

    async def list(self, limit: int = 100, *, offset: int = 0) -> Sequence[LaneView]:
        """Return lanes that are served, paused, active, limited or known by a name, by name.

        Those that have work are found first. Each lane comes once; while lanes come and go, one of
        them may be missed.
        """
        found: list[LaneView] = []
        seen: set[str] = set()
        async for lane in self._all():
            if len(seen) >= offset + limit:
                break
            if lane.group not in seen:
                seen.add(lane.group)
                if len(seen) > offset:
                    found.append(lane)
        return sorted(found, key=lambda lane: lane.name)

    async def _all(self) -> AsyncIterator[LaneView]:
        for source in SOURCES:
            cursor = "0"
            while True:
                args: dict[str, Operand] = {"source": source, "cursor": cursor, "count": PAGE}
                following, lanes = await self._change("lane_list", args, ())
                for lane in lanes:
                    yield read_lane(lane)
                cursor = following.decode()
                if cursor == "0":
                    break


def _ids(reply: Sequence[bytes]) -> list[JobId]:
    return [JobId(text.decode("utf-8", "replace")) for text in reply]
