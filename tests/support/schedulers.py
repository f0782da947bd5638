"""Schedulers for tests: declarations, and the calls that tests make all the time."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
import pytest_asyncio

from echomq_worker.domain.job import JobId
from echomq_worker.domain.scheduling.firing import firing_of
from echomq_worker.domain.scheduling.records import (
    Due,
    DueScheduler,
    Fired,
    Firing,
    OccurrenceVerdict,
    PutVerdict,
    SchedulerView,
    Whole,
)
from echomq_worker.domain.scheduling.spec import SchedulerSpec, scheduler_spec
from echomq_worker.domain.scheduling.template import Template
from echomq_worker.store import QueueStore
from echomq_worker.store.schedulers import SchedulerStore
from echomq_worker.store.wire import PrivateWire
from tests.support.cut_wire import CutWire
from tests.support.jobs import job_id
from tests.support.look import Look

PERIOD_MS = 600_000
TEMPLATE = Template(name="report", payload=b'{"a":1}')


def every(name: str = "s1", period_ms: int = PERIOD_MS, **said: Any) -> SchedulerSpec:
    """Declare a scheduler with an interval, ten minutes by default."""
    template = said.pop("template", TEMPLATE)
    return scheduler_spec(name, template=template, every=period_ms / 1000, **said)


def cron(expression: str, name: str = "s1", **said: Any) -> SchedulerSpec:
    """Declare a scheduler with a cron rule."""
    return scheduler_spec(name, template=said.pop("template", TEMPLATE), cron=expression, **said)


def firing(due: DueScheduler, occurrences: Sequence[tuple[JobId, int]], **said: Any) -> Firing:
    """Fire occurrences of a scheduler that was read, and go on an interval later."""
    next_ms = (due.next_ms or 0) + PERIOD_MS
    fired = Firing(
        name=due.name,
        expected_ms=due.next_ms,
        digest=due.digest,
        next_ms=next_ms,
        wake_ms=next_ms,
        occurrences=tuple(occurrences),
    )
    return replace(fired, **said)


@dataclass
class Timetable:
    """The schedulers of a test's queue, and the clock hands of each."""

    store: SchedulerStore
    look: Look
    minted: int = 100

    async def put(self, spec: SchedulerSpec, *, force: bool = False, tz: str = "") -> PutVerdict:
        """Declare a scheduler as code does."""
        return await self.store.put(spec, force=force, source="code", tz=tz)

    async def view(self, name: str = "s1") -> SchedulerView:
        """Return a scheduler that must be there."""
        view = await self.store.get(name)
        assert view is not None
        return view

    async def make_due(self, name: str = "s1", *, periods: int = 1) -> int:
        """Let the next occurrence be so many whole periods ago; return its instant."""
        now_ms = await self.store.now_ms()
        instant = now_ms - now_ms % PERIOD_MS - (periods - 1) * PERIOD_MS
        await self.set_next(name, instant)
        return instant

    async def set_next(self, name: str, instant: int) -> None:
        """Let the next occurrence be at an instant, whatever was fired before."""
        key = self.look.keys.scheduler(name)
        await self.look.do("HSET", key, "next", instant)
        last = await self.look.do("HGET", key, "last")
        if last and int(last) >= instant:
            await self.look.do("HSET", key, "last", instant - 1)
        await self.look.do("ZADD", self.look.keys.schedulers, instant, name)

    async def due(self) -> Due:
        """Read what is due."""
        return await self.store.due()

    async def due_one(self) -> DueScheduler:
        """Read the one scheduler that must be due."""
        (one,) = (await self.store.due()).schedulers
        return one

    def mint(self) -> JobId:
        """Return a fresh id."""
        self.minted += 1
        return job_id(self.minted)

    async def plan(self, due: Due) -> list[Firing]:
        """Plan as a worker does."""
        return [
            firing_of(one, one.spec, now_ms=due.now_ms, version="", mint=self.mint)
            for one in due.schedulers
            if one.spec is not None
        ]

    async def fire_due(self) -> list[Fired]:
        """Fire all that is due, as a worker does."""
        return list(await self.store.fire(await self.plan(await self.store.due())))

    async def fire_one(self) -> list[str]:
        """Fire the one scheduler that is due; return the verdicts as words."""
        (fired,) = await self.fire_due()
        assert fired.whole is Whole.OK
        return words(fired)

    async def jobs(self) -> list[str]:
        """Return the ids of the jobs that wait, in order."""
        return await self.look.members(self.look.keys.pending)


def words(fired: Fired) -> list[str]:
    """Return the verdicts of a firing as words."""
    return [str(verdict) for verdict in fired.verdicts]


FIRED, HELD = str(OccurrenceVerdict.FIRED), str(OccurrenceVerdict.HELD)
SKIPPED, DONE = str(OccurrenceVerdict.SKIPPED), str(OccurrenceVerdict.DONE)


@pytest.fixture
def times(queue: QueueStore, look: Look) -> Timetable:
    """The schedulers of the queue."""
    return Timetable(queue.schedulers, look)


@dataclass
class CutTimes:
    """A timetable over a wire that fails when told to."""

    times: Timetable
    wire: CutWire


@pytest_asyncio.fixture
async def cut(queue: QueueStore, look: Look) -> AsyncGenerator[CutTimes]:
    """The schedulers of the queue, over a wire that fails when told to."""
    wire = CutWire(PrivateWire(queue._client))

    async def verified(*, claim: bool) -> None:
        """Leave the marks of the queue alone."""

    yield CutTimes(Timetable(SchedulerStore(queue.keys, wire, verified), look), wire)
    await wire.aclose()
