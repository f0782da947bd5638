"""Any coming and going of workers: who is present, who watches, and whose node number is whose."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest
import redis
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from echomq_worker.domain.replies import Beat, Presence
from echomq_worker.protocol.keyspace import NODES_KEY, Keyspace
from echomq_worker.protocol.scripts import script_names
from echomq_worker.store import Server, ServerOptions
from echomq_worker.store.nodes import NodeLease
from tests.support.audit import complaints_of
from tests.support.stores import no_trouble

WORKERS = ("ann", "bob", "eve")
WHO = st.sampled_from(WORKERS)
HOUR_MS = 3_600_000
HISTORIES = {"claim", "settle", "beat", "extend", "enqueue", "schedule", "promote", "reap"} | {
    "pause",
    "resume",
    "requeue",
    "remove",
    "forget",
    "reschedule",
    "promote_job",
}
"""Scripts that tests/integration/test_every_history.py runs in any order."""
FLEET = {"beat", "leave", "lease_node", "free_node", "extension"}
"""Scripts that the machine below runs."""
READING = {"audit_jobs", "audit_keys", "audit_lanes", "audit_members", "audit_queue"} | {
    "audit_caps",
    "audit_repeats",
    "audit_schedulers",
    "counts",
    "due_schedulers",
    "expected_start",
    "inspect",
    "lane_depths",
    "lane_list",
    "read_gates",
    "read_queue",
    "read_job",
    "base_limits",
    "unique_holder",
    "publish",
    "read_schedulers",
    "read_workers",
    "repeat_list",
    "rights",
}
"""Scripts that change nothing."""
REPAIRS = {"repair_job", "repair_key", "repair_lane", "repair_repeat", "repair_scheduler"}
"""Scripts that test_audit_at_work.py and test_audit_schedulers.py run on any damage."""
REPEATS = {"repeat_register", "repeat_cancel", "repeat_advance", "fire_repeats"}
"""Scripts that test_every_repeat.py runs in any order."""
GATES = {"put_limit", "strike", "lift_strike", "recount_slots"}
"""Scripts that test_every_gate.py runs in any order."""
PRIORITIES = {"reprioritize", "put_order"}
"""Scripts that test_every_priority.py runs in any order."""
KEYS = {"enqueue_unique", "release_key"}
"""Scripts that test_every_key.py runs in any order."""
OPERATORS = {"drain", "obliterate", "sweep_keys", "lock_track"} | {
    "update_data",
    "update_progress",
    "add_log",
}
"""Scripts that test_operator_verbs.py runs; each is one step of its own."""
SCHEDULERS = {"put_scheduler", "fire", "pause_scheduler", "resume_scheduler"} | {
    "remove_scheduler",
    "trigger_scheduler",
    "retime_scheduler",
    "aside_scheduler",
}
"""Scripts that test_every_scheduler.py runs in any order."""

LANES = {"lane_pause", "lane_resume", "lane_limit", "lane_weight", "lane_max"} | {
    "lane_reassign",
    "lane_drain",
    "lane_reap",
    "lane_first",
    "lane_rate",
    "claim_lane",
}
"""Scripts that test_every_lane.py runs in any order."""


class Fleet(RuleBasedStateMachine):
    """Three workers of one queue, each with a line and a node number."""

    def __init__(self, url: str, queue: str) -> None:
        super().__init__()
        self.url = url
        self.runner = asyncio.Runner()
        self.client = redis.Redis.from_url(url, decode_responses=True)
        self.server = Server(ServerOptions(url=url))
        self.queue = self.server.queue(queue)
        self.keys: Keyspace = self.queue.keys
        self.lines = {
            who: self.queue.line(trouble=no_trouble, worker_id=who, watch_ms=HOUR_MS)
            for who in WORKERS
        }
        self.leases: dict[str, NodeLease] = {who: self.server.node_lease() for who in WORKERS}
        self.present: set[str] = set()
        self.watcher: str | None = None
        self.nodes: dict[str, int] = {}

    def teardown(self) -> None:
        for who in WORKERS:
            self.do(self.leases[who].give_back())
            self.do(self.lines[who].aclose())
        self.do(self.server.aclose())
        self.client.close()
        self.runner.close()

    def do(self, call: Any) -> Any:
        return self.runner.run(call)

    # --- what may happen -------------------------------------------------------------------

    @rule(who=WHO, promote=st.integers(0, 1))
    def beat(self, who: str, promote: int) -> None:
        overdue = promote == 1 and self.client.zcard(self.keys.schedule) == 1
        beat: Beat = self.do(
            self.lines[who].beat(
                limit=0,
                lease_ms=HOUR_MS,
                promote=promote,
                reap=1,
                crash_limit=1,
                max_attempts=1,
                worker=Presence(who, {"slots": "3"}, HOUR_MS),
            )
        )
        self.present.add(who)
        if self.watcher is None or overdue:
            self.watcher = who
        assert beat.watching == (self.watcher == who)

    @rule()
    def a_job_is_overdue(self) -> None:
        if not self.client.exists(self.keys.schedule):
            job = "JOB00000000001"
            self.client.zrem(self.keys.pending, job)
            self.client.hset(
                self.keys.job(job), mapping={"state": "scheduled", "attempts": "0", "payload": "{}"}
            )
            self.client.zadd(self.keys.schedule, {job: 1})

    @rule(who=WHO)
    def give_up_the_watch(self, who: str) -> None:
        line = self.lines[who]
        line.watch_ms = 0
        assert not self.do(line.claim(limit=0, lease_ms=HOUR_MS, promote=0)).watching
        line.watch_ms = HOUR_MS
        if self.watcher == who:
            self.watcher = None

    @rule(who=WHO)
    def leave(self, who: str) -> None:
        self.do(self.queue.leave(who))
        self.present.discard(who)
        if self.watcher == who:
            self.watcher = None

    @rule(who=WHO)
    def take_a_node(self, who: str) -> None:
        before = self.nodes.get(who)
        node = self.do(self.leases[who].take())
        assert node is not None
        assert before in (None, node), "a number that is held is renewed"
        self.nodes[who] = node

    @rule(who=WHO)
    def give_the_node_back(self, who: str) -> None:
        self.do(self.leases[who].give_back())
        self.nodes.pop(who, None)

    @precondition(lambda self: self.nodes)
    @rule(which=st.integers(0, 2), taken=st.booleans())
    def a_node_is_lost(self, *, which: int, taken: bool) -> None:
        """Its worker was away for too long; the number is free, or somebody else's by now."""
        who = sorted(self.nodes)[which % len(self.nodes)]
        lost = self.nodes.pop(who)
        self.client.zrem(NODES_KEY, lost)
        if taken:
            other = NodeLease(self.server.wire)
            self.do(other.take())
            self.do(other.give_back())
        node = self.do(self.leases[who].take())
        assert node is not None
        self.nodes[who] = node

    # --- what must hold --------------------------------------------------------------------

    @invariant()
    def present_are_those_who_beat_and_have_not_left(self) -> None:
        assert set(cast("list[str]", self.client.zrange(self.keys.workers, 0, -1))) == self.present
        for who in WORKERS:
            assert self.client.exists(self.keys.worker(who)) == (who in self.present)

    @invariant()
    def there_is_one_watcher_at_most(self) -> None:
        assert self.client.get(self.keys.pump) == self.watcher

    @invariant()
    def no_two_have_the_same_node(self) -> None:
        assert len(set(self.nodes.values())) == len(self.nodes)
        scores = [self.client.zscore(NODES_KEY, node) for node in self.nodes.values()]
        assert None not in scores

    @invariant()
    def the_doctor_finds_nothing(self) -> None:
        assert complaints_of(self.url, self.keys.queue) == []


def test_any_coming_and_going_ends_as_the_model_says(
    server_url: str, new_queue_name: Callable[[], str]
):
    def machine() -> Fleet:
        return Fleet(server_url, new_queue_name())

    run_state_machine_as_test(
        cast("type[RuleBasedStateMachine]", machine),
        settings=settings(
            max_examples=15,
            stateful_step_count=30,
            deadline=None,
            print_blob=True,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )


@pytest.mark.parametrize("name", script_names())
def test_every_script_is_run_in_any_order_or_changes_nothing(name: str):
    moving = HISTORIES | FLEET | SCHEDULERS | REPEATS | LANES | GATES | PRIORITIES | KEYS
    assert name in moving | OPERATORS | REPAIRS | READING
