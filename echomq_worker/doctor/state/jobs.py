"""Checks of one job: one row, in one place, that can be worked with and says so."""

import math
from collections.abc import Callable, Sequence

from echomq_worker.doctor.state.facts import JobFacts, number, score
from echomq_worker.doctor.state.notes import Notes
from echomq_worker.domain.finding import Severity
from echomq_worker.domain.priority import TIER, priority_score
from echomq_worker.protocol.keyspace import Keyspace

Check = Callable[[Notes, JobFacts, str, int], None]
"""Notes, the job, the key of its row, and the server's time in ms."""
FAR_MS = 86_400_000


def check_job(notes: Notes, keys: Keyspace, job: JobFacts, now: int) -> None:
    """Run every check of a job."""
    for check in CHECKS:
        check(notes, job, f"{keys.root}job:{job.id}", now)


def _row_of_a_member(notes: Notes, job: JobFacts, key: str, _now: int) -> None:
    if job.is_there or not (job.places or (job.dead_at and job.kind == "none")):
        return
    where = " and ".join(job.places) or "dead:at"
    notes.add(
        "member-without-row",
        f"{job.id} lies in {where} but has no row",
        key=key,
        invariant="I6",
        repair="take it out, with a note in quarantine",
        subject=job.id,
        lane=job.lane,
    )


def _orphan(notes: Notes, job: JobFacts, key: str, _now: int) -> None:
    if not job.is_there or job.places or job.is_set_aside or job.state == "awaiting_children":
        return
    where = "dead" if job.state == "dead" else "where it waits"
    notes.add(
        "orphan-row",
        f"{job.id} has a row (state {job.state or 'none'}) but lies nowhere",
        key=key,
        invariant="I1" if job.has_payload else "I6",
        repair=f"put it back {where}" if job.has_payload else "set it aside, with a copy",
        subject=job.id,
    )


def _parent(notes: Notes, job: JobFacts, key: str, _now: int) -> None:
    if job.state != "awaiting_children" or job.places or job.is_set_aside:
        return
    left = job.dependencies
    if left and left.lstrip("-").isdigit() and int(left) > 0:
        return
    released = left.lstrip("-").isdigit()
    notes.add(
        "parent-not-released" if released else "parent-without-count",
        f"{job.id} waits for children but "
        + ("none is left" if released else "has no count of them"),
        key=key,
        hint="" if released else "see whether its children have run, then remove or enqueue it",
        invariant="I3",
        repair="let it run" if released else None,
        subject=job.id,
    )


def _two_places(notes: Notes, job: JobFacts, key: str, _now: int) -> None:
    if job.is_there and len(job.places) > 1:
        notes.add(
            "two-places",
            f"{job.id} lies in {' and '.join(job.places)}",
            key=key,
            invariant="I6",
            repair="keep it in one place, the one that its row names if it can be",
            subject=job.id,
            lane=job.lane,
        )


def _state(notes: Notes, job: JobFacts, key: str, _now: int) -> None:
    if not job.is_there or len(job.places) != 1 or not job.has_payload:
        return
    place = job.places[0]
    waits = place.partition(" ")[0] in {"lane", "parked", "prioritized"}
    expected = "scheduled" if place == "schedule" else "pending" if waits else place
    if job.state != expected:
        notes.add(
            "wrong-state",
            f"{job.id} lies in {place}, but its row says {job.state or 'nothing'}",
            key=key,
            invariant="I6",
            repair=f"let the row say {expected}",
            subject=job.id,
            lane=job.lane,
        )


def _lane(notes: Notes, job: JobFacts, key: str, _now: int) -> None:
    if job.is_there and job.seen_lane and job.lane != job.group:
        # Who looked at the row could not know of this lane.
        notes.forget("orphan-row", key)
        notes.add(
            "wrong-lane",
            f"{job.id} lies in lane {job.lane}, but belongs to {job.group or 'none'}",
            key=key,
            invariant="I6",
            repair="put it where it belongs",
            subject=job.id,
            lane=job.lane,
        )


