"""What a state machine over lanes is made of: a worker, an operator, and the laws of lanes."""

import asyncio
from collections import Counter
from typing import Any

import redis
from hypothesis.stateful import RuleBasedStateMachine, invariant

from echomq_worker.domain.job import Claimed, Held, JobId
from echomq_worker.domain.lanes import lane_group
from echomq_worker.store import Server, ServerOptions
from tests.support.audit import complaints_of
from tests.support.jobs import job_id
from tests.support.least_rights import unrestricted
from tests.support.stores import no_trouble

LANES = ("acme", "bolt", "cork")
GROUPS = {lane_group(lane): lane for lane in LANES}


class LaneMachine(RuleBasedStateMachine):
    """Three lanes, flat work beside them, one worker and one operator."""

    def __init__(self, url: str, queue: str) -> None:
        super().__init__()
        self.url = url
        self.runner = asyncio.Runner()
        self.client = redis.Redis.from_url(unrestricted(url), decode_responses=True)
        self.server = Server(ServerOptions(url=url))
        self.queue = self.server.queue(queue)
        self.lanes = self.queue.lanes
        self.keys = self.queue.keys
        self.line = self.queue.line(trouble=no_trouble)
        self.homes: dict[JobId, str | None] = {}
        """The lane of each job that must be there."""
        self.held: dict[JobId, Held] = {}
        """What the worker holds, as far as it knows."""
        self.paused: set[str] = set()
        self.limits: dict[str, int] = {}
        self.spoilt: set[JobId] = set()
        """Jobs whose row nobody can read any more."""
        self.minted = 0
        self.steps = 0

    def teardown(self) -> None:
        self.do(self.line.aclose())
        self.do(self.server.aclose())
        self.client.close()
        self.runner.close()

    # --- parts -----------------------------------------------------------------------------

    def do(self, call: Any) -> Any:
        return self.runner.run(call)

    def new_id(self) -> JobId:
        self.minted += 1
        return job_id(self.minted)

    def take(self, claimed: Claimed) -> list[Held]:
        """Note what was claimed; a job of a lane says which."""
        assert claimed.set_aside <= len(self.spoilt)
        for job in claimed.jobs:
            assert job.group == self.group(self.homes[job.id])
            assert job.id not in self.spoilt
            self.held[job.id] = job
        return list(claimed.jobs)

    def group(self, lane: str | None) -> str | None:
        return None if lane is None else lane_group(lane)

    def waiting(self, lane: str) -> list[JobId]:
        return self.client.zrange(self.keys.lane(lane_group(lane)), 0, -1)  # type: ignore[return-value]

    def active(self) -> list[JobId]:
        return self.client.zrange(self.keys.active, 0, -1)  # type: ignore[return-value]

    def actives(self) -> Counter[str]:
        """How many jobs of each lane are active."""
        found = Counter(self.homes[id_] for id_ in self.active())
        return Counter({lane: count for lane, count in found.items() if lane is not None})

    def serviceable(self) -> list[str]:
        actives = self.actives()
        return [
            lane
            for lane in LANES
            if self.waiting(lane)
            and lane not in self.paused
            and actives[lane] < self.limits.get(lane, 10**9)
        ]

    # --- the laws ----------------------------------------------------------------------------

    @invariant()
    def the_ring_holds_each_lane_that_can_be_served_once(self) -> None:
        ring: Any = self.client.lrange(self.keys.ring, 0, -1)
        assert sorted(GROUPS[group] for group in ring) == sorted(self.serviceable())

    @invariant()
    def what_is_counted_as_active_is_active(self) -> None:
        counted: Any = self.client.hgetall(self.keys.lane_actives)
        assert {GROUPS[group]: int(count) for group, count in counted.items()} == self.actives()

    @invariant()
    def no_more_wakes_are_kept_than_the_cap(self) -> None:
        wakes: Any = self.client.llen(self.keys.wake)
        assert wakes <= 64

    @invariant()
    def each_job_is_in_one_place(self) -> None:
        places = [self.client.zrange(self.keys.root + place, 0, -1) for place in _FLAT]
        places += [self.client.zrange(self.keys.lane(group), 0, -1) for group in GROUPS]
        there: list[str] = [id_ for place in places for id_ in place]  # type: ignore[union-attr]
        assert sorted(there) == sorted(self.homes)
        for lane in LANES:
            assert all(self.homes[id_] == lane for id_ in self.waiting(lane))

    @invariant()
    def the_doctor_finds_nothing(self) -> None:
        self.steps += 1
        if self.steps % 5 == 0 and not self.spoilt:
            assert complaints_of(self.url, self.keys.queue) == []


_FLAT = ("pending", "active", "schedule", "dead", "prioritized")
