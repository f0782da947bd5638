"""Walks over the keys and the places of a queue, a bounded slice at a time.

Each slice is looked at by one script, so that a job is seen at one moment with its row and all its
places: what moves meanwhile is seen before or after, never in between.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeVar

from echomq_worker.doctor.state.asking import Reply, Steps, ask, command
from echomq_worker.doctor.state.caps import check_cap
from echomq_worker.doctor.state.facts import JobFacts
from echomq_worker.doctor.state.jobs import check_job
from echomq_worker.doctor.state.keys import check_key, check_unknown
from echomq_worker.doctor.state.lanes import check_lane
from echomq_worker.doctor.state.notes import Notes
from echomq_worker.doctor.state.parents import Parents
from echomq_worker.doctor.state.repeats import check_repeat
from echomq_worker.doctor.state.schedulers import LOOKED_AT, SchedulerFacts, check_scheduler
from echomq_worker.doctor.state.whole import Standing, check_whole
from echomq_worker.domain.finding import Finding
from echomq_worker.protocol.families import KnownKey, known_key
from echomq_worker.protocol.keyspace import Keyspace

T = TypeVar("T")

SLICE = 100
MOST_NAMES = 10_000
"""So many lanes, and so many registrations, are looked at."""
LANES_A_CALL = 20
GROUP = re.compile(r"[A-Z]{3}[0-9A-Za-z]{11}")
PLACES = ("pending", "active", "schedule", "dead", "dead:at", "prioritized")


@dataclass(slots=True)
class Audit:
    """One audit of one queue."""

    keys: Keyspace
    notes: Notes
    lanes: set[str] = field(default_factory=set[str])
    repeats: set[str] = field(default_factory=set[str])
    places: set[str] = field(default_factory=set[str])
    parents: Parents = field(default_factory=Parents)

    def run(self) -> Steps[list[Finding]]:
        """Look at everything; return what was found."""
        standing = Standing.read((yield ask(self.keys, "audit_queue")))
        check_whole(self.notes, self.keys.root, standing)
        self.lanes.update(standing.lanes)
        self.repeats.update(standing.repeats)
        yield from self._all_keys()
        for place in self.places:
            yield from self._members(self.keys.root + place, "")
        for lane in sorted(self.lanes):
            yield from self._members(f"{self.keys.root}g:{lane}:pending", lane)
        for names in slices(sorted(self.lanes), LANES_A_CALL):
            for reply in (yield ask(self.keys, "audit_lanes", *_raw(names))):
                check_lane(self.notes, self.keys.root, reply)
        for names in slices(sorted(self.repeats), SLICE):
            for reply in (yield ask(self.keys, "audit_repeats", *_raw(names))):
                check_repeat(self.notes, self.keys.root, reply)
        for reply in (yield ask(self.keys, "audit_caps")):
            check_cap(self.notes, self.keys.root, reply)
        yield from self._schedulers()
        for names in slices(self.parents.suspects(), SLICE):
            _, jobs = yield ask(self.keys, "audit_jobs", *names)
            self.parents.check(self.notes, self.keys, map(JobFacts.read, jobs))
        return self.notes.findings()

    def _all_keys(self) -> Steps[None]:
        cursor: Reply = 0
        while True:
            found = command("SCAN", cursor, "MATCH", f"{self.keys.root}*", "COUNT", SLICE)
            cursor, names = yield found
            for part in slices(names, SLICE):
                yield from self._some_keys(part)
            if int(cursor) == 0:
                return

    def _some_keys(self, names: Sequence[bytes]) -> Steps[None]:
        known: list[KnownKey] = []
        for name in names:
            text = name.decode("utf-8", "surrogateescape")
            recognised = known_key(text.removeprefix(self.keys.root))
            if recognised is None:
                check_unknown(self.notes, text)
            else:
                known.append(recognised)
                self._remember(recognised)
        operands = [word for each in known for word in (each.suffix, _owner(each))]
        if known:
            replies = yield ask(self.keys, "audit_keys", *_raw(operands))
            for each, reply in zip(known, replies, strict=True):
                check_key(self.notes, self.keys.root, each, reply)
        ids = [each.subject for each in known if each.family.name == "job"]
        if ids:
            self._judge((yield ask(self.keys, "audit_jobs", *ids)), rows=True)
        schedulers = [each.subject for each in known if each.family.name == "scheduler"]
        if schedulers:
            operands = ("", SLICE, len(LOOKED_AT), *LOOKED_AT, *_raw(schedulers))
            _, found = yield ask(self.keys, "audit_schedulers", *operands)
            self._check_schedulers(map(SchedulerFacts.read, found))

    def _remember(self, key: KnownKey) -> None:
        name = key.family.name
        if name in PLACES:
            self.places.add(name)
        elif name == "parked":
            self.places.add(key.suffix)
        elif name == "lane" and len(self.lanes) < MOST_NAMES:
            self.lanes.add(key.subject)
        elif name == "repeat:" and len(self.repeats) < MOST_NAMES:
            self.repeats.add(key.subject)

    def _members(self, place: str, lane: str) -> Steps[None]:
        cursor = "0"
        while True:
            operands = (*_raw([lane]), cursor, SLICE)
            now, following, jobs = yield ask(self.keys, "audit_members", *operands, place=place)
            self._judge((now, jobs), rows=False)
            cursor = following.decode()
            if cursor == "0":
                return

    def _schedulers(self) -> Steps[None]:
        """Look through the index for those that have no hash: the others were seen as keys."""
        cursor = "0"
        while True:
            operands = (cursor, SLICE, len(LOOKED_AT), *LOOKED_AT)
            following, found = yield ask(self.keys, "audit_schedulers", *operands)
            seen = map(SchedulerFacts.read, found)
            self._check_schedulers(each for each in seen if each.kind != "hash")
            cursor = following.decode()
            if cursor == "0":
                return

    def _check_schedulers(self, found: Iterable[SchedulerFacts]) -> None:
        for each in found:
            check_scheduler(self.notes, self.keys.root, each)

    def _judge(self, reply: Reply, *, rows: bool) -> None:
        now, jobs = reply
        for job in map(JobFacts.read, jobs):
            check_job(self.notes, self.keys, job, now)
            if rows:
                self.parents.see(job)
            if GROUP.fullmatch(job.group) and len(self.lanes) < MOST_NAMES:
                self.lanes.add(job.group)


def slices(names: Sequence[T], size: int) -> Iterator[list[T]]:
    """Cut a sequence into parts."""
    rest = iter(names)
    while part := list(islice(rest, size)):
        yield part


def _owner(key: KnownKey) -> str:
    return {"de": "=", "part": key.subject}.get(key.family.name, "")


def _raw(names: Sequence[str]) -> list[bytes]:
    return [name.encode("utf-8", "surrogateescape") for name in names]
