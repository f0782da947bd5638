"""Any history of a few jobs and a few callers, held to a model in plain Python and to the laws.

Workers settle late, twice or never; calls are lost, answered into the void, or come late. After
each step the whole queue on the server is what the model says.
"""

from collections.abc import Callable, Coroutine
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from echomq_worker.domain.job import After, At, JobId
from echomq_worker.store import Places
from tests.support.cut_wire import Fault
from tests.support.jobs import A, B, C, new_job
from tests.support.queue_machine import HOUR_MS, QueueMachine
from tests.support.queue_model import CODES
from tests.support.queue_state import TO_COME

WORKERS = st.sampled_from([0, 1])
IDS = st.sampled_from([A, B, C])
FEW = st.integers(0, 3)
AGO = st.integers(0, 5)
FAULTS = st.sampled_from([None, None, None, *Fault])
MOVE_FAULTS = st.sampled_from([None, None, None, None, Fault.UNANSWERED, Fault.LATE])
KINDS = st.sampled_from(
    ["complete", "keep", "retry", "free", "bury", "snooze", "unknown", "return"]
)


class Histories(QueueMachine):
    """Three jobs, and all that may happen to them."""

    @initialize(limit=st.integers(1, 3), bound=st.sampled_from([None, 2]))
    def begin_with_work(self, limit: int, bound: int | None) -> None:
        self.enqueue(ids=[A, B, C], due=False, most=bound, fault=None)
        self.claim(0, limit, 0, None)

    # --- what may happen -------------------------------------------------------------------

    @rule(
        ids=st.lists(IDS, min_size=1, max_size=3),
        due=st.booleans(),
        most=st.sampled_from([None, 2]),
        fault=FAULTS,
    )
    def enqueue(
        self, *, ids: list[JobId], due: bool, most: int | None, fault: Fault | None
    ) -> None:
        delay = self.delay() if due else None
        jobs = [new_job(id_, after_ms=delay, max_attempts=most) for id_ in ids]
        if fault is not None:
            self.producers_wire.next_calls(fault)
        admissions = self.do(self.queue.enqueue(jobs))
        verdicts = self.apply(
            self.queue._producer.caller.name,
            fault,
            lambda call: self.model.enqueue(call, ids, delay, most),
        )
        assert [one.value != "duplicate" for one in admissions] == [one == "1" for one in verdicts]
        for id_, verdict in zip(ids, verdicts, strict=True):
            if verdict == "1":
                self.alive += 1
                self.tokens[id_] = 0

    @rule(who=WORKERS, limit=FEW, promote=FEW, fault=FAULTS)
    def claim(self, who: int, limit: int, promote: int, fault: Fault | None) -> None:
        self.break_next(who, fault)
        claimed = self.do(self.lines[who].claim(limit=limit, lease_ms=HOUR_MS, promote=promote))
        said = self.apply(
            self.lines[who].caller.name, fault, lambda call: self.model.claim(call, limit, promote)
        )
        self.received(claimed, said)

    @rule(who=WORKERS, limit=st.integers(1, 3))
    def claim_and_lose_all_before_the_answer(self, who: int, limit: int) -> None:
        async def lose_all() -> None:
            active = cast("list[bytes]", self.client.zrange(self.keys.active, 0, -1))
            for number, id_ in enumerate(sorted(active)):
                self.client.zadd(self.keys.active, {id_: number}, xx=True)
            await self.queue.reap(2)

        def lose_all_of_the_model() -> None:
            self.model.active = {
                id_: number for number, id_ in enumerate(sorted(self.model.active))
            }
            self.model.reap(2, 0, 0)

        self.wires[who].meanwhile = lose_all
        self.break_next(who, Fault.UNANSWERED)
        claimed = self.do(self.lines[who].claim(limit=limit, lease_ms=HOUR_MS, promote=0))
        said = self.apply(
            self.lines[who].caller.name,
            Fault.UNANSWERED,
            lambda call: self.model.claim(call, limit, 0),
            lose_all_of_the_model,
        )
        self.received(claimed, said)

    @rule(
        who=WORKERS,
        limit=FEW,
        promote=FEW,
        reap=FEW,
        bound=st.sampled_from([0, 2]),
        fault=FAULTS,
    )
    def beat(
        self, who: int, limit: int, promote: int, reap: int, bound: int, fault: Fault | None
    ) -> None:
        self.break_next(who, fault)
        beat = self.do(
            self.lines[who].beat(
                limit=limit,
                lease_ms=HOUR_MS,
                promote=promote,
                reap=reap,
                crash_limit=bound,
                max_attempts=3,
            )
        )
        said, *reaped = self.apply(
            self.lines[who].caller.name,
            fault,
            lambda call: self.model.beat(
                call, limit, promote, lambda: self.model.reap(reap, bound, 3)
            ),
        )
        self.received(beat.claimed, said)
        assert [list(beat.reaped.recovered), list(beat.reaped.buried)] == reaped

    @rule(
        who=WORKERS,
        ended=st.lists(st.tuples(AGO, KINDS), min_size=1, max_size=3),
        limit=FEW,
        promote=FEW,
        fault=FAULTS,
    )
    def settle(
        self,
        who: int,
        ended: list[tuple[int, str]],
        limit: int,
        promote: int,
        fault: Fault | None,
    ) -> None:
        outcomes = [(self.claimed(ago), self.outcome(kind)) for ago, kind in ended]
        self.break_next(who, fault)
        settled = self.do(
            self.lines[who].settle(outcomes, limit=limit, lease_ms=HOUR_MS, promote=promote)
        )
        verdicts, said = self.apply(
            self.lines[who].caller.name,
            fault,
            lambda call: self.model.settle(call, outcomes, limit, promote),
        )
        assert "".join(CODES[verdict] for verdict in settled.verdicts) == verdicts
        self.hold_to_the_fence(outcomes, settled.verdicts)
        self.received(settled.claimed, said)

    @rule()
    def enqueue_all(self) -> None:
        self.enqueue(ids=[A, B, C], due=False, most=None, fault=None)

    @rule(who=WORKERS, kind=KINDS)
    def settle_the_newest(self, who: int, kind: str) -> None:
        self.settle(who, [(0, kind)], 0, 0, None)

    @rule(who=WORKERS)
    def run_all_that_waits(self, who: int) -> None:
        self.claim(who, 3, 3, None)
        self.settle(who, [(0, "complete"), (1, "retry"), (2, "bury")], 3, 3, None)

    @rule(agos=st.lists(AGO, min_size=1, max_size=3))
    def extend(self, agos: list[int]) -> None:
        jobs = [self.claimed(ago) for ago in agos]
        assert self.do(self.queue.extend(jobs, HOUR_MS)) == self.model.extend(jobs, TO_COME)

    @precondition(lambda self: self.model.active)
    @rule(which=st.integers(0, 2), reap=st.booleans())
    def a_lease_runs_out(self, *, which: int, reap: bool) -> None:
        id_ = sorted(self.model.active)[which % len(self.model.active)]
        self.model.active[id_] = self.tick()
        self.client.zadd(self.keys.active, {id_: self.ticks}, xx=True)
        if reap:
            self.reap(1, 0, 0)

    @precondition(lambda self: self.model.schedule)
    @rule(which=st.integers(0, 2), promote=st.booleans())
    def the_time_of_a_job_comes(self, *, which: int, promote: bool) -> None:
        id_ = sorted(self.model.schedule)[which % len(self.model.schedule)]
        self.model.schedule[id_] = self.tick()
        self.client.zadd(self.keys.schedule, {id_: self.ticks}, xx=True)
        if promote:
            self.promote(1)

    @rule(limit=st.integers(1, 3))
    def promote(self, limit: int) -> None:
        assert self.do(self.queue.promote(limit)).moved == self.model.promote(limit)

    @rule(limit=st.integers(1, 3), crash_limit=FEW, max_attempts=st.sampled_from([0, 2]))
    def reap(self, limit: int, crash_limit: int, max_attempts: int) -> None:
        reaped = self.do(self.queue.reap(limit, crash_limit=crash_limit, max_attempts=max_attempts))
        said = self.model.reap(limit, crash_limit, max_attempts)
        assert (list(reaped.recovered), list(reaped.buried)) == said

    @rule(limit=st.integers(1, 3), max_stalled=FEW)
    def a_peer_sweeps(self, limit: int, max_stalled: int) -> None:
        swept = self.do(self.queue.sweep_stalled(limit, max_stalled))
        assert (list(swept.recovered), list(swept.buried)) == self.model.sweep(limit, max_stalled)

    @rule()
    def forget(self) -> None:
        assert self.do(self.queue.forget()) == self.model.forget()

    @rule()
    def pause(self) -> None:
        self.do(self.queue.pause())
        self.model.paused = True

    @precondition(lambda self: self.model.paused)
    @rule()
    def resume(self) -> None:
        self.do(self.queue.resume())
        self.model.resume()

    @precondition(lambda self: self.model.dead)
    @rule(ids=st.lists(IDS, min_size=1, max_size=3), fault=MOVE_FAULTS)
    def requeue(self, ids: list[JobId], fault: Fault | None) -> None:
        verdicts = self.move(self.queue.requeue(ids), fault)
        assert verdicts == self.apply(
            f"mover{self.moves}", fault, lambda call: self.model.requeue(call, ids)
        )

    @rule(
        ids=st.lists(IDS, min_size=1, max_size=3),
        past=st.booleans(),
        fault=MOVE_FAULTS,
    )
    def reschedule(self, *, ids: list[JobId], past: bool, fault: Fault | None) -> None:
        time = self.tick() if past else self.delay()
        verdicts = self.move(self.queue.reschedule(ids, At(time) if past else After(time)), fault)
        assert verdicts == self.apply(
            f"mover{self.moves}", fault, lambda call: self.model.reschedule(call, ids, time)
        )

    @rule(ids=st.lists(IDS, min_size=1, max_size=3), fault=MOVE_FAULTS)
    def promote_now(self, ids: list[JobId], fault: Fault | None) -> None:
        verdicts = self.move(self.queue.promote_now(ids), fault)
        assert verdicts == self.apply(
            f"mover{self.moves}", fault, lambda call: self.model.promote_now(call, ids)
        )

    def move(self, call: Coroutine[Any, Any, Any], fault: Fault | None) -> Any:
        self.moves += 1
        if fault is not None:
            self.movers_wire.next_calls(fault)
        return self.do(call)

    @rule(id_=IDS, places=st.sampled_from(Places), fault=MOVE_FAULTS)
    def remove(self, id_: JobId, places: Places, fault: Fault | None) -> None:
        removed = self.move(self.queue.remove(id_, places), fault)
        assert removed == self.apply(
            f"mover{self.moves}", fault, lambda call: self.model.remove(call, id_, places.value)
        )
        self.alive -= removed == "ok"

    @rule()
    def late_calls_arrive(self) -> None:
        for wire in (*self.wires, self.producers_wire, self.movers_wire):
            self.do(wire.deliver_late())


@pytest.mark.broken_state  # its workers retry for as long as they like
def test_any_history_ends_as_the_model_says(server_url: str, new_queue_name: Callable[[], str]):
    def machine() -> Histories:
        return Histories(server_url, new_queue_name())

    run_state_machine_as_test(
        cast("type[RuleBasedStateMachine]", machine),
        settings=settings(
            max_examples=50,
            stateful_step_count=50,
            deadline=None,
            print_blob=True,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
