"""How lanes are spelled as operands of scripts, and replies about them read back as values."""

import json
import re
from collections.abc import Sequence
from typing import Any, cast

from echomq_worker.domain.gates import Rate
from echomq_worker.domain.lanes import LanePause, LaneView, OnFull, lane_group
from echomq_worker.protocol.rows import read_ms, read_number
from echomq_worker.protocol.scripts import Operand

_WORDS = {OnFull.REFUSE: "refuse", OnFull.DROP_OLDEST: "drop"}
_RULE = re.compile(r"([0-9]{1,15}) ([0-9]{1,15}) ([0-9]{1,15}) (bucket|window)")
_ON_FULL = {word: on_full for on_full, word in _WORDS.items()}


def lane_operands(lane: str) -> dict[str, Operand]:
    """Spell a lane: its group, and the name if that is another.

    Raises:
        InvalidArgumentError: if it is none.
    """
    group = lane_group(lane)
    return {"lane": group, "name": "" if group == lane else lane}


def on_full_word(on_full: OnFull) -> str:
    """Spell what a full lane does."""
    return _WORDS[on_full]


def pause_note(reason: str, by: str) -> bytes:
    """Spell why a lane is paused, and by whom."""
    return json.dumps({"reason": reason, "by": by}, separators=(",", ":")).encode()


def read_lane(reply: Sequence[Any], known_as: str | None = None) -> LaneView:
    """Read one lane of `lane_list.lua`; `known_as` is what it was asked for by."""
    group, name, waiting, active, ceiling, weight, most, rate = reply[:8]
    paused, note, oldest, newest, first, kept_until = reply[8:]
    maximum, on_full = _read_maximum(most)
    own = _text(group)
    return LaneView(
        group=own,
        name=_text(name) or known_as or own,
        waiting=waiting,
        active=read_number(active) or 0,
        limit=read_number(ceiling) or None,
        weight=read_number(weight) or 1,
        maximum=maximum,
        on_full=on_full,
        rate=_read_rate(_text(rate)),
        kept_until_ms=read_ms(kept_until),
        first=first == 1,
        paused=_read_pause(note) if paused else None,
        oldest=_text(oldest) or None,
        newest=_text(newest) or None,
    )


def _read_maximum(text: bytes) -> tuple[int | None, OnFull | None]:
    number, _, word = text.partition(b" ")
    maximum, on_full = read_number(number), _ON_FULL.get(_text(word))
    return (None, None) if not maximum or on_full is None else (maximum, on_full)


def _read_rate(rule: str) -> Rate | None:
    """Read `<count> <window ms> <burst> bucket`, or the same with `window`."""
    found = _RULE.fullmatch(rule)
    if found is None:
        return None
    count, window_ms, burst = (int(found[i]) for i in (1, 2, 3))
    return Rate(count, window_ms, burst, found[4] == "window")


def _read_pause(text: bytes) -> LanePause:
    """Read `<ms> <note>`; of a lane that a peer has paused nothing is told."""
    since, _, note = text.partition(b" ")
    try:
        told: Any = json.loads(note)
    except ValueError:
        told = {}
    said = cast("dict[str, Any]", told) if isinstance(told, dict) else {}
    return LanePause(
        since_ms=read_number(since),
        reason=str(said.get("reason") or "") or None,
        by=str(said.get("by") or "") or None,
    )


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")
