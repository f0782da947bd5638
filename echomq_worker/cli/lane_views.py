"""What the command line tells about lanes, for people and for programs."""

from typing import Any

from echomq_worker.cli.words import moment, rfc3339
from echomq_worker.domain.lanes import LaneState, LaneView


def lane_record(queue: str, view: LaneView) -> dict[str, Any]:
    """Return all that is known of a lane, as plain data."""
    paused = view.paused
    return {
        "name": view.name,
        "queue": queue,
        "group": view.group,
        "state": view.state.name.lower(),
        "waiting": view.waiting,
        "active": view.active,
        "limit": view.limit,
        "weight": view.weight,
        "first": view.first,
        "maximum": view.maximum,
        "on_full": None if view.on_full is None else view.on_full.value,
        "rate": None if view.rate is None else str(view.rate),
        "kept_until": rfc3339(view.kept_until_ms),
        "paused_at": None if paused is None else rfc3339(paused.since_ms),
        "paused_by": None if paused is None else paused.by,
        "reason": None if paused is None else paused.reason,
        "oldest": view.oldest,
        "newest": view.newest,
    }


def lane_row(queue: str, view: LaneView) -> dict[str, Any]:
    """Return a lane as a row of the list: the same, and its state in words."""
    return lane_record(queue, view) | {"told": told(view)}


def lane_lines(queue: str, view: LaneView, now_ms: int) -> dict[str, object]:
    """Return all that is known of a lane, for people: only what there is."""
    paused, until_ms = view.paused, view.kept_until_ms
    lines: dict[str, object | None] = {
        "name": view.name,
        "queue": queue,
        "group": None if view.group == view.name else view.group,
        "state": told(view),
        "paused": None
        if paused is None
        else f"{moment(paused.since_ms, now_ms)} by {paused.by or 'unknown'}",
        "waiting": view.waiting,
        "active": _of(view.active, view.limit),
        "weight": view.weight,
        "served": "before others" if view.first else None,
        "at most": _maximum(view),
        "rate": view.rate,
        "next start": None if until_ms is None else moment(until_ms, now_ms),
        "oldest": view.oldest,
        "newest": view.newest if view.waiting > 1 else None,
    }
    return {name: value for name, value in lines.items() if value is not None}


def told(view: LaneView) -> str:
    """Write the state of a lane, with the reason of a pause."""
    if view.state is LaneState.PAUSED and view.paused is not None and view.paused.reason:
        return f"{view.state}: {view.paused.reason}"
    return view.state.value


def _of(count: int, most: int | None) -> str:
    return str(count) if most is None else f"{count} of {most}"


def _maximum(view: LaneView) -> str | None:
    if view.maximum is None or view.on_full is None:
        return None
    return f"{view.maximum} waiting, then {view.on_full.value}"
