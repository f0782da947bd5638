"""Any history of two schedulers, their jobs and two workers, held to a model and to the laws.

Calls are lost, answered into the void, or come late; plans are fired long after they were made.
Time passes by moving all that has happened into the past.
"""

from collections.abc import Callable, Sequence
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

from echomq_worker.domain.job import JobId
from echomq_worker.domain.outcome import Buried, Completed, Outcome, Retried
from echomq_worker.domain.scheduling.firing import firing_of
from echomq_worker.domain.scheduling.records import Due, Fired, Firing, Whole
from echomq_worker.domain.scheduling.spec import SchedulerSpec
from echomq_worker.domain.scheduling.template import Template
from echomq_worker.store import Places
from tests.support.cut_wire import Fault
from tests.support.scheduler_machine import HOUR_MS, PERIOD_MS, SchedulerMachine
from tests.support.schedulers import every

NAMES = st.sampled_from(["s1", "s2"])
WORKERS = st.sampled_from([0, 1])
FAULTS = st.sampled_from([None, None, None, *Fault])
NOT_LATE = st.sampled_from([None, Fault.LOST, Fault.UNANSWERED])
SPECS = st.fixed_dictionaries(
    {
        "period_ms": st.sampled_from([PERIOD_MS, 2 * PERIOD_MS]),
        "template": st.sampled_from([Template(name="a"), Template(name="b", payload=b"b")]),
        "overlap": st.sampled_from(["allow", "allow", "skip", "queue-one", "queue-one"]),
        "misfire": st.sampled_from(["latest", "all", "all(max=2)", "none"]),
        "limit": st.sampled_from([None, None, None, 2]),
        "revision": st.sampled_from([0, 0, 0, 1]),
    }
)
SELDOM = st.sampled_from([False, False, False, True])
OTHERS = st.sampled_from(["fire", "pause", "put", "force"])
ENDS = st.sampled_from(["complete", "complete", "complete", "bury", "retry"])
OUTCOMES: dict[str, Outcome] = {
    "complete": Completed(),
    "bury": Buried("no"),
    "retry": Retried(HOUR_MS, "later"),
}


