"""The calls of one queue: one at a time, each with all that is to be said and asked."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from echomq_worker.domain.clock import Clock
from echomq_worker.domain.job import Claimed, Held
from echomq_worker.domain.replies import Presence, Settled
from echomq_worker.errors import InvalidArgumentError, WrongTypeError
from echomq_worker.worker.journal import Journal
from echomq_worker.worker.options import WorkerOptions
from echomq_worker.worker.ports import Line
from echomq_worker.worker.run import Run
from echomq_worker.worker.runner import Ended
from echomq_worker.worker.settler import Settler
from echomq_worker.worker.slots import Slots
from echomq_worker.worker.stats import Stats

_REFUSED = (WrongTypeError, InvalidArgumentError)
"""What asking again does not change, and what one outcome of many may cause."""


class StartsRuns(Protocol):
    """Takes over what was claimed."""

    def start(self, held: Held, now_ms: int, ended: Ended) -> None:
        """Run a job."""
        ...

    def refuse(self, held: Held, now_ms: int, ended: Ended) -> None:
        """Hand a job back without running it."""
        ...


class Heard(Protocol):
    """Told what a reply says."""

    def __call__(self, claimed: Claimed, *, watching: bool | None) -> None:
        """Take it in; `watching` is None if the reply does not say who is the watcher."""
        ...


class Desk:
    """Claims, settles and beats for one queue over a line that carries one call at a time.

    What is asked for while a call is in flight goes with the next one: outcomes are written and
    free slots are claimed for in the same round trip. A call in flight is never cut off, since
    what it claimed would be leased to nobody; what it claims after a stop is handed back.

    Args:
        queue: the queue's name.
        line: carries the calls.
        slots: says how many jobs may be claimed.
        settler: collects the outcomes.
        runner: takes over what was claimed.
        journal: writes what beats find.
        stats: counts it.
        options: sizes and limits.
        presence: what to say about this worker with each beat.
        clock: tells how long a call took.
        answered_late: called after a call that took so long that the leases of what it claimed
            are to be extended at once: they began when the server did it.
    """

    def __init__(  # noqa: PLR0913 - where the parts of a queue meet
        self,
        queue: str,
        line: Line,
        *,
        slots: Slots,
        settler: Settler,
        runner: StartsRuns,
        journal: Journal,
        stats: Stats,
        options: WorkerOptions,
        presence: Callable[[], Presence],
        clock: Clock,
        answered_late: Callable[[], None],
    ) -> None:
        self.name = f"desk {queue}"
        self.queue = queue
        self._line = line
        self._slots = slots
        self._settler = settler
        self._runner = runner
        self._journal = journal
        self._stats = stats
        self._options = options
        self._presence = presence
        self._clock = clock
        self._answered_late = answered_late
        self._heard: Heard | None = None
        self.idle = asyncio.Event()
        """Set while no call is on its way."""
        self.idle.set()
        self.ailing = False
        """True from a call that failed for good until one is answered."""
        self._called = asyncio.Event()
        self._beat_due = False
        self._look_due = False
        self._askers: list[asyncio.Future[Claimed]] = []
        slots.on_dealt(queue, self._called.set)

    def on_reply(self, heard: Heard) -> None:
        """Have `heard` told what each reply says."""
        self._heard = heard

    def ask_beat(self) -> None:
        """Do all that is done once a beat."""
        self._beat_due = True
        self._called.set()

    def ask_look(self) -> None:
        """Promote what is due, and claim if there is room."""
        self._look_due = True
        self._slots.want(self.queue)
        self._called.set()

    async def look(self) -> Claimed:
        """Look, and return what the server said."""
        answer: asyncio.Future[Claimed] = asyncio.get_running_loop().create_future()
        self._askers.append(answer)
        self.ask_look()
        return await answer

    def ended(self, run: Run) -> None:
        """Take in that a run is over: its slot is free, and its outcome is to be written."""
        if run.has_slot:
            self._slots.release()
        if run.outcome is None:
            self._settler.drop(run)
            self._look_due = True  # nothing else would claim for the slot
        else:
            self._settler.put(run)
        self._called.set()

    async def run(self) -> None:
        """Make calls for ever, as they are asked for."""
        self._slots.admit(self.queue)
        self._called.set()  # what an earlier run has left undone
        try:
            while True:
                await self._called.wait()
                self._called.clear()
                while await self.step():
                    pass
        except Exception:
            self.ailing = True
            self._slots.shun(self.queue)
            raise

    async def step(self) -> bool:
        """Make one call, if there is an occasion; return whether there was one."""
        # A beat that fails must not keep outcomes from being written, so they go first then.
        if self._beat_due and not (self.ailing and self._settler):
            call = self._beat
        elif self._settler.alone:
            call = self._settle_alone
        elif self._settler:
            call = self._settle
        elif self._look_due or self._slots.dealt(self.queue):
            call = self._claim
        else:
            return False
        self.idle.clear()
        asked_at_ms = self._clock.monotonic_ms()
        try:
            await call()
        finally:
            self.idle.set()
        if self._clock.monotonic_ms() - asked_at_ms >= self._options.renew_every_ms:
            self._answered_late()
        return True

    async def _beat(self) -> None:
        options = self._options
        open_ = not self._slots.closed
        self._beat_due = self._look_due = False
        askers, self._askers = self._askers, []
        limit = self._slots.take(self.queue, ask_anyway=True)
        try:
            beat = await self._line.beat(
                limit=limit,
                lease_ms=options.lease_ms,
                promote=options.promote_batch if open_ else 0,
                reap=options.reap_batch if open_ else 0,
                crash_limit=options.crash_limit,
                max_attempts=options.max_attempts,
                worker=self._presence(),
            )
        except BaseException as error:
            self._failed(limit, askers, error)
            raise
        self._received(beat.claimed, limit, askers, watching=beat.watching)
        if beat.emptied:
            self._journal.emptied(self.queue)
        recovered, buried = beat.reaped.recovered, beat.reaped.buried
        self._stats.recovered += len(recovered)
        self._journal.reaped(self.queue, recovered, buried)
        if len(recovered) + len(buried) >= options.reap_batch:
            self.ask_beat()  # there may be more, and they have waited long enough

    async def _settle(self) -> None:
        self._look_due = False
        askers, self._askers = self._askers, []
        batch = self._settler.batch()
        limit = self._slots.take(self.queue, ask_anyway=True)
        try:
            promote = 0 if self._slots.closed else self._options.promote_batch
            settled = await self._write(batch, limit=limit, promote=promote)
        except _REFUSED:
            # Nothing of it was written: one may be at fault, and the others must not suffer.
            self._settler.put_back(batch, alone=True)
            self._askers = askers + self._askers
            self._slots.put_back(self.queue, limit, more=False)
            self.ask_look()
            return
        except BaseException as error:
            self._settler.put_back(batch)
            self._failed(limit, askers, error)
            raise
        self._received(settled.claimed, limit, askers, watching=None)
        self._settler.written(batch, settled.verdicts)

    async def _settle_alone(self) -> None:
        run = self._settler.next_alone()
        try:
            settled = await self._write([run], limit=0, promote=0)
        except _REFUSED as error:
            self._settler.give_up(run, error)
            return
        except BaseException:
            self._settler.put_back([run], alone=True)
            raise
        self._received(settled.claimed, 0, [], watching=None)
        self._settler.written([run], settled.verdicts)

    async def _write(self, batch: Sequence[Run], *, limit: int, promote: int) -> Settled:
        return await self._line.settle(
            [(run.held, run.outcome) for run in batch if run.outcome is not None],
            limit=limit,
            lease_ms=self._options.lease_ms,
            promote=promote,
        )

    async def _claim(self) -> None:
        self._look_due = False
        askers, self._askers = self._askers, []
        limit = self._slots.take(self.queue)
        if self._slots.closed:
            self._failed(limit, askers, None)
            return
        try:
            claimed = await self._line.claim(
                limit=limit,
                lease_ms=self._options.lease_ms,
                promote=self._options.promote_batch,
            )
        except BaseException as error:
            self._failed(limit, askers, error)
            raise
        self._received(claimed, limit, askers, watching=claimed.watching)

    def _received(
        self,
        claimed: Claimed,
        limit: int,
        askers: list[asyncio.Future[Claimed]],
        *,
        watching: bool | None,
    ) -> None:
        self.ailing = False
        take_over = self._runner.refuse if self._slots.closed else self._runner.start
        for held in claimed.jobs:
            take_over(held, claimed.now_ms, self.ended)
        brought = len(claimed.jobs)
        if claimed.set_aside:
            self._journal.set_aside(self.queue, claimed.set_aside)
        # One that was asked for more than nothing and got nothing has nothing for us.
        fruitless = limit > 0 and brought == 0 and claimed.set_aside == 0
        more = claimed.left > 0 and not claimed.paused and not fruitless
        self._slots.put_back(self.queue, limit - brought, more=more)
        if self._heard is not None:
            self._heard(claimed, watching=watching)
        for asker in askers:
            if not asker.done():
                asker.set_result(claimed)

    def _failed(
        self, limit: int, askers: list[asyncio.Future[Claimed]], error: BaseException | None
    ) -> None:
        self._slots.put_back(self.queue, limit, more=False)
        for asker in askers:
            if isinstance(error, Exception) and not asker.done():
                asker.set_exception(error)
            else:
                asker.cancel()
