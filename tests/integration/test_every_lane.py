"""Any history of lanes, held to their laws.

After each step the ring holds just the lanes that can be served, once each; as many jobs are
counted as active as are; each job is in one place, and in its own lane.
"""

from collections.abc import Callable, Generator
from typing import cast

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    precondition,
    rule,
    run_state_machine_as_test,
)

from echomq_worker.domain.job import JobId, NewJob
from echomq_worker.domain.lanes import Reassigned, Turn
from echomq_worker.domain.outcome import (
    Buried,
    Completed,
    HandedBack,
    Outcome,
    Retried,
    Snoozed,
    Verdict,
)
from echomq_worker.protocol import scripts
from echomq_worker.store import Places, Removed, Requeued
from tests.support.jobs import LEASE_MS
from tests.support.lane_machine import LANES, LaneMachine

LANE = st.sampled_from(LANES)
WHERE = st.sampled_from([*LANES, None])
NTH = st.integers(0, 5)
COUNT = st.integers(1, 4)
OUTCOMES: dict[str, Outcome] = {
    "complete": Completed(),
    "retry": Retried(0, "again"),
    "snooze": Snoozed(0),
    "back": HandedBack(),
    "bury": Buried("no"),
}


class Lanes(LaneMachine):
    """Jobs come and go, and somebody turns every knob."""

    @rule(lane=WHERE, count=st.integers(1, 3))
    def enqueue(self, lane: str | None, count: int) -> None:
        jobs = [NewJob(self.new_id(), b"", group=self.group(lane), lane=lane) for _ in range(count)]
        self.do(self.queue.enqueue(jobs))
        self.homes |= {job.id: lane for job in jobs}

    @rule(limit=COUNT)
    def claim(self, limit: int) -> None:
        expected = self.serviceable()
        claimed = self.do(self.line.claim(limit=limit, lease_ms=LEASE_MS, promote=0))
        took = self.take(claimed)
        assert took or self.spoilt or not expected, "there was work, and nobody got it"
        self.forget_the_spoilt()

    @rule(limit=COUNT, turn=st.sampled_from(Turn))
    def claim_from_the_next_lane(self, limit: int, turn: Turn) -> None:
        expected = self.serviceable()
        claimed = self.do(self.line.claim_lane(limit=limit, lease_ms=LEASE_MS, turn=turn))
        took = self.take(claimed)
        assert len({job.group for job in took}) <= 1
        assert len(took) <= (1 if turn is Turn.SINGLE else limit)
        assert took or self.spoilt or not expected
        self.forget_the_spoilt()

    @rule(lane=LANE, limit=COUNT)
    def claim_from_one_lane(self, lane: str, limit: int) -> None:
        waiting = self.waiting(lane)
        served = lane in self.serviceable()
        claimed = self.do(self.line.claim_lane(limit=limit, lease_ms=LEASE_MS, lane=lane))
        took = [job.id for job in self.take(claimed)]
        readable = [id_ for id_ in waiting if id_ not in self.spoilt]
        assert took == readable[: len(took)]
        assert len(took) <= limit
        assert (took != []) <= served
        assert took or self.spoilt or not served
        self.forget_the_spoilt()

    @precondition(lambda self: self.held)
    @rule(kind=st.sampled_from(sorted(OUTCOMES)), nth=NTH)
    def settle(self, kind: str, nth: int) -> None:
        job = list(self.held.values())[nth % len(self.held)]
        settled = self.do(self.line.settle([(job, OUTCOMES[kind])]))
        del self.held[job.id]
        if settled.verdicts == [Verdict.OK] and kind == "complete":
            del self.homes[job.id]

    @precondition(lambda self: self.held)
    @rule(nth=NTH, limit=st.integers(1, 2))
    def settle_and_claim(self, nth: int, limit: int) -> None:
        job = list(self.held.values())[nth % len(self.held)]
        call = self.line.settle([(job, HandedBack())], limit=limit, lease_ms=LEASE_MS)
        del self.held[job.id]
        self.take(self.do(call).claimed)
        self.forget_the_spoilt()

    @precondition(lambda self: self.active())
    @rule(nth=NTH, lane=WHERE)
    def a_lease_is_lost(self, nth: int, lane: str | None) -> None:
        lost = self.active()[nth % len(self.active())]
        self.client.zadd(self.keys.active, {lost: 1})
        if lane is None:
            assert self.do(self.queue.reap(5)).recovered == (lost,)
            return
        mine = self.homes[lost] == lane
        assert self.do(self.lanes.reap(lane)).recovered == ((lost,) if mine else ())
        self.do(self.queue.reap(5))

    @rule()
    def promote(self) -> None:
        self.do(self.queue.promote(10))

    # --- the operator ----------------------------------------------------------------------

    @rule(lane=LANE)
    def pause(self, lane: str) -> None:
        assert self.do(self.lanes.pause(lane, reason="tests")) == (lane not in self.paused)
        self.paused.add(lane)

    @rule(lane=LANE)
    def resume(self, lane: str) -> None:
        assert self.do(self.lanes.resume(lane)) == (lane in self.paused)
        self.paused.discard(lane)

    @rule(lane=LANE, limit=st.sampled_from([None, 1, 1, 2, 3]))
    def limit(self, lane: str, limit: int | None) -> None:
        self.do(self.lanes.limit(lane, limit))
        self.limits.pop(lane, None)
        if limit is not None:
            self.limits[lane] = limit

    @rule(lane=LANE, weight=st.sampled_from([None, 1, 2, 3]))
    def weight(self, lane: str, weight: int | None) -> None:
        self.do(self.lanes.weight(lane, weight))

    @rule(lane=LANE, on=st.booleans())
    def first(self, *, lane: str, on: bool) -> None:
        self.do(self.lanes.first(lane, on=on))

    @precondition(lambda self: self.homes)
    @rule(nth=NTH, lane=LANE, flat=st.booleans())
    def reassign(self, *, nth: int, lane: str, flat: bool) -> None:
        id_ = list(self.homes)[nth % len(self.homes)]
        home = self.homes[id_]
        waits = id_ in (self.flat() if home is None else self.waiting(home))
        if id_ in self.spoilt:
            return
        became = self.do(self.lanes.reassign(id_, lane, flat=flat))
        if home is None and not flat:
            assert became is Reassigned.NOT_FOUND
        elif home == lane:
            assert became is Reassigned.NOOP
        elif not waits:
            assert became is Reassigned.NOT_PENDING
        else:
            assert became is Reassigned.OK
            self.homes[id_] = lane

    @rule(lane=LANE)
    def drain(self, lane: str) -> None:
        waiting = self.waiting(lane)
        assert self.do(self.lanes.drain(lane)) == len(waiting)
        for id_ in waiting:
            del self.homes[id_]
            self.spoilt.discard(id_)

    @precondition(lambda self: self.homes)
    @rule(nth=NTH)
    def remove(self, nth: int) -> None:
        id_ = list(self.homes)[nth % len(self.homes)]
        if id_ not in self.spoilt and self.do(self.queue.remove(id_, Places.ANY)) is Removed.OK:
            del self.homes[id_]

    @precondition(lambda self: self.homes)
    @rule(nth=NTH)
    def requeue(self, nth: int) -> None:
        dead = [id_ for id_ in self.homes if self.client.zscore(self.keys.dead, id_) is not None]
        if dead:
            assert self.do(self.queue.requeue([dead[nth % len(dead)]])) == [Requeued.OK]

    @rule(lane=LANE, nth=NTH)
    def a_row_is_spoilt(self, lane: str, nth: int) -> None:
        if waiting := self.waiting(lane):
            id_ = waiting[nth % len(waiting)]
            self.client.hset(self.keys.job(id_), "attempts", "spoilt")
            self.spoilt.add(id_)

    @rule()
    def every_lane_is_told(self) -> None:
        views = {view.name: view for view in self.do(self.lanes.list())}
        actives = self.actives()
        for lane in LANES:
            view = self.do(self.lanes.inspect(lane))
            assert (view.waiting, view.active) == (len(self.waiting(lane)), actives[lane])
            assert (view.paused is not None, view.limit) == (
                lane in self.paused,
                self.limits.get(lane),
            )
            assert views.get(lane, view) == view
            assert lane in views or not view.waiting

    # --- parts -----------------------------------------------------------------------------

    def flat(self) -> list[JobId]:
        return self.client.zrange(self.keys.pending, 0, -1)  # type: ignore[return-value]

    def forget_the_spoilt(self) -> None:
        """What was set aside is no job any more."""
        for id_ in list(self.spoilt):
            home = self.homes[id_]
            if id_ not in self.waiting(home or ""):
                self.spoilt.discard(id_)
                del self.homes[id_]