class Schedulers(SchedulerMachine):
    """Two names, two workers, and all that may happen to them."""

    @initialize(first=SPECS, second=SPECS, periods=st.integers(0, 3))
    def begin(self, first: dict[str, Any], second: dict[str, Any], periods: int) -> None:
        for name, said in (("s1", first), ("s2", second)):
            self.put(who=0, name=name, said=said, force=False, fault=None)
        self.time_passes(periods)

    # --- what may happen -------------------------------------------------------------------

    @rule(who=WORKERS, name=NAMES, said=SPECS, force=st.booleans(), fault=FAULTS)
    def put(
        self, *, who: int, name: str, said: dict[str, Any], force: bool, fault: Fault | None
    ) -> None:
        spec: SchedulerSpec = every(name, **said)
        store = self.break_next(who, "put_scheduler", fault)
        verdict = self.do(store.put(spec, force=force, source="code", tz=""))
        assert verdict == self.model.put(spec, force=force, now_ms=self.now_ms())

    @rule(who=WORKERS, name=NAMES, fault=FAULTS)
    def pause(self, who: int, name: str, fault: Fault | None) -> None:
        store = self.break_next(who, "pause_scheduler", fault)
        said = self.do(store.pause(name, reason=f"by {who}"))
        assert said == self.model.pause(name, f"by {who}")

    @rule(who=WORKERS, name=NAMES, fault=FAULTS)
    def resume(self, who: int, name: str, fault: Fault | None) -> None:
        store = self.break_next(who, "resume_scheduler", fault)
        assert self.do(store.resume(name)) == self.model.resume(name, self.now_ms())
        self.wires[who]._faults.clear()  # one that is not paused is not resumed by a call

    @rule(who=WORKERS, name=NAMES, fault=FAULTS, sure=SELDOM)
    def remove(self, *, who: int, name: str, fault: Fault | None, sure: bool) -> None:
        if not sure and name in self.model.schedulers:
            return
        store = self.break_next(who, "remove_scheduler", fault)
        assert self.do(store.remove(name)) == self.model.remove(name)

    @rule(who=WORKERS, name=NAMES, fault=FAULTS)
    def trigger(self, who: int, name: str, fault: Fault | None) -> None:
        store, job = self.break_next(who, "trigger_scheduler", fault), self.mint()
        assert self.do(store.trigger(name, job)) == self.model.trigger(name, job)

    @rule(who=WORKERS, name=NAMES, later=st.integers(1, 1000), fault=NOT_LATE)
    def retime(self, who: int, name: str, later: int, fault: Fault | None) -> None:
        """Newer tz data moves the next instant a little.

        A call that comes late may find the instant that it knows once more, after a pause. It moves
        it then, as the newer data say.
        """
        view = self.do(self.stores[who].get(name))
        if view is None or view.next_ms is None:
            return
        next_ms = view.next_ms + later
        store = self.break_next(who, "retime_scheduler", fault)
        moved = self.do(
            store.retime(
                name,
                expected_ms=view.next_ms,
                digest=view.digest,
                next_ms=next_ms,
                wake_ms=next_ms,
                tz="",
            )
        )
        assert moved == (fault is not Fault.UNANSWERED)
        self.model.schedulers[name].next_ms = next_ms

    @rule(who=WORKERS, name=NAMES, fault=FAULTS, sure=SELDOM)
    def set_aside(self, *, who: int, name: str, fault: Fault | None, sure: bool) -> None:
        """Somebody breaks a declaration; a worker finds it."""
        if sure and self.client.exists(self.keys.scheduler(name)):
            self.client.hset(self.keys.scheduler(name), "every", "x")
            store = self.break_next(who, "aside_scheduler", fault)
            assert self.do(store.set_aside(name, "x")) == (fault is not Fault.UNANSWERED)
            self.client.delete(self.keys.scheduler_aside(name))
            self.model.remove(name)

    @rule(who=WORKERS, limit=st.integers(1, 2))
    def plan(self, who: int, limit: int) -> None:
        """A worker reads what is due. Until it fires that, much may happen."""
        due: Due = self.do(self.stores[who].due(limit))
        self.plans[who] = [
            firing_of(one, one.spec, now_ms=due.now_ms, version="", mint=self.mint)
            for one in due.schedulers
            if one.spec is not None
        ]

    @precondition(lambda self: any(self.plans))
    @rule(fault=FAULTS)
    def fire_what_was_planned(self, fault: Fault | None) -> None:
        self.fire(0 if self.plans[0] else 1, fault)

    @rule(who=WORKERS, periods=st.integers(1, 3), fault=FAULTS)
    def fire_in_time(self, who: int, periods: int, fault: Fault | None) -> None:
        self.time_passes(periods)
        self.plan(who, 2)
        if self.plans[who]:
            self.fire(who, fault)

    @rule(who=WORKERS, fault=FAULTS)
    def fire_what_is_due(self, who: int, fault: Fault | None) -> None:
        self.plan(who, 2)
        if self.plans[who]:
            self.fire(who, fault)

    @rule(name=NAMES, said=SPECS, by=OTHERS, fault=FAULTS)
    def be_overtaken(self, name: str, said: dict[str, Any], by: str, fault: Fault | None) -> None:
        """Between a worker's look and its firing, somebody else is quicker."""
        self.time_passes(1)
        self.plan(0, 2)
        if by == "fire":
            self.fire_what_is_due(1, None)
        elif by == "pause":
            self.pause(1, name, None)
        else:
            self.put(who=1, name=name, said=said, force=by == "force", fault=None)
        if self.plans[0]:
            self.fire(0, fault)

    def fire(self, who: int, fault: Fault | None) -> None:
        plan = self.plans[who]
        store = self.break_next(who, "fire", fault)
        fired: Sequence[Fired] = self.do(store.fire(plan))
        if fault is Fault.UNANSWERED:
            list(self.model.fire(plan))  # what was done, and what the second call finds
        elif fault is Fault.LATE:
            self.late.append((self.wires[who], plan))
        self.compare(fired, list(self.model.fire(plan)))

    @precondition(lambda self: self.jobs_in("pending"))
    @rule(name=NAMES, who=WORKERS)
    def fire_with_an_id_that_is_taken(self, name: str, who: int) -> None:
        self.plan(who, 2)
        taken = JobId(self.jobs_in("pending")[0])
        plan = [
            Firing(
                name=each.name,
                expected_ms=each.expected_ms,
                digest=each.digest,
                next_ms=each.next_ms,
                wake_ms=each.wake_ms,
                occurrences=((taken, each.occurrences[0][1]),),
            )
            for each in self.plans[who]
            if each.name == name and each.occurrences
        ]
        fired = self.do(self.stores[who].fire(plan))
        assert [each.whole for each in fired] == [Whole.ID_TAKEN] * len(plan)
        assert list(self.model.fire(plan)) == ["i"] * len(plan)

    @precondition(lambda self: self.jobs_in("pending"))
    @rule()
    def claim(self) -> None:
        claimed = self.do(self.line.claim(limit=1, lease_ms=HOUR_MS, promote=0))
        (held,) = claimed.jobs
        self.held[held.id] = held
        self.model.jobs[held.id] = "active"

    @precondition(lambda self: self.held)
    @rule(which=st.integers(0, 9), how=ENDS)
    def settle(self, which: int, how: str) -> None:
        job = sorted(self.held)[which % len(self.held)]
        self.do(self.line.settle([(self.held.pop(job), OUTCOMES[how])]))
        if how == "retry":
            self.model.jobs[job] = "scheduled"
        elif how == "bury":
            self.model.jobs[job] = "dead"
            self.model.ended(job, "dead")
        else:
            del self.model.jobs[job]
            self.model.ended(job, "completed")

    @precondition(lambda self: self.jobs_in("pending"))
    @rule(jobs=st.integers(1, 3), how=ENDS)
    def run_jobs(self, jobs: int, how: str) -> None:
        for _ in range(min(jobs, len(self.jobs_in("pending")))):
            self.claim()
        for _ in range(min(jobs, len(self.held))):
            self.settle(0, how)

    @rule(who=WORKERS, how=ENDS, fault=FAULTS)
    def a_busy_hour(self, who: int, how: str, fault: Fault | None) -> None:
        """What happens most of the time: it fires, and what was fired is run."""
        self.fire_in_time(who, 1, fault)
        self.run_jobs(2, how)

    @precondition(lambda self: self.jobs_in("pending", "scheduled", "dead"))
    @rule(which=st.integers(0, 9))
    def remove_a_job(self, which: int) -> None:
        jobs = self.jobs_in("pending", "scheduled", "dead")
        job = jobs[which % len(jobs)]
        self.do(self.queue.remove(JobId(job), Places.ANY))
        if self.model.jobs.pop(job) != "dead":
            self.model.ended(job, "removed")

    def time_passes(self, periods: int) -> None:
        self.the_doctor_finds_nothing()
        self.late_calls_come()
        self.plans = [[], []]
        self.model.pass_time(periods * PERIOD_MS)
        for name in self.model.schedulers:
            self.shift(name, periods * PERIOD_MS)

    @rule()
    def late_calls_come(self) -> None:
        for wire, plan in self.late:
            # It may have fired what the second call has kept back; never what that has fired.
            ids = [job for firing in plan for job, _ in firing.occurrences]
            before = len(self.model.made)
            list(self.model.fire(plan))
            assert len(self.model.made) - before <= len(ids)
            self.do(wire.deliver_late())
        self.late.clear()
        for wire in self.wires:
            self.do(wire.deliver_late())


@pytest.mark.slow
def test_any_history_of_schedulers_ends_as_the_model_says(
    server_url: str, new_queue_name: Callable[[], str]
):
    def machine() -> Schedulers:
        return Schedulers(server_url, new_queue_name())

    run_state_machine_as_test(
        cast("type[RuleBasedStateMachine]", machine),
        settings=settings(
            max_examples=15,
            stateful_step_count=50,
            deadline=None,
            print_blob=True,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
