"""Checks of caps: as many jobs count as active as hold a slot."""

from collections.abc import Sequence

from echomq_worker.doctor.state.keys import bytes_text
from echomq_worker.doctor.state.notes import Notes


def check_cap(notes: Notes, root: str, reply: Sequence[bytes | int]) -> None:
    """Note a cap of which `audit_caps.lua` says that it counts wrong."""
    cap, counted, really = map(bytes_text, reply)
    notes.add(
        "cap-count",
        f"{cap} counts {counted} active jobs, but {really} hold a slot",
        key=f"{root}busy",
        invariant="I9",
        repair=f"set the count to {really}",
        subject=cap,
    )
