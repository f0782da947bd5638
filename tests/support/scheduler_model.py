"""Schedulers in plain Python: what every call must lead to, whatever went before."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from echomq_worker.domain.scheduling.overlap import Overlap
from echomq_worker.domain.scheduling.plan import first_next
from echomq_worker.domain.scheduling.records import RUNS, Firing
from echomq_worker.domain.scheduling.spec import SchedulerSpec
from echomq_worker.protocol.scheduler_rows import digests

LIVE = {"pending", "active", "scheduled"}
MOST_OLD = 10


@dataclass
class Run:
    """One remembered occurrence."""

    instant_ms: int | None
    """None for one that was triggered: its instant is the server's time then."""
    job: str
    outcome: str


@dataclass
class Scheduler:
    """One scheduler."""

    spec: SchedulerSpec
    birth: int
    revision: int
    next_ms: int | None = None
    last_ms: int | None = None
    held_ms: int | None = None
    count: int = 0
    missed: int = 0
    skipped: int = 0
    paused: str | None = None
    ended: str = ""
    old: list[str] = field(default_factory=list[str])
    live: list[str] = field(default_factory=list[str])
    runs: list[Run] = field(default_factory=list[Run])

    @property
    def digest(self) -> str:
        """Of its declaration."""
        return digests(self.spec)[0]

    def aim(self, next_ms: int | None) -> None:
        """Go on at an instant; None ends it."""
        self.next_ms, self.ended = next_ms, "" if next_ms is not None else "end"

    def remember(self, run: Run) -> None:
        """Note an occurrence, and forget the oldest of more than ten."""
        self.runs = [*self.runs, run][-RUNS:]


