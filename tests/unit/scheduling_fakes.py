"""Schedulers without a server: declarations in short, and one that is fired by hand."""

from dataclasses import dataclass, field
from typing import Any

from echomq_worker.domain.scheduling.plan import Plan, first_next, plan_firing, wake_ms
from echomq_worker.domain.scheduling.spec import SchedulerSpec, scheduler_spec
from echomq_worker.domain.scheduling.template import Template

SECOND = 1_000
MINUTE = 60_000
HOUR = 3_600_000
DAY = 86_400_000
START = 1_798_761_600_000
"""2027-01-01T00:00:00Z, a Friday."""

TEMPLATE = Template(name="report")


def spec(name: str = "nightly", *, template: Template = TEMPLATE, **options: Any) -> SchedulerSpec:
    """A scheduler; every minute, unless told otherwise."""
    if not options.keys() & {"cron", "every"}:
        options["every"] = "1m"
    return scheduler_spec(name, template=template, **options)


@dataclass
class Kept:
    """A scheduler as Redis keeps it: whoever comes with the instant that is due fires it."""

    spec: SchedulerSpec
    next_ms: int | None = None
    wake_ms: int | None = None
    made: list[int] = field(default_factory=list[int])
    missed: int = 0
    ended: str = ""

    @classmethod
    def put(cls, spec: SchedulerSpec, now_ms: int) -> "Kept":
        """Declare one that is new."""
        kept = cls(spec, first_next(spec, now_ms=now_ms, last_ms=None))
        kept.wake_ms = None if kept.next_ms is None else wake_ms(spec, kept.next_ms)
        return kept

    def plan(self, now_ms: int) -> Plan | None:
        """What a worker decides that looks now; None if nothing is due."""
        if self.wake_ms is None or self.wake_ms > now_ms:
            return None
        return plan_firing(self.spec, next_ms=self.next_ms, now_ms=now_ms, count=len(self.made))

    def fire(self, expected_ms: int | None, plan: Plan) -> bool:
        """Write a decision that was made about `expected_ms`; False if another was faster."""
        if expected_ms != self.next_ms:
            return False
        self.made += plan.occurrences
        self.missed += plan.missed
        self.next_ms, self.wake_ms, self.ended = plan.next_ms, plan.wake_ms, plan.ended
        return True

    def look(self, now_ms: int) -> tuple[int, ...]:
        """Fire what is due now; the instants that were fired."""
        plan = self.plan(now_ms)
        if plan is None or not self.fire(self.next_ms, plan):
            return ()
        return plan.occurrences
