"""Checks of lanes: their counts are true, and what can be served is in the rotation."""

from collections.abc import Sequence

from echomq_worker.doctor.state.facts import number
from echomq_worker.doctor.state.keys import bytes_text
from echomq_worker.doctor.state.notes import Notes


def check_lane(notes: Notes, root: str, reply: Sequence[bytes | int]) -> None:
    """Check a lane by what `audit_lanes.lua` says of it."""
    lane, waiting, in_ring, paused, ceiling, counted, really = map(bytes_text, reply)
    key = f"{root}g:{lane}:pending"
    actives = number(counted) or 0
    if really and (actives != int(really) or (counted and number(counted) is None)):
        notes.add(
            "lane-count",
            f"lane {lane} counts {counted or 0} active jobs, but has {really}",
            key=key,
            invariant="I9",
            repair=f"set the count to {really}",
            subject=lane,
        )
    most = number(ceiling)
    if int(waiting) and in_ring == "0" and paused == "0" and (most is None or actives < most):
        notes.add(
            "lane-not-served",
            f"lane {lane} has {waiting} jobs, but is not in the rotation",
            key=key,
            invariant="I3",
            repair="put it into the rotation",
            subject=lane,
        )
