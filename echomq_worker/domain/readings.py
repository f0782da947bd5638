"""What the sorted sets of a queue mean: one structure, read as a clock, a queue and a ladder."""

from collections.abc import Sequence
from dataclasses import dataclass

from echomq_worker.domain.ids import parse_id
from echomq_worker.domain.priority import TIER
from echomq_worker.errors import InvalidIdError

MEANINGS = {
    "schedule": "a clock: the score is when a job is due",
    "pending": "a queue: the score is 0, and an id sorts as the instant it was minted",
    "prioritized": "a ladder: the score is priority x 2^32 + arrival number",
    "active": "a clock: the score is when a lease ends",
    "dead:at": "a clock: the score is when a job died",
    "gates": "a clock: the score is when a gate opens; inf if something has to happen",
    "schedulers": "a clock: the score is when a scheduler fires next; inf while it rests",
    "repeat": "a clock: the score is when a registration of the base wire fires next",
}
"""The reading of each set, by what stands behind `emq:{queue}:` in its key."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A member at the head of a set, decoded.

    Args:
        member: the member.
        at_ms: the instant that its score, or in `pending` its id, stands for; None for none.
        priority: its priority, in `prioritized`.
        arrival: its arrival number, in `prioritized`.
    """

    member: str
    at_ms: int | None = None
    priority: int | None = None
    arrival: int | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """One set: how many members it has, and the first of them."""

    suffix: str
    count: int
    head: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class LaneReading:
    """A lane in the rotation: whose turn comes, and how it stands."""

    group: str
    name: str
    waiting: int
    active: int
    limit: int | None


@dataclass(frozen=True, slots=True)
class QueueReading:
    """A queue as it lies on the server.

    Args:
        now_ms: the server's clock.
        is_paused: whether it is paused as a whole.
        sets: its sorted sets.
        lanes: the first lanes of the rotation.
        lane_count: how many are in the rotation.
    """

    now_ms: int
    is_paused: bool
    sets: tuple[Reading, ...]
    lanes: tuple[LaneReading, ...]
    lane_count: int


def read_entry(suffix: str, member: str, score: str) -> Entry:
    """Decode a member of a set by its score."""
    value = float(score)
    if suffix == "pending":
        return Entry(member, _minted_ms(member))
    if suffix == "prioritized":
        priority, arrival = divmod(int(value), TIER)
        return Entry(member, priority=priority, arrival=arrival)
    return Entry(member, None if value in {float("inf"), float("-inf")} else int(value))


def read_set(suffix: str, count: int, flat: Sequence[str]) -> Reading:
    """Decode the head of a set: members and scores in turn."""
    pairs = zip(flat[::2], flat[1::2], strict=True)
    return Reading(suffix, count, tuple(read_entry(suffix, member, at) for member, at in pairs))


def _minted_ms(member: str) -> int | None:
    try:
        return parse_id(member).unix_ms
    except InvalidIdError:
        return None