def _row(notes: Notes, job: JobFacts, key: str, _now: int) -> None:
    if not job.is_there or job.is_set_aside:
        return
    if job.places and not job.has_payload:
        text, repair = "has no payload", "set it aside, with a copy"
    elif job.has_payload and job.counted is None:
        text, repair = "has attempts that are no number", "count its attempts from 0 again"
    else:
        return
    notes.add("bad-row", f"{job.id} {text}", key=key, repair=repair, subject=job.id, lane=job.lane)


def _attempts(notes: Notes, job: JobFacts, key: str, _now: int) -> None:
    most = number(job.max) or 0
    if job.is_there and most and (job.counted or 0) > most:
        notes.add(
            "too-many-attempts",
            f"{job.id} has used {job.counted} attempts of {most}",
            key=key,
            hint="a worker of an older release may have claimed it; it is buried when it fails",
            invariant="I7",
        )


def _scores(notes: Notes, job: JobFacts, key: str, now: int) -> None:
    if not job.is_there:
        return
    zero = (job.pending, job.dead, job.own_lane, job.seen_lane)
    if any(text and float(text) != 0 for text in zero):
        text, repair = "has a score where order of birth decides", "set the score to 0"
        notes.add("wrong-score", f"{job.id} {text}", key=key, repair=repair, subject=job.id)
    if score(job.active) == math.inf:
        text, repair = "has a lease that never ends", "let the lease end now"
        notes.add(
            "endless-lease",
            f"{job.id} {text}",
            key=key,
            invariant="I5",
            repair=repair,
            subject=job.id,
        )
    elif score(job.active) > now + FAR_MS:
        hint = "has the server's clock been set back?"
        notes.add(
            "far-lease",
            f"{job.id} has a lease of more than a day",
            key=key,
            hint=hint,
            severity=Severity.WARN,
            is_quiet=False,
        )
    if score(job.schedule) == math.inf:
        hint = "remove it, or give it a time"
        notes.add(
            "endless-wait", f"{job.id} is never due", key=key, hint=hint, severity=Severity.WARN
        )


def _rank(notes: Notes, job: JobFacts, key: str, _now: int) -> None:
    if not job.is_there or not job.prioritized or not job.has_payload:
        return
    arrival = number(job.arrival)
    if job.rung is None:
        text, repair = "lies in prioritized, but its row names no priority", "put it where it waits"
    elif arrival is None or arrival >= TIER:
        text, repair = "lies in prioritized, but has no arrival number", "let it arrive now"
    elif score(job.prioritized) != priority_score(job.rung, arrival):
        text, repair = "has another score than its priority and arrival make", "set the score"
    else:
        return
    notes.add(
        "wrong-rank", f"{job.id} {text}", key=key, invariant="I6", repair=repair, subject=job.id
    )


def _deaths(notes: Notes, job: JobFacts, key: str, _now: int) -> None:
    if job.is_there and bool(job.dead) != bool(job.dead_at):
        text = "died at no known time" if job.dead else "has a time of death but is not dead"
        notes.add(
            "dead-index",
            f"{job.id} {text}",
            key=key,
            severity=Severity.WARN,
            repair="take now for it" if job.dead else "take it away",
            subject=job.id,
        )


def _expiry(notes: Notes, job: JobFacts, key: str, _now: int) -> None:
    if job.is_there and job.has_payload and job.places and job.ttl_ms >= 0:
        notes.add(
            "expiring-row",
            f"the row of {job.id} expires in {job.ttl_ms} ms",
            key=key,
            invariant="I1",
            repair="take the expiry away",
            subject=job.id,
        )


CHECKS: Sequence[Check] = (
    _row_of_a_member,
    _orphan,
    _parent,
    _two_places,
    _state,
    _lane,
    _row,
    _attempts,
    _scores,
    _rank,
    _deaths,
    _expiry,
)
