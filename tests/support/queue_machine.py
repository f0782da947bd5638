"""What a state machine over a real queue is made of: callers, a model beside them, and the laws."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import redis
from hypothesis.stateful import RuleBasedStateMachine, invariant

from echomq_worker.domain.job import Claimed, Held, JobId
from echomq_worker.domain.outcome import (
    Buried,
    Completed,
    HandedBack,
    Outcome,
    Retried,
    Snoozed,
    Verdict,
)
from echomq_worker.store import Server, ServerOptions
from tests.support.audit import complaints_of
from tests.support.cut_wire import CutWire, Fault
from tests.support.least_rights import unrestricted
from tests.support.queue_model import QueueModel
from tests.support.queue_seen import seen
from tests.support.queue_state import Call, Handout, passed_or_not

T = TypeVar("T")
HOUR_MS, MINUTE_MS = 3_600_000, 60_000


def lax(complaint: str) -> bool:
    """The workers here retry for as long as they like, and let a lease end long ago."""
    return complaint.startswith("too-many-attempts")


async def at_once(error: Exception, tries: int) -> None:
    assert tries < 3, error


class QueueMachine(RuleBasedStateMachine):
    """Two workers, a producer and an operator on one queue, and a model that does the same."""

    def __init__(self, url: str, queue: str) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.client = redis.Redis.from_url(unrestricted(url), protocol=2)
        self.server = Server(ServerOptions(url=url))
        self.queue = self.server.queue(queue)
        self.keys = self.queue.keys
        self.lines = [self.queue.line(trouble=at_once) for _ in range(2)]
        self.wires: list[CutWire] = []
        for line in self.lines:
            line.wire = CutWire(line.wire)
            self.wires.append(line.wire)
        self.producers_wire = CutWire(self.queue._producer.wire)
        self.queue._producer.wire = self.producers_wire
        self.movers_wire = CutWire(cast("Any", self.queue._wire))
        self.queue._wire = cast("Any", self.movers_wire)
        self.moves = 0
        self.queue._mover._new_caller = lambda: f"mover{self.moves}"
        self.model = QueueModel()
        self.numbers = Counter[str]()
        self.ticks = 0
        self.claims: list[Held] = []
        self.latest: dict[JobId, str] = {}
        self.settled: set[tuple[JobId, str]] = set()
        self.tokens: dict[JobId, int] = {}
        self.alive = 0
        self.steps = 0

    def teardown(self) -> None:
        for line in self.lines:
            self.do(line.aclose())
        self.do(self.server.aclose())
        self.client.close()
        self.runner.close()

    # --- what must hold after each step ----------------------------------------------------

    @invariant()
    def the_queue_is_what_the_model_says(self) -> None:
        found = seen(self.client, self.keys.root)
        assert found == self.model.everything()
        self.hold_to_the_laws(found)

    @invariant()
    def the_doctor_finds_nothing(self) -> None:
        # It looks at every place by calls of its own, so not after each of many steps.
        self.steps += 1
        if self.steps % 5 == 0:
            assert [
                one for one in complaints_of(self.client, self.keys.queue) if not lax(one)
            ] == []

    def hold_to_the_laws(self, found: dict[str, Any]) -> None:
        places = ("pending", "active", "dead")
        there = [id_ for place in places for id_ in found.get(place, ())]
        there += [id_ for id_, _ in found.get("schedule", ())]
        rows = {key.removeprefix("job:"): row for key, row in found.items() if key[:4] == "job:"}
        assert sorted(there) == sorted(rows), "each job is in exactly one place, and has a row"
        assert len(rows) == self.alive, "no job is lost, and none comes from nowhere"
        for id_, row in rows.items():
            token = int(row["attempts"])
            assert token >= self.tokens[JobId(id_)], "a token went down"
            self.tokens[JobId(id_)] = token

    def hold_to_the_fence(
        self, outcomes: Sequence[tuple[Held, Outcome]], verdicts: Sequence[Verdict]
    ) -> None:
        for (held, outcome), verdict in zip(outcomes, verdicts, strict=True):
            if verdict is Verdict.OK:
                assert held.claim == self.latest[held.id], "another than the latest claimer settled"
                assert (held.id, held.claim) not in self.settled, "a claim was settled twice"
                self.settled.add((held.id, held.claim))
                self.alive -= isinstance(outcome, Completed)

    # --- parts -----------------------------------------------------------------------------

    def do(self, call: Any) -> Any:
        return self.runner.run(call)

    def tick(self) -> int:
        self.ticks += 1
        return self.ticks

    def delay(self) -> int:
        """A delay that no other job has."""
        return HOUR_MS + self.tick() * MINUTE_MS

    def outcome(self, kind: str) -> Outcome:
        return {
            "complete": lambda: Completed(b"done"),
            "keep": lambda: Completed(b"kept", HOUR_MS),
            "retry": lambda: Retried(self.delay(), "failed"),
            "free": lambda: Retried(self.delay(), "not counted", counted=False),
            "bury": lambda: Buried("failed for good"),
            "snooze": lambda: Snoozed(self.delay()),
            "unknown": lambda: Snoozed(self.delay(), unknown=True),
            "return": HandedBack,
        }[kind]()

    def claimed(self, ago: int) -> Held:
        """A job that was claimed so many claims ago, whatever has become of it."""
        return self.claims[-1 - ago % len(self.claims)]

    def break_next(self, who: int, fault: Fault | None) -> None:
        if fault is not None:
            self.wires[who].next_calls(fault)

    def apply(
        self,
        caller: str,
        fault: Fault | None,
        operation: Callable[[Call], T],
        meanwhile: Callable[[], None] | None = None,
    ) -> T:
        """Let the model do what the server did: an unanswered call came twice."""
        self.numbers[caller] += 1
        number = self.numbers[caller]
        if fault is Fault.UNANSWERED:
            operation(Call(caller, number))
        if meanwhile is not None:
            meanwhile()
        return operation(Call(caller, number, again=fault is not None))

    def received(self, claimed: Claimed, said: Handout) -> None:
        due = None if claimed.next_due_ms is None else passed_or_not(claimed.next_due_ms)
        found = Handout(
            [job.id for job in claimed.jobs],
            [job.token for job in claimed.jobs],
            claimed.left,
            due,
            claimed.paused,
        )
        assert found == said
        for job in claimed.jobs:
            self.latest[job.id] = job.claim
            self.claims.append(job)
