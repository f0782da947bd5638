"""Any history of limits, strikes, priorities and lanes over one queue, held to the laws.

No cap is exceeded, no rate gives more than its burst, no job is lost or in two places, and once
everything is open the jobs come in their order.
"""

import asyncio
import math
from collections.abc import Callable
from dataclasses import replace
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

from echomq_worker.domain.gates import Rate
from echomq_worker.domain.job import Held, JobId, NewJob
from echomq_worker.domain.lanes import lane_group
from echomq_worker.domain.outcome import Buried, Completed, HandedBack, Outcome, Retried
from echomq_worker.store import Places, Server, ServerOptions
from tests.support.audit import complaints_of
from tests.support.jobs import job_id, new_job
from tests.support.least_rights import unrestricted
from tests.support.stores import no_trouble

HOUR_MS = 3_600_000
NAMES = st.sampled_from(["mail", "sms"])
KEYS = st.sampled_from([None, "mail/a", "mail/b"])
SCOPES = st.sampled_from(["name:mail", "name:sms", "key:mail"])
LANES = st.sampled_from(["a", "b"])
STRUCK = st.sampled_from(["name:mail", "name:sms", "key:mail/a", "queue"])
PLACES = st.sampled_from(
    [(None, None), (None, None), (-1, None), (5, None), (None, "a"), (None, "b")]
)
OUTCOMES: dict[str, Outcome] = {
    "complete": Completed(),
    "bury": Buried("no"),
    "retry": Retried(HOUR_MS, "later"),
    "back": HandedBack(),
}


