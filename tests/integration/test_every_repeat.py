"""Any history of repeating registrations, ours and a peer's, held to a model in plain Python."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
import redis
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from echomq_worker.domain.job import JobId
from echomq_worker.store import Server, ServerOptions
from echomq_worker.store.wire import PrivateWire
from tests.support.cut_wire import CutWire, Fault
from tests.support.jobs import job_id
from tests.support.least_rights import unrestricted
from tests.support.queue_state import BELL_CAP

HOUR_MS = 3_600_000
NAMES = st.sampled_from(["a", "b", "c"])
FAULTS = st.sampled_from([None, None, *Fault])
BOTH = {"every_ms", "template"}


@dataclass
class Registration:
    """One name: whether it is due and since when, and which fields its record has."""

    is_member: bool = False
    due_ms: int | None = None
    """A small number, long past; None for a time to come."""
    grid_ms: int = 0
    """A time to come lies whole hours from here."""
    record: set[str] = field(default_factory=set[str])


@dataclass
class Model:
    """What the scripts should do."""

    names: dict[str, Registration]
    jobs: dict[str, str] = field(default_factory=dict[str, str])
    aside: set[str] = field(default_factory=set[str])
    moved: int = 0

    def due(self) -> list[str]:
        """Return the names that are due, the earliest first."""
        found = [
            (each.due_ms, name)
            for name, each in self.names.items()
            if each.is_member and each.due_ms is not None
        ]
        return [name for _, name in sorted(found)]

    def fire(self, ids: Sequence[JobId]) -> tuple[list[tuple[str, str]], list[str]]:
        """Fire with these ids; return what has fired and what was moved out of the way."""
        fresh = iter(ids)
        fired: list[tuple[str, str]] = []
        moved: list[str] = []
        for name in self.due()[: len(ids)]:
            one = self.names[name]
            if one.record != BOTH:
                moved.append(name)
                self.aside |= {name} if one.record else set()
                self.names[name] = Registration()
                self.moved += 1
                continue
            id_ = next((id_ for id_ in fresh if id_ not in self.jobs), None)
            if id_ is None:
                break
            self.jobs[id_] = f"of {name}"
            one.grid_ms, one.due_ms = one.due_ms or 0, None
            fired.append((name, id_))
        return fired, moved


class Repeats(RuleBasedStateMachine):
    """A worker that fires, an operator, and a peer that does as it likes to records."""

    def __init__(self, url: str, queue: str) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.client = redis.Redis.from_url(unrestricted(url), decode_responses=True)
        self.server = Server(ServerOptions(url=url))
        self.queue = self.server.queue(queue)
        self.keys = self.queue.keys
        self.wire = CutWire(PrivateWire(self.queue._client))
        self.queue._wire = self.wire  # pyright: ignore[reportAttributeAccessIssue] - it takes calls as any does
        self.model = Model({name: Registration() for name in "abc"})
        self.late: list[list[JobId]] = []
        self.minted = self.ticks = 0

    def teardown(self) -> None:
        self.do(self.wire.aclose())
        self.do(self.server.aclose())
        self.client.close()
        self.runner.close()

    def do(self, call: Any) -> Any:
        return self.runner.run(call)

    def mint(self, number: int) -> list[JobId]:
        self.minted += number
        return [job_id(self.minted - one) for one in range(number)]

    def is_nudged(self, name: str) -> None:
        """The watcher was told if this name is the first now."""
        if self.client.zrange(self.keys.repeat, 0, 0) == [name]:
            assert self.client.llen(self.keys.clock) == 1
        self.client.delete(self.keys.clock)

    # --- what may happen -------------------------------------------------------------------

    @rule(name=NAMES)
    def register(self, name: str) -> None:
        one = self.model.names[name]
        call = self.queue.repeats.register(name, HOUR_MS, f"of {name}".encode(), HOUR_MS)
        assert self.do(call) == (not one.record)
        if not one.record:
            score = cast("float", self.client.zscore(self.keys.repeat, name))
            self.model.names[name] = Registration(
                is_member=True, grid_ms=int(score), record=set(BOTH)
            )
            self.is_nudged(name)

    @rule(name=NAMES, hours=st.integers(1, 9))
    def put_off(self, name: str, hours: int) -> None:
        self.advance(name, self.now_ms() + hours * HOUR_MS, is_due=False)

    @rule(names=st.lists(NAMES, min_size=1, max_size=3))
    def the_time_of_some_comes(self, names: list[str]) -> None:
        for name in names:
            self.ticks += 1
            self.advance(name, self.ticks, is_due=True)

    def advance(self, name: str, next_ms: int, *, is_due: bool) -> None:
        one = self.model.names[name]
        assert self.do(self.queue.repeats.advance(name, next_ms)) == bool(one.record)
        one.is_member = bool(one.record)
        if one.record:
            one.due_ms, one.grid_ms = next_ms if is_due else None, next_ms
            self.is_nudged(name)

    @rule(name=NAMES)
    def cancel(self, name: str) -> None:
        assert self.do(self.queue.repeats.cancel(name)) == self.model.names[name].is_member
        self.model.names[name] = Registration()

    @rule(name=NAMES, gone=st.sampled_from(sorted(BOTH)))
    def a_peer_damages_a_record(self, name: str, gone: str) -> None:
        self.client.hdel(self.keys.repeat_record(name), gone)
        self.model.names[name].record.discard(gone)

    @rule(name=NAMES)
    def a_peer_forgets_the_time(self, name: str) -> None:
        self.client.zrem(self.keys.repeat, name)
        self.model.names[name].is_member = False

    @rule(number=st.integers(0, 4), taken=st.booleans(), fault=FAULTS)
    def fire(self, number: int, *, taken: bool, fault: Fault | None) -> None:
        ids = self.mint(number)
        if taken and self.model.jobs:
            ids = [JobId(min(self.model.jobs)), *ids]
        if fault is not None:
            self.wire.next_calls(fault)
        answer = self.do(self.queue.repeats.fire(ids))
        if fault is Fault.LATE:
            self.late.append(ids)
        if fault is Fault.UNANSWERED:
            self.model.fire(ids)
        fired, moved = self.model.fire(ids)
        assert list(answer.fired) == fired
        assert [name for name, _ in answer.set_aside] == moved

    @rule()
    def late_calls_arrive(self) -> None:
        said = self.do(self.wire.deliver_late())
        assert not [one for one in said if isinstance(one, Exception)]
        for ids in self.late:
            self.model.fire(ids)
        self.late.clear()

    # --- what must hold --------------------------------------------------------------------

    @invariant()
    def the_registrations_are_what_the_model_says(self) -> None:
        scores = dict(cast("Any", self.client.zrange(self.keys.repeat, 0, -1, withscores=True)))
        now_ms = self.now_ms()
        for name, one in self.model.names.items():
            assert (name in scores) == one.is_member
            assert set(cast("Any", self.client.hkeys(self.keys.repeat_record(name)))) == one.record
            if one.is_member and one.due_ms is None:
                assert scores[name] > now_ms
                assert (scores[name] - one.grid_ms) % HOUR_MS == 0
            elif one.is_member:
                assert scores[name] == one.due_ms
        due = self.do(self.queue.repeats.due(9))
        assert [each.name for each in due] == self.model.due()
        broken = {name for name, one in self.model.names.items() if one.record != BOTH}
        assert {each.name for each in due if each.problem} == broken & set(self.model.due())

    @invariant()
    def each_occurrence_is_one_job(self) -> None:
        ids = cast("list[str]", self.client.zrange(self.keys.pending, 0, -1))
        rows = {id_: cast("Any", self.client.hgetall(self.keys.job(id_))) for id_ in ids}
        assert rows == {
            id_: {"state": "pending", "attempts": "0", "payload": payload}
            for id_, payload in self.model.jobs.items()
        }
        assert self.client.llen(self.keys.bell) == min(BELL_CAP, len(ids))

    @invariant()
    def nothing_is_thrown_away(self) -> None:
        assert self.client.xlen(self.keys.quarantine) == self.model.moved
        for name in self.model.names:
            kept = self.client.pttl(f"{self.keys.root}aside:repeat:{name}")
            assert (kept > 0) == (name in self.model.aside)

    def now_ms(self) -> int:
        seconds, micros = self.client.time()
        return seconds * 1_000 + micros // 1_000


@pytest.mark.broken_state("a peer damages its records")
def test_any_history_of_repeats_ends_as_the_model_says(
    server_url: str, new_queue_name: Callable[[], str]
):
    def machine() -> Repeats:
        return Repeats(server_url, new_queue_name())

    run_state_machine_as_test(
        cast("type[RuleBasedStateMachine]", machine),
        settings=settings(
            max_examples=12,
            stateful_step_count=25,
            deadline=None,
            print_blob=True,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
