"""Checks of repeating registrations: each has a record, and each record a next time."""

from collections.abc import Sequence

from echomq_worker.doctor.state.facts import number
from echomq_worker.doctor.state.keys import bytes_text
from echomq_worker.doctor.state.notes import Notes
from echomq_worker.domain.finding import Severity


def check_repeat(notes: Notes, root: str, reply: Sequence[bytes | int]) -> None:
    """Check a registration by what `audit_repeats.lua` says of it."""
    name, due, kind, every, template = map(bytes_text, reply)
    key = f"{root}repeat:{name}"
    is_complete = bool(number(every)) and template == "1"
    if kind == "none" and due:
        notes.add(
            "repeat-without-record",
            f"the registration {name} has no record",
            key=key,
            repair="take it out",
            subject=name,
        )
    elif kind == "hash" and not is_complete:
        hint = "register it anew"
        text = f"the record of {name} lacks an interval or a template"
        notes.add("repeat-incomplete", text, key=key, hint=hint, severity=Severity.WARN)
    elif kind == "hash" and not due:
        notes.add(
            "repeat-without-time",
            f"the registration {name} has no next time",
            key=key,
            invariant="I3",
            repair=f"let it be due in {every} ms",
            subject=name,
        )