class Gates(RuleBasedStateMachine):
    """One worker, one operator and a server."""

    def __init__(self, url: str, queue: str) -> None:
        super().__init__()
        self.url = url
        self.runner = asyncio.Runner()
        # Its replies are texts here, which its types do not tell.
        self.client: Any = redis.Redis.from_url(unrestricted(url), decode_responses=True)
        self.server = Server(ServerOptions(url=url))
        self.queue = self.server.queue(queue)
        self.root = self.queue.keys.root
        self.line = self.queue.line(trouble=no_trouble)
        self.held: dict[JobId, Held] = {}
        self.keys: dict[JobId, str | None] = {}
        self.caps: dict[str, int] = {}
        self.rates: dict[str, int] = {}
        """How many may still start under each rate; nothing comes back while a test runs."""
        self.struck: set[str] = set()
        self.ceilings: dict[str, int] = {}
        self.lane_rates: dict[str, int] = {}
        self.paused: set[str] = set()
        self.minted = 0
        self.ended: set[JobId] = set()

    def teardown(self) -> None:
        self.everything_comes_in_order()
        self.do(self.line.aclose())
        self.do(self.server.aclose())
        self.client.close()
        self.runner.close()

    def do(self, call: Any) -> Any:
        return self.runner.run(call)

    # --- what may happen -------------------------------------------------------------------

    @rule(name=NAMES, key=KEYS, place=PLACES, count=st.integers(1, 3))
    def enqueue(
        self, name: str, key: str | None, place: tuple[int | None, str | None], count: int
    ) -> None:
        priority, lane = place
        jobs: list[NewJob] = []
        for _ in range(count):
            self.minted += 1
            job = replace(
                new_job(job_id(self.minted), name=name),
                limit_key=key,
                priority=priority,
                lane=lane,
                group=None if lane is None else lane_group(lane),
            )
            self.keys[job.id] = key
            jobs.append(job)
        self.do(self.queue.enqueue(jobs))

    @rule(limit=st.integers(1, 5))
    def claim(self, limit: int) -> None:
        before = {scope: self.active_under(scope) for scope in self.scopes()}
        active = {lane: self.active_in(lane) for lane in "ab"}
        told = self.do(self.line.claim(limit=limit, lease_ms=HOUR_MS, promote=9))
        for job in told.jobs:
            assert job.id not in self.held
            self.held[job.id] = job
            for rate in list(self.rates):
                if self.is_under(job, rate):
                    self.rates[rate] -= 1
            if job.lane in self.lane_rates:
                self.lane_rates[job.lane] -= 1
        assert all(left >= 0 for left in self.rates.values()), "more than the burst"
        for scope in self.scopes():
            rule_scope = scope.partition("/")[0]
            if rule_scope in self.caps:
                most = max(self.caps[rule_scope], before[scope])
                assert self.active_under(scope) <= most, "more than the cap"
        for job in told.jobs:
            assert not any(self.is_under(job, scope) for scope in self.struck)
            assert job.lane not in self.paused
        assert all(left >= 0 for left in self.lane_rates.values()), "more than the lane's burst"
        for lane, most in self.ceilings.items():
            assert self.active_in(lane) <= max(most, active[lane]), "more than the ceiling"

    @rule(what=st.sampled_from(sorted(OUTCOMES)))
    def settle(self, what: str) -> None:
        if self.held:
            job = self.held.pop(min(self.held))
            self.do(self.line.settle([(job, OUTCOMES[what])]))
            if what in {"complete", "bury"}:
                self.ended.add(job.id)

    @rule()
    def lose_a_lease(self) -> None:
        if self.held:
            job = self.held.pop(max(self.held))
            self.client.zadd(self.queue.keys.active, {job.id: 1})
            self.do(self.queue.reap(9))

    @rule(pick=st.integers(0, 9))
    def remove(self, pick: int) -> None:
        waiting = [id_ for id_ in self.keys if id_ not in self.held and id_ not in self.ended]
        if waiting:
            job = waiting[pick % len(waiting)]
            self.do(self.queue.remove(job, Places.ANY))
            self.ended.add(job)

    @rule(lane=LANES, most=st.sampled_from([None, 1, 2]))
    def limit_lane(self, lane: str, most: int | None) -> None:
        self.do(self.queue.lanes.limit(lane, most))
        self.ceilings.pop(lane, None)
        if most is not None:
            self.ceilings[lane] = most

    @rule(lane=LANES, burst=st.sampled_from([None, 1, 3]))
    def rate_of_lane(self, lane: str, burst: int | None) -> None:
        rate = None if burst is None else Rate(1, 1000 * HOUR_MS, burst)
        changed = self.do(self.queue.lanes.rate(lane, rate))
        if burst is None:
            self.lane_rates.pop(lane, None)
        elif changed:
            self.lane_rates[lane] = burst

    @rule(lane=LANES, on=st.booleans())
    def pause_lane(self, lane: str, on: bool) -> None:  # noqa: FBT001 - drawn
        if on:
            self.do(self.queue.lanes.pause(lane))
            self.paused.add(lane)
        else:
            self.do(self.queue.lanes.resume(lane))
            self.paused.discard(lane)

    @rule(scope=SCOPES, most=st.sampled_from([None, 1, 2]))
    def cap(self, scope: str, most: int | None) -> None:
        self.do(self.queue.gates.limit_concurrency(scope, most))
        self.caps.pop(scope, None)
        if most is not None:
            self.caps[scope] = most

    @rule(scope=st.sampled_from(["name:mail", "queue"]), burst=st.sampled_from([None, 2, 3]))
    def rate(self, scope: str, burst: int | None) -> None:
        rate = None if burst is None else Rate(1, 1000 * HOUR_MS, burst)
        changed = self.do(self.queue.gates.limit_rate(scope, rate))
        if burst is None:
            self.rates.pop(scope, None)
        elif changed:
            self.rates[scope] = burst

    @rule(scope=STRUCK)
    def strike(self, scope: str) -> None:
        self.do(self.queue.gates.strike(scope))
        self.struck.add(scope)

    @rule(scope=STRUCK)
    def lift(self, scope: str) -> None:
        assert self.do(self.queue.gates.lift(scope)) == (scope in self.struck)
        self.struck.discard(scope)

    # --- what must hold --------------------------------------------------------------------

    @invariant()
    def nobody_waits_for_a_slot_that_is_free(self) -> None:
        shut: dict[str, float] = dict(
            self.client.zrange(f"{self.root}gates", 0, -1, withscores=True)
        )
        for gate in (gate for gate, opens in shut.items() if opens == math.inf):
            kind, _, scope = gate.partition(":")
            if kind == "cap":
                busy = int(self.client.hget(f"{self.root}busy", gate) or 0)
                assert busy >= self.caps[scope.partition("/")[0]], gate
            assert kind != "rate", "its time comes"

    def everything_comes_in_order(self) -> None:
        for scope in list(self.caps):
            self.cap(scope, None)
        for scope in list(self.rates):
            self.rate(scope, None)
        for scope in list(self.struck):
            self.lift(scope)
        for lane in "ab":
            self.limit_lane(lane, None)
            self.rate_of_lane(lane, None)
            self.pause_lane(lane, on=False)
        for place in self.client.zrange(self.queue.keys.schedule, 0, -1):
            self.client.zadd(self.queue.keys.schedule, {place: 1})
        # Whatever is parked has come back when the jobs are counted, none of them started.
        self.client.hset(self.queue.keys.meta, "paused", "1")
        for _ in range(5):
            self.do(self.queue.promote(100))
        self.client.hdel(self.queue.keys.meta, "paused")
        assert complaints_of(self.url, self.queue.name) == []
        assert not self.client.exists(f"{self.root}gates")
        waiting = [JobId(each) for each in self.client.zrange(self.queue.keys.pending, 0, -1)]
        told = self.do(self.line.claim(limit=500, lease_ms=HOUR_MS, promote=0))
        flat = [job.id for job in told.jobs if not job.priority and job.group is None]
        assert flat == waiting == sorted(waiting)
        ranks = [job.priority for job in told.jobs if job.group is None]
        assert ranks == sorted(ranks), "urgent ones first"
        everything = {job.id for job in told.jobs} | set(self.held) | self.ended
        assert everything == {job_id(n) for n in range(1, self.minted + 1)}, "none is lost"
        busy: dict[str, str] = self.client.hgetall(f"{self.root}busy")
        for job in told.jobs:
            self.held[job.id] = job
        for job in self.held.values():
            self.do(self.line.settle([(job, Completed())]))
        assert not self.client.exists(f"{self.root}busy"), busy
        assert not self.client.exists(f"{self.root}gactive")

    def scopes(self) -> list[str]:
        return ["name:mail", "name:sms", "key:mail/a", "key:mail/b"]

    def active_under(self, scope: str) -> int:
        return sum(1 for job in self.held.values() if self.is_under(job, scope))

    def active_in(self, lane: str) -> int:
        return sum(1 for job in self.held.values() if job.lane == lane)

    def is_under(self, job: Held, scope: str) -> bool:
        return scope in {"queue", f"name:{job.name}", f"key:{self.keys[job.id]}"}


@pytest.mark.slow
def test_limits_and_strikes_keep_their_laws_in_any_history(
    server_url: str, new_queue_name: Callable[[], str]
):
    def machine() -> Gates:
        return Gates(server_url, new_queue_name())

    run_state_machine_as_test(
        cast("type[RuleBasedStateMachine]", machine),
        settings=settings(
            max_examples=25,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
