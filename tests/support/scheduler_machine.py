"""Two schedulers on a server and in a model, for tests of any history: what must always hold."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import redis
from hypothesis.stateful import RuleBasedStateMachine, invariant

from echomq_worker.domain.job import Held, JobId
from echomq_worker.domain.scheduling.records import (
    Fired,
    Firing,
    SchedulerState,
    SchedulerView,
    Whole,
)
from echomq_worker.store import QueueStore, Server, ServerOptions
from echomq_worker.store.schedulers import SchedulerStore
from echomq_worker.store.wire import PrivateWire
from tests.support.audit import complaints_of
from tests.support.cut_wire import CutWire, Fault
from tests.support.jobs import job_id
from tests.support.least_rights import unrestricted
from tests.support.scheduler_model import SchedulerModel
from tests.support.stores import no_trouble

PERIOD_MS = 10_000_000_000
"""So long that no instant comes while the test runs."""
HOUR_MS = 3_600_000
HELD_LOOK_MS = 10_000


class SchedulerMachine(RuleBasedStateMachine):
    """Two workers of one queue, each with a wire that may be cut, and the model."""

    def __init__(self, url: str, queue: str) -> None:
        super().__init__()
        self.url = url
        self.runner = asyncio.Runner()
        self.client = redis.Redis.from_url(unrestricted(url))
        self.server = Server(ServerOptions(url=url))
        self.queue: QueueStore = self.server.queue(queue)
        self.keys = self.queue.keys
        self.line = self.queue.line(trouble=no_trouble)
        self.wires = [CutWire(PrivateWire(self.queue._client)) for _ in range(2)]
        self.stores = [SchedulerStore(self.keys, wire, self.unmarked) for wire in self.wires]
        self.plans: list[list[Firing]] = [[], []]
        self.late: list[tuple[CutWire, list[Firing]]] = []
        self.held: dict[str, Held] = {}
        self.minted = 0
        self.model = SchedulerModel()

    async def unmarked(self, *, claim: bool) -> None:
        """Leave the marks of the queue alone."""

    def teardown(self) -> None:
        self.the_doctor_finds_nothing()
        for wire in self.wires:
            self.do(wire.aclose())
        self.do(self.line.aclose())
        self.do(self.server.aclose())
        self.client.close()
        self.runner.close()

    def do(self, call: Any) -> Any:
        return self.runner.run(call)

    def mint(self) -> JobId:
        self.minted += 1
        return job_id(self.minted)

    def now_ms(self) -> int:
        seconds, micros = self.client.time()
        return seconds * 1000 + micros // 1000

    def break_next(self, who: int, script: str, fault: Fault | None) -> SchedulerStore:
        self.wires[who].only = script
        if fault is not None:
            self.wires[who].next_calls(fault)
        return self.stores[who]

    # --- what must hold --------------------------------------------------------------------

    @invariant()
    def every_occurrence_made_one_job_at_most(self) -> None:
        assert len(set(self.model.made)) == len(self.model.made)

    @invariant()
    def everything_is_as_the_model_says(self) -> None:
        listed: Sequence[SchedulerView] = self.do(self.stores[0].list(10))
        views = {view.name: view for view in listed}
        assert set(views) == set(self.model.schedulers)
        self.it_wakes_when_it_should(views)
        for name, view in views.items():
            said = self.model.schedulers[name]
            assert view.spec is not None
            assert (view.digest, view.revision) == (said.digest, said.revision)
            assert (view.next_ms, view.last_ms) == (said.next_ms, said.last_ms)
            assert (view.held_ms, view.ended) == (said.held_ms, said.ended)
            counts = (view.count, view.missed, view.skipped)
            assert counts == (said.count, said.missed, said.skipped)
            assert (view.paused and view.paused.reason) == said.paused
            assert [(run.job_id, run.outcome) for run in view.runs] == [
                (run.job, run.outcome) for run in said.runs
            ]
            for run, told in zip(said.runs, view.runs, strict=True):
                assert run.instant_ms in {None, told.instant_ms}

    def it_wakes_when_it_should(self, views: Mapping[str, SchedulerView]) -> None:
        for name, said in self.model.schedulers.items():
            view = views[name]
            if said.paused is not None:
                assert (view.state, view.wake_ms) == (SchedulerState.PAUSED, None)
            elif said.held_ms is not None:
                assert view.wake_ms is not None
                assert view.wake_ms <= self.now_ms() + HELD_LOOK_MS
            else:
                assert view.wake_ms == said.next_ms

    @invariant()
    def the_jobs_are_those_that_were_made(self) -> None:
        for state, key in (("pending", self.keys.pending), ("dead", self.keys.dead)):
            found = cast("list[bytes]", self.client.zrange(key, 0, -1))
            assert [job.decode() for job in found] == self.jobs_in(state)
        prefix = self.keys.root + "job:"
        keys = cast("Iterator[bytes]", self.client.scan_iter(f"{prefix}*"))
        rows = {key.decode().removeprefix(prefix) for key in keys}
        assert rows == set(self.model.jobs)

    def the_doctor_finds_nothing(self) -> None:
        assert complaints_of(self.url, self.keys.queue) == []

    # --- how it is seen --------------------------------------------------------------------

    def jobs_in(self, *states: str) -> list[str]:
        return sorted(job for job, state in self.model.jobs.items() if state in states)

    def compare(self, fired: Sequence[Fired], said: list[str]) -> None:
        wholes = {"x": Whole.TAKEN, "i": Whole.ID_TAKEN}
        letters = {"fired": "1", "skipped": "s", "held": "q", "done": "d"}
        for each, word in zip(fired, said, strict=True):
            if word in wholes:
                assert each.whole is wholes[word]
            else:
                assert "".join(letters[str(verdict)] for verdict in each.verdicts) == word

    def shift(self, name: str, ms: int) -> None:
        """Move all instants of a scheduler, and those on its jobs, into the past."""
        key = self.keys.scheduler(name)
        stored = {
            field.decode(): value.decode("latin-1")
            for field, value in cast("dict[bytes, bytes]", self.client.hgetall(key)).items()
        }
        for field, value in stored.items():
            if field in {"next", "last", "held"} and value:
                self.client.hset(key, field, int(value) - ms)
            elif field == "runs":
                moved = " ".join(str(int(instant) - ms) for instant in value.split())
                self.client.hset(key, field, moved)
            elif field.startswith("run:"):
                self.client.hdel(key, field)
        for field, value in stored.items():
            if field.startswith("run:"):
                self.client.hset(key, f"run:{int(field[4:]) - ms}", value)
        for job in self.model.jobs:
            row = self.keys.job(job)
            if self.model.owners[job] == name and (instant := self.client.hget(row, "instant")):
                self.client.hset(row, "instant", int(cast("bytes", instant)) - ms)
        self.client.zincrby(self.keys.schedulers, -ms, name)
