"""Checks of a queue as a whole: does somebody do the work that is there?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from echomq_worker.doctor.state.facts import score
from echomq_worker.doctor.state.notes import Notes
from echomq_worker.domain.finding import Severity

LATE_MS = 30_000
"""What has been due for longer than this is looked after by nobody."""
_REASON_SIZE = 200
_VERSION_SIZE = 20


@dataclass(frozen=True, slots=True)
class Standing:
    """How a queue stands: what `audit_queue.lua` says."""

    now: int
    paused: bool
    waiting: int
    first_lease: float
    first_due: float
    alive: int
    outbox: int
    outbox_head: bytes
    set_aside: int
    reason: str
    lanes: list[str]
    repeats: list[str]
    first_fire: float
    first_repeat: float
    zone_data: list[str]

    @classmethod
    def read(cls, reply: Sequence[Any]) -> "Standing":
        """Read the script's reply."""
        now, paused, waiting, lease, due, alive, outbox, head, aside, reason, *others = reply
        lanes, repeats, fire, repeat, zone_data = others
        return cls(
            now=now,
            paused=paused == 1,
            waiting=waiting,
            first_lease=score(lease.decode()),
            first_due=score(due.decode()),
            alive=alive,
            outbox=outbox,
            outbox_head=head,
            set_aside=aside,
            reason=reason.decode("utf-8", "replace"),
            lanes=[lane.decode("utf-8", "surrogateescape") for lane in lanes],
            repeats=[name.decode("utf-8", "surrogateescape") for name in repeats],
            first_fire=score(fire.decode()),
            first_repeat=score(repeat.decode()),
            zone_data=sorted(version.decode("utf-8", "replace") for version in zone_data),
        )


def check_whole(notes: Notes, root: str, queue: Standing) -> None:
    """Run every check of a queue as a whole."""
    _lateness(notes, root, queue)
    _zone_data(notes, root, queue)
    if queue.waiting and not queue.paused and not queue.alive:
        text = f"{queue.waiting} jobs, or lanes with jobs, wait, and no worker is there"
        _stands(notes, "no-worker", text, root + "pending", "start a worker", "I10")
    if queue.outbox:
        text = f"{queue.outbox} reports to parents in other queues wait in the outbox"
        hint = "they are delivered by a pump of the other runtime"
        _stands(notes, "outbox", text, root + "flow:outbox", hint)
    if queue.outbox and b"\0" not in queue.outbox_head:
        notes.add(
            "outbox-blocked",
            "the first entry of the outbox cannot be read, so that nothing behind it is delivered",
            key=root + "flow:outbox",
            hint="look at it with LINDEX, then LPOP it",
            invariant="I3",
        )
    if queue.set_aside:
        text = f"{queue.set_aside} entries in quarantine, the newest: {queue.reason[:_REASON_SIZE]}"
        hint = "look at them with XREVRANGE"
        _stands(notes, "quarantine", text, root + "quarantine", hint)


def _lateness(notes: Notes, root: str, queue: Standing) -> None:
    for check, since, key, text in (
        ("lease-not-reaped", queue.first_lease, "active", "a lease that ended is not taken back"),
        ("due-not-promoted", queue.first_due, "schedule", "a job that is due is not promoted"),
        (
            "not-fired",
            queue.first_fire,
            "schedulers",
            "a scheduler that is due is not fired",
        ),
        (
            "repeat-not-fired",
            queue.first_repeat,
            "repeat",
            "a repeat that is due is not fired",
        ),
    ):
        late = queue.now - since
        if late > LATE_MS:
            for_long = "" if late > queue.now - 1 else f" (for {int(late / 1000)} s)"
            _stands(notes, check, text + for_long, root + key, "start a worker", "I3")


def _zone_data(notes: Notes, root: str, queue: Standing) -> None:
    versions = [version[:_VERSION_SIZE] or "none" for version in queue.zone_data]
    if len(versions) > 1:
        text = f"the workers have different time zone data: {', '.join(versions)}"
        hint = "bring them up to date: after a change of law they disagree about the time of day"
        _stands(notes, "zone-data", text, root + "workers", hint)


def _stands(  # noqa: PLR0913, PLR0917 - each is a field of a finding
    notes: Notes, check: str, text: str, key: str, hint: str, invariant: str | None = None
) -> None:
    """Tell how things stand: worth a word, but nothing is out of place."""
    notes.add(
        check,
        text,
        key=key,
        hint=hint,
        invariant=invariant,
        severity=Severity.WARN,
        is_quiet=False,
    )