@dataclass
class SchedulerModel:
    """The schedulers of one queue, and the jobs that they made."""

    schedulers: dict[str, Scheduler] = field(default_factory=dict[str, Scheduler])
    jobs: dict[str, str] = field(default_factory=dict[str, str])
    """Where the job of each id is; one that is gone has no entry."""
    owners: dict[str, str] = field(default_factory=dict[str, str])
    made: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """Birth of the scheduler and absolute instant of each job that a rule has made."""
    passed_ms: int = 0
    """How much time has been made to pass."""
    births: int = 0

    def put(self, spec: SchedulerSpec, *, force: bool, now_ms: int) -> str:
        """Declare a scheduler; return the verdict."""
        scheduler = self.schedulers.get(spec.name)
        if scheduler is None:
            self.births += 1
            scheduler = Scheduler(spec, self.births, spec.revision)
            scheduler.aim(first_next(spec, now_ms=now_ms, last_ms=None))
            self.schedulers[spec.name] = scheduler
            return "created"
        digest, rule = digests(spec)
        stored, stored_rule = digests(scheduler.spec)
        if digest == stored:
            if spec.revision > scheduler.revision:
                scheduler.revision, scheduler.old = spec.revision, []
            return "unchanged"
        if spec.revision < scheduler.revision:
            return "older"
        if spec.revision == scheduler.revision and digest in scheduler.old and not force:
            return "superseded"
        kept = scheduler.old if spec.revision == scheduler.revision else None
        scheduler.old = []
        if kept is not None:
            others = [each for each in kept if each not in {digest, stored}]
            scheduler.old = [*others, stored][-MOST_OLD:]
        scheduler.spec, scheduler.revision = spec, spec.revision
        if rule == stored_rule:
            return "changed"
        scheduler.aim(first_next(spec, now_ms=now_ms, last_ms=scheduler.last_ms))
        return "retimed"

    def pause(self, name: str, reason: str) -> bool:
        """Let it rest."""
        if scheduler := self.schedulers.get(name):
            scheduler.paused = reason
        return scheduler is not None

    def resume(self, name: str, now_ms: int) -> bool:
        """Let it go on."""
        scheduler = self.schedulers.get(name)
        if scheduler is not None and scheduler.paused is not None:
            scheduler.paused = None
            if scheduler.ended:
                scheduler.next_ms = None
            else:
                scheduler.aim(first_next(scheduler.spec, now_ms=now_ms, last_ms=scheduler.last_ms))
        return scheduler is not None

    def remove(self, name: str) -> bool:
        """Remove it."""
        return self.schedulers.pop(name, None) is not None

    def trigger(self, name: str, job: str) -> str | None:
        """Make a job by hand; return what became of it."""
        scheduler = self.schedulers.get(name)
        if scheduler is None:
            return None
        self._make(scheduler, job, Run(None, job, "triggered"))
        if scheduler.spec.overlap is not Overlap.ALLOW:
            scheduler.live = [*self._live(scheduler), job]
        return "enqueued"

    def fire(self, firings: Sequence[Firing]) -> Iterator[str]:
        """Fire; yield the word for each."""
        names: set[str] = set()
        for firing in firings:
            scheduler = self.schedulers.get(firing.name)
            if (
                scheduler is None
                or firing.name in names
                or scheduler.paused is not None
                or (scheduler.digest, scheduler.next_ms) != (firing.digest, firing.expected_ms)
            ):
                yield "x"
            elif any(job in self.jobs for job, _ in firing.occurrences):
                yield "i"
            else:
                names.add(firing.name)
                yield self._fire(scheduler, firing)

    def ended(self, job: str, outcome: str) -> None:
        """Take note of how a job has ended."""
        scheduler = self.schedulers.get(self.owners[job])
        for run in scheduler.runs if scheduler else ():
            if run.job == job:
                run.outcome = outcome

    def pass_time(self, ms: int) -> None:
        """Let time pass: everything is so much longer ago."""
        self.passed_ms += ms
        for each in self.schedulers.values():
            each.next_ms = None if each.next_ms is None else each.next_ms - ms
            each.last_ms = None if each.last_ms is None else each.last_ms - ms
            each.held_ms = None if each.held_ms is None else each.held_ms - ms
            for run in each.runs:
                run.instant_ms = None if run.instant_ms is None else run.instant_ms - ms

    def _fire(self, scheduler: Scheduler, firing: Firing) -> str:
        scheduler.live = self._live(scheduler)
        word = "".join(self._occur(scheduler, *each) for each in firing.occurrences)
        if firing.ended == "limit" and scheduler.held_ms is not None:
            scheduler.held_ms = None
            scheduler.skipped += 1
        scheduler.next_ms = firing.next_ms
        scheduler.missed += firing.missed
        scheduler.ended = firing.ended or scheduler.ended
        return word

    def _occur(self, scheduler: Scheduler, job: str, instant_ms: int) -> str:
        held, last = scheduler.held_ms == instant_ms, scheduler.last_ms
        if not held and last is not None and instant_ms <= last:
            return "d"
        if scheduler.spec.limit is not None and scheduler.count >= scheduler.spec.limit:
            return "d"
        scheduler.last_ms = instant_ms if last is None else max(last, instant_ms)
        policy = scheduler.spec.overlap
        if scheduler.live and policy is Overlap.QUEUE_ONE:
            scheduler.skipped += scheduler.held_ms is not None and not held
            scheduler.held_ms = instant_ms
            return "q"
        if held:
            scheduler.held_ms = None
        if scheduler.live and policy is Overlap.SKIP:
            scheduler.skipped += 1
            return "s"
        self._make(scheduler, job, Run(instant_ms, job, "fired"))
        self.made.append((scheduler.birth, instant_ms + self.passed_ms))
        scheduler.count += 1
        if policy is not Overlap.ALLOW:
            scheduler.live.append(job)
        return "1"

    def _make(self, scheduler: Scheduler, job: str, run: Run) -> None:
        self.jobs[job], self.owners[job] = "pending", scheduler.spec.name
        scheduler.remember(run)

    def _live(self, scheduler: Scheduler) -> list[str]:
        if scheduler.spec.overlap is Overlap.ALLOW:
            return []
        asked = scheduler.live or [run.job for run in scheduler.runs]
        return [job for job in asked if self.jobs.get(job) in LIVE]
