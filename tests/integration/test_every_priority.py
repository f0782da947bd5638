"""Any history of jobs with priorities: they come by priority, then by arrival, whatever happened.

A model in plain Python keeps the priority and the arrival number of each job, and the counter;
after each step the sets on the server are what it says, at both ends of the range and of the
counter.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
import redis
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from echomq_worker.domain.job import Held, JobId, NewJob
from echomq_worker.domain.outcome import Buried, Completed, HandedBack, Retried
from echomq_worker.domain.priority import HIGHEST, TIER, priority_score
from echomq_worker.store import Order, Reprioritized, Requeued, Server, ServerOptions
from tests.support.audit import complaints_of
from tests.support.jobs import job_id, new_job
from tests.support.least_rights import unrestricted
from tests.support.stores import no_trouble

HOUR_MS = 3_600_000
PRIORITIES = st.sampled_from([0, 0, -HIGHEST, -1, 1, 2, HIGHEST])
PICK = st.integers(0, 20)
COUNTERS = st.sampled_from([0, 2**31 - 1, 2**31 + 9, TIER - 3, TIER - 1, TIER + 5, 2**63 - 2])


@dataclass
class Job:
    """One job of the model."""

    id: JobId
    priority: int
    arrival: int | None = None
    place: str = "pending"
    held: Held | None = None

    @property
    def rank(self) -> tuple[int, int, JobId]:
        return self.priority, (self.arrival or 0) if self.priority else 0, self.id


class Priorities(RuleBasedStateMachine):
    """A producer, a worker and an operator."""

    def __init__(self, url: str, queue: str) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.client = redis.Redis.from_url(unrestricted(url), protocol=2)
        self.server = Server(ServerOptions(url=url))
        self.queue = self.server.queue(queue)
        self.root = self.queue.keys.root
        self.line = self.queue.line(trouble=no_trouble)
        self.jobs: dict[JobId, Job] = {}
        self.counter = self.minted = self.ticks = 0
        self.by_mint = False

    def teardown(self) -> None:
        try:
            self.all_come_in_order()
        finally:
            self.do(self.line.aclose())
            self.do(self.server.aclose())
            self.client.close()
            self.runner.close()

    def do(self, call: Any) -> Any:
        return self.runner.run(call)

    # --- the model -------------------------------------------------------------------------

    def those(self, place: str) -> list[Job]:
        return sorted((job for job in self.jobs.values() if job.place == place), key=lambda j: j.id)

    def pick(self, place: str, number: int) -> Job | None:
        found = self.those(place)
        return found[number % len(found)] if found else None

    def waits(self, job: Job) -> None:
        """It comes to wait, and gets a number unless it has one."""
        taken = any(each.priority for each in self.those("pending"))
        job.place = "pending"
        if job.priority and (job.arrival is None or (job.arrival and self.by_mint)):
            job.arrival = 0 if self.by_mint else self.next_arrival(taken=taken)

    def next_arrival(self, *, taken: bool) -> int:
        if self.counter >= 2**63 - 1:
            return TIER - 1
        self.counter += 1
        if self.counter >= TIER // 2 and not taken:
            self.counter = 1
        return min(self.counter, TIER - 1)

    def next_up(self, limit: int) -> list[Job]:
        return sorted(self.those("pending"), key=lambda job: job.rank)[:limit]

    # --- what may happen -------------------------------------------------------------------

    @rule(priorities=st.lists(PRIORITIES, min_size=1, max_size=4), later=st.booleans())
    def enqueue(self, priorities: list[int], *, later: bool) -> None:
        jobs: list[NewJob] = []
        for priority in priorities:
            self.minted += 1
            job = Job(job_id(self.minted * 7_919 % 10_007), priority)
            self.jobs[job.id] = job
            jobs.append(replace(new_job(job.id), priority=priority or None))
            if not later:
                job.place = "nowhere"
                self.waits(job)
        if later:
            self.ticks += 1
            jobs = [replace(each, due=new_job(each.id, after_ms=HOUR_MS).due) for each in jobs]
            for each in jobs:
                self.jobs[each.id].place = "schedule"
        self.do(self.queue.enqueue(jobs))

    @rule(limit=st.integers(1, 5), promote=st.integers(0, 2))
    def claim(self, limit: int, promote: int) -> None:
        due = self.make_due(promote)
        for job in due:
            self.waits(job)
        expected = self.next_up(limit)
        jobs = self.do(self.line.claim(limit=limit, lease_ms=HOUR_MS, promote=promote)).jobs
        assert [(job.id, job.priority) for job in jobs] == [
            (job.id, job.priority) for job in expected
        ]
        self.hold(jobs)

    @rule(number=PICK, what=st.sampled_from(["complete", "back", "retry", "bury"]))
    def settle(self, number: int, what: str) -> None:
        job = self.pick("active", number)
        if job is None or job.held is None:
            return
        outcome = {
            "complete": Completed(),
            "back": HandedBack(),
            "retry": Retried(HOUR_MS, "no"),
            "bury": Buried("no"),
        }[what]
        self.do(self.line.settle([(job.held, outcome)]))
        if what == "complete":
            del self.jobs[job.id]
        elif what == "back":
            self.waits(job)
        else:
            job.place = {"retry": "schedule", "bury": "dead"}[what]

    @rule(number=PICK, limit=st.integers(1, 3))
    def hand_back_and_claim(self, number: int, limit: int) -> None:
        job = self.pick("active", number)
        if job is None or job.held is None:
            return
        self.waits(job)
        expected = self.next_up(limit)
        settled = self.do(
            self.line.settle([(job.held, HandedBack())], limit=limit, lease_ms=HOUR_MS)
        )
        assert [each.id for each in settled.claimed.jobs] == [each.id for each in expected]
        self.hold(settled.claimed.jobs)

    @rule(number=PICK)
    def lose_a_lease(self, number: int) -> None:
        job = self.pick("active", number)
        if job is not None:
            self.client.zadd(self.queue.keys.active, {job.id: 1}, xx=True)
            self.do(self.queue.reap(1))
            self.waits(job)

    @rule(number=PICK)
    def promote_now(self, number: int) -> None:
        job = self.pick("schedule", number)
        if job is not None:
            self.do(self.queue.promote_now([job.id]))
            self.waits(job)

    @rule(limit=st.integers(1, 3))
    def promote(self, limit: int) -> None:
        due = self.make_due(limit)
        self.do(self.queue.promote(limit))
        for job in due:
            self.waits(job)

    @rule(number=PICK)
    def requeue(self, number: int) -> None:
        job = self.pick("dead", number)
        if job is not None:
            assert self.do(self.queue.requeue([job.id])) == [Requeued.OK]
            self.waits(job)

    @rule(
        numbers=st.lists(PICK, min_size=1, max_size=3),
        priority=PRIORITIES,
        place=st.sampled_from(["pending", "pending", "schedule", "active", "dead"]),
    )
    def reprioritize(self, numbers: list[int], priority: int, place: str) -> None:
        picked = [job for number in numbers if (job := self.pick(place, number)) is not None]
        verdicts = self.do(self.queue.reprioritize([job.id for job in picked], priority))
        expected = Reprioritized.OK if place == "pending" else Reprioritized.NOT_WAITING
        assert verdicts == [expected] * len(picked)
        for job in picked:
            if place == "pending":
                job.place = "nowhere"
            job.priority = priority
            if place == "pending":
                self.waits(job)

    @rule(counter=COUNTERS)
    def so_many_have_arrived(self, counter: int) -> None:
        self.client.set(f"{self.root}pc", counter)
        self.counter = counter

    @rule(by_mint=st.booleans())
    def order(self, *, by_mint: bool) -> None:
        self.do(self.queue.put_order(Order.MINT if by_mint else Order.ARRIVAL))
        self.by_mint = by_mint
        if by_mint:
            for job in self.those("pending"):
                job.arrival = 0 if job.priority else job.arrival

    # --- what must hold --------------------------------------------------------------------

    @invariant()
    def the_sets_are_what_the_model_says(self) -> None:
        waiting = self.those("pending")
        assert self.client.zrange(f"{self.root}prioritized", 0, -1, withscores=True) == [
            (job.id.encode(), priority_score(job.priority, job.arrival or 0))
            for job in sorted(waiting, key=lambda each: each.rank)
            if job.priority
        ]
        assert self.client.zrange(f"{self.root}pending", 0, -1) == [
            job.id.encode() for job in waiting if not job.priority
        ]

    def all_come_in_order(self) -> None:
        assert complaints_of(self.client, self.queue.name) == []
        expected = [job.id for job in self.next_up(10_000)]
        claimed: list[JobId] = []
        while jobs := self.do(self.line.claim(limit=3, lease_ms=HOUR_MS, promote=0)).jobs:
            claimed += [job.id for job in jobs]
        assert claimed == expected

    # --- parts -----------------------------------------------------------------------------

    def make_due(self, limit: int) -> list[Job]:
        """Let as many delayed jobs be due now, those that were minted first the earliest."""
        due = self.those("schedule")[:limit]
        for number, job in enumerate(due, 1):
            self.client.zadd(self.queue.keys.schedule, {job.id: number}, xx=True)
        return due

    def hold(self, jobs: Sequence[Held]) -> None:
        for held in jobs:
            self.jobs[held.id].place = "active"
            self.jobs[held.id].held = held


@pytest.mark.case("ORD-01")
def test_jobs_come_by_priority_and_arrival_whatever_has_happened(
    server_url: str, new_queue_name: Callable[[], str]
):
    run_state_machine_as_test(  # pyright: ignore[reportUnknownMemberType]
        lambda: Priorities(server_url, new_queue_name()),  # pyright: ignore[reportArgumentType] - it is called like one
        settings=settings(
            max_examples=40,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),  # pyright: ignore[reportArgumentType] - they are its values
        ),
    )
