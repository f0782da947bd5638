"""What may name a lane, which group of the wire that is, and what is known of a lane."""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from hashlib import sha256
from typing import cast

from echomq_worker.domain.gates import Rate
from echomq_worker.domain.ids import encode, parse_id
from echomq_worker.domain.limits import LANE_COUNT, LANE_NAME
from echomq_worker.errors import InvalidArgumentError, InvalidIdError

NAMESPACE = "LAN"
"""What the group ids that are made from names begin with."""
_NAME = re.compile(rf"[!-~]{{1,{LANE_NAME}}}", re.ASCII)
_KEPT = 4_096
"""So many names keep their group ids: one is asked for with each job."""


class OnFull(StrEnum):
    """What becomes of a job that is enqueued to a lane that holds its maximum."""

    REFUSE = "refuse"
    DROP_OLDEST = "drop-oldest"


class Reassigned(StrEnum):
    """What became of a job that was to wait in another lane."""

    OK = "reassigned"
    NOOP = "noop"
    """It waits there already."""
    NOT_FOUND = "not_found"
    """There is no such job, or it is in no lane."""
    NOT_PENDING = "not_pending"
    """It does not wait: it runs, is due later, or is dead. Nothing was changed."""


class Turn(StrEnum):
    """How much is claimed of a lane whose turn it is."""

    SINGLE = "single"
    """One job."""
    WEIGHTED = "weighted"
    """As many as its weight says."""
    BATCH = "batch"
    """All."""


class LaneState(StrEnum):
    """Why a lane is served, or is not."""

    READY = "ready"
    """It has work, and is in the rotation."""
    IDLE = "idle"
    """It has no work."""
    PAUSED = "paused"
    FULL = "at its limit"
    """As many of its jobs are active as may be."""
    RATED = "waits for its rate"
    """As many of its jobs have started as may for now."""


@dataclass(frozen=True, slots=True)
class LanePause:
    """Since when a lane is paused, and why; None is what nobody said."""

    since_ms: int | None
    reason: str | None
    by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneView:
    """How one lane stood at a moment."""

    group: str
    """What it is called on the wire."""
    name: str
    """The name that it was made from; where that is not known, the group."""
    waiting: int
    active: int
    limit: int | None = None
    """How many of its jobs may be active at once."""
    weight: int = 1
    """How many of its jobs are served when it is its turn."""
    maximum: int | None = None
    """How many of its jobs may wait."""
    on_full: OnFull | None = None
    rate: Rate | None = None
    """How often its jobs may start."""
    kept_until_ms: int | None = None
    """Until when its rate keeps it back, in Unix ms."""
    first: bool = False
    """Whether it is served before the lanes that are not."""
    paused: LanePause | None = None
    oldest: str | None = None
    """The id of the waiting job that was minted first, and is next."""
    newest: str | None = None
    """The id of the waiting job that was minted last."""

    @property
    def state(self) -> LaneState:
        """Why it is served, or is not."""
        if self.paused is not None:
            return LaneState.PAUSED
        if self.waiting == 0:
            return LaneState.IDLE
        if self.limit is not None and self.active >= self.limit:
            return LaneState.FULL
        if self.kept_until_ms is not None:
            return LaneState.RATED
        return LaneState.READY


def check_lane_name(name: object) -> str:
    """Return `name` if it may name a lane.

    Raises:
        InvalidArgumentError: if it is not 1 to 200 visible ASCII characters without spaces.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        shown = name[:LANE_NAME] if isinstance(name, str) else name
        msg = (
            f"{shown!r} cannot name a lane: expected a text of 1 to {LANE_NAME} visible ASCII "
            f"characters without spaces, such as a tenant's id"
        )
        raise InvalidArgumentError(msg)
    return name


def lane_group(name: object) -> str:
    """Return the group of the wire that a lane of this name is.

    That is `LAN` and the first 63 bits of the name's SHA-256, as the digits of an id; a name that
    is a branded id itself, of any namespace, is the group's own.

    Raises:
        InvalidArgumentError: if it cannot name a lane.
    """
    return _group(check_lane_name(name))


@lru_cache(_KEPT)
def _group(name: str) -> str:
    try:
        return parse_id(name, None).text
    except InvalidIdError:
        digest = sha256(name.encode()).digest()
        return NAMESPACE + encode(int.from_bytes(digest[:8], "big") >> 1)


def check_lane_count(what: str, number: object) -> int:
    """Return a limit, weight or maximum of a lane; raise `InvalidArgumentError` for another."""
    if type(number) is not int or not 1 <= number <= LANE_COUNT:
        msg = f"{what} is {number!r}: expected a whole number from 1 to {LANE_COUNT:,}, or None"
        raise InvalidArgumentError(msg)
    return number


def check_on_full(word: object) -> OnFull:
    """Return what a full lane does; raise `InvalidArgumentError` for anything else."""
    if word not in tuple(OnFull):
        choices = " or ".join(repr(each.value) for each in OnFull)
        msg = f"on_full is {word!r}: expected {choices}"
        raise InvalidArgumentError(msg)
    return OnFull(cast("str", word))