def run(server_url: str, new_queue_name: Callable[[], str], examples: int) -> None:
    """Run the machine on queues of its own."""

    def machine() -> Lanes:
        return Lanes(server_url, new_queue_name())

    run_state_machine_as_test(
        cast("type[RuleBasedStateMachine]", machine),
        settings=settings(
            max_examples=examples,
            stateful_step_count=40,
            deadline=None,
            print_blob=True,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )


@pytest.mark.broken_state  # rows are spoilt
@pytest.mark.slow
def test_any_history_of_lanes_keeps_their_laws(server_url: str, new_queue_name: Callable[[], str]):
    run(server_url, new_queue_name, 25)


@pytest.fixture
def unsearched_ring(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """Let scripts take every ring for one that is too long to be searched."""
    read = scripts._read

    def patched(name: str) -> str:
        text = read(name)
        assert name != "lib/lanes.lua" or "SEARCHED = 128" in text
        return text.replace("SEARCHED = 128", "SEARCHED = 0")

    monkeypatch.setattr(scripts, "_read", patched)
    scripts.script.cache_clear()
    assert "SEARCHED = 0" in scripts.script("claim").source
    yield
    monkeypatch.undo()
    scripts.script.cache_clear()


@pytest.mark.broken_state  # rows are spoilt
@pytest.mark.slow
@pytest.mark.usefixtures("unsearched_ring")
def test_any_history_of_so_many_lanes_that_nobody_looks_through_them_keeps_their_laws(
    server_url: str, new_queue_name: Callable[[], str]
):
    run(server_url, new_queue_name, 25)
