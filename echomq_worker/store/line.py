"""A worker's line to one queue: one call in flight, repeated under its number until answered."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from echomq_worker.domain.job import Claimed, Held, JobId
from echomq_worker.domain.lanes import Turn, lane_group
from echomq_worker.domain.limits import BATCH
from echomq_worker.domain.outcome import Outcome
from echomq_worker.domain.replies import Beat, Presence, Reaped, Settled
from echomq_worker.errors import OutOfMemoryError, UnavailableError
from echomq_worker.protocol.rows import outcome_operands, read_handout, read_verdicts
from echomq_worker.protocol.scripts import BoundScript, Operand
from echomq_worker.store.calls import Caller
from echomq_worker.store.translate import translated_errors
from echomq_worker.store.wire import PrivateWire, Reply, run_script

Trouble = Callable[[Exception, int], Awaitable[None]]
"""Told of an unanswered call and how many times in a row; returns when to ask again."""


@dataclass(frozen=True, slots=True)
class LineScripts:
    """The scripts of a line, bound to the keys of its queue."""

    claim: BoundScript
    settle: BoundScript
    beat: BoundScript
    claim_lane: BoundScript


@dataclass(slots=True, kw_only=True)
class Line:
    """Claims, settles and beats for one worker on one queue.

    Every call is asked again under the same number until the server has answered: what it did the
    first time it does not do again. Between two tries `trouble` is awaited, which may be cancelled;
    a call itself should not be.
    """

    queue: str
    wire: PrivateWire
    scripts: LineScripts
    trouble: Trouble
    prepare: Callable[[], Awaitable[None]]
    lanes: bool = True
    """Whether it serves lanes too."""
    marks: bool = True
    """Whether this line marks the queue with the version of our layout."""
    worker_id: str = ""
    watch_ms: int = 0
    log_size: int = 0
    keep_results: int = 10_000
    caller: Caller = field(default_factory=Caller)

    async def claim(self, *, limit: int, lease_ms: int, promote: int) -> Claimed:
        """Take up to `limit` jobs under a lease, after promoting at most `promote` due ones.

        Returns:
            The jobs, and what the pump needs to know. A paused queue hands out nothing.

        Raises:
            ServerError: if the server refuses; an unanswered call is asked again instead.
        """
        number = self.caller.next_number()
        args = self._handout_args(number, limit, lease_ms, promote) | self._watch_args()
        reply = await self._ask(self.scripts.claim, number, args)
        watching, next_fire = reply[7:9]
        claim = self.caller.id_of(number)
        return read_handout(reply, self.queue, claim, watching=watching == 1, next_fire=next_fire)

    async def claim_lane(
        self, *, limit: int, lease_ms: int, lane: str | None = None, turn: Turn = Turn.BATCH
    ) -> Claimed:
        """Take up to `limit` jobs of one lane under a lease, the first minted first.

        Args:
            limit: how many at most; no more than 1,000 come.
            lease_ms: how long they stay ours without a sign of life.
            lane: which one, by its name or its group; None means the next of the rotation that
                has work.
            turn: how much of the next lane.

        Raises:
            InvalidArgumentError: if that cannot name a lane.
            ServerError: if the server refuses; an unanswered call is asked again instead.
        """
        number = self.caller.next_number()
        args = self._handout_args(number, limit, lease_ms, 0) | {
            "lanes": "1",
            "mode": turn.value if lane is None else "lane",
            "lane": "" if lane is None else lane_group(lane),
        }
        reply = await self._ask(self.scripts.claim_lane, number, args)
        return read_handout(reply, self.queue, self.caller.id_of(number))

    async def settle(
        self,
        settlements: Sequence[tuple[Held, Outcome]],
        *,
        limit: int = 0,
        lease_ms: int = 1,
        promote: int = 0,
    ) -> Settled:
        """Write outcomes and, in the same round trip, claim up to `limit` jobs (0 for none).

        At most 1,000 settlements a call. Raises `ServerError` as `claim` does.
        """
        number = self.caller.next_number()
        args = self._handout_args(number, limit, lease_ms, promote)
        args["keep_results"] = self.keep_results
        rest: list[Operand] = []
        for held, outcome in settlements:
            rest += outcome_operands(held, outcome)
        verdicts, handout = await self._ask(self.scripts.settle, number, args, rest)
        claimed = read_handout(handout, self.queue, self.caller.id_of(number))
        return Settled(read_verdicts(verdicts), claimed)

    async def beat(  # noqa: PLR0913 - one argument a limit
        self,
        *,
        limit: int,
        lease_ms: int,
        promote: int,
        reap: int,
        crash_limit: int,
        max_attempts: int,
        worker: Presence | None = None,
    ) -> Beat:
        """Reap, promote, claim, renew the watch and tell that this worker lives, in one round trip.

        Args:
            limit: how many jobs to claim at most; 0 for none.
            lease_ms: how long they stay ours without a sign of life.
            promote: how many due jobs to promote at most.
            reap: how many expired leases to take back at most.
            crash_limit: leases lost in a row before a job is buried; 0 for never.
            max_attempts: attempts of a job whose row does not say; 0 for no limit.
            worker: what to say about this worker; None says nothing.
        """
        number = self.caller.next_number()
        args = self._handout_args(number, limit, lease_ms, promote) | self._watch_args()
        args |= {
            "reap_limit": reap,
            "crash_limit": crash_limit,
            "max_attempts": max_attempts,
            "presence_ms": worker.ttl_ms if worker else 0,
        }
        says = [part for field_ in worker.fields.items() for part in field_] if worker else []
        reply = await self._ask(self.scripts.beat, number, args, says)
        beat = self._read_beat(reply, self.caller.id_of(number))
        if beat.emptied:
            # The next connection claims for us what the server has lost: fence and mark.
            await self.wire.aclose()
        return beat

    async def aclose(self) -> None:
        """Close the private connection of this line."""
        await self.wire.aclose()

    def _read_beat(self, reply: Reply, claim: str) -> Beat:
        handout, recovered, buried, watching, marked, next_fire = reply
        return Beat(
            claimed=read_handout(handout, self.queue, claim, next_fire=next_fire),
            reaped=Reaped(_ids(recovered), _ids(buried)),
            watching=watching == 1,
            emptied=self.marks and not marked,
        )

    def _handout_args(
        self, number: int, limit: int, lease_ms: int, promote: int
    ) -> dict[str, Operand]:
        return {
            "caller": self.caller.name,
            "call_number": number,
            "again": "0",
            "call_id": self.caller.id_of(number),
            "lease_ms": lease_ms,
            "limit": min(limit, BATCH),
            "promote_limit": min(promote, BATCH),
            "lanes": "1" if self.lanes else "0",
            "log_size": self.log_size,
        }

    def _watch_args(self) -> dict[str, Operand]:
        return {"worker_id": self.worker_id, "watch_ms": self.watch_ms}

    async def _ask(
        self,
        script: BoundScript,
        number: int,
        args: dict[str, Operand],
        rest: Sequence[Operand] = (),
    ) -> Reply:
        tries = 0
        with self.caller.one_call(number):
            while True:
                try:
                    with translated_errors():
                        await self.wire.connect()
                    await self.prepare()
                    return await run_script(self.wire, script, args, rest)
                except (UnavailableError, OutOfMemoryError) as error:
                    tries += 1
                    args["again"] = "1"
                    await self.trouble(error, tries)


def _ids(reply: Sequence[bytes]) -> tuple[JobId, ...]:
    return tuple(JobId(text.decode("utf-8", "replace")) for text in reply)
