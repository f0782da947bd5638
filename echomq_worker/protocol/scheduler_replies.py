"""How firings are spelled for scripts, and what scripts say about schedulers is read back."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from echomq_worker.domain.cron import CronRule
from echomq_worker.domain.job import JobId
from echomq_worker.domain.scheduling.plan import wake_ms
from echomq_worker.domain.scheduling.records import (
    FIRED_AT_ONCE,
    OCCURRENCES_AT_ONCE,
    Due,
    DueScheduler,
    Fired,
    Firing,
    OccurrenceVerdict,
    RunNote,
    SchedulerState,
    SchedulerView,
    Whole,
)
from echomq_worker.domain.scheduling.rule import LAST_INSTANT_MS
from echomq_worker.domain.scheduling.spec import SchedulerSpec
from echomq_worker.domain.views import PauseNote
from echomq_worker.errors import CorruptSchedulerError, UnknownZoneError
from echomq_worker.protocol.rows import read_ms, read_number, read_text
from echomq_worker.protocol.scheduler_rows import FIELDS, read_spec
from echomq_worker.protocol.scripts import Operand

DUE_FIELDS = (
    "digest",
    "next",
    "tz",
    "count",
    "held",
    "paused",
    "last",
    "since",
    "revision",
    *FIELDS,
)
"""What `due_schedulers.lua` is asked for: all that firing is planned from."""

CALL_SCHEDULERS = FIRED_AT_ONCE // 2
CALL_OCCURRENCES = OCCURRENCES_AT_ONCE // 2
"""What goes in one call of `fire.lua`, which takes twice as much: other clients wait meanwhile."""

_VERDICTS = {
    "1": OccurrenceVerdict.FIRED,
    "s": OccurrenceVerdict.SKIPPED,
    "q": OccurrenceVerdict.HELD,
    "d": OccurrenceVerdict.DONE,
}
_WHOLES = {"x": Whole.TAKEN, "i": Whole.ID_TAKEN, "l": Whole.LATER}
_INSTANT = re.compile(rb"[0-9]{0,15}")


def firing_parts(firings: Iterable[Firing]) -> Iterator[list[Firing]]:
    """Yield firings in parts that one call of `fire.lua` can take."""
    part: list[Firing] = []
    occurrences = 0
    for firing in firings:
        size = len(firing.occurrences)
        if part and (len(part) == CALL_SCHEDULERS or occurrences + size > CALL_OCCURRENCES):
            yield part
            part, occurrences = [], 0
        part.append(firing)
        occurrences += size
    if part:
        yield part


def timing_operands(spec: SchedulerSpec, instant_ms: int | None, tz: str) -> dict[str, Operand]:
    """Spell when a scheduler fires next; `tz` is dropped if its rule does not depend on it."""
    zoned = isinstance(spec.rule, CronRule) and spec.rule.zone != "UTC"
    return {
        "instant": ms_operand(instant_ms),
        "wake": ms_operand(None if instant_ms is None else wake_ms(spec, instant_ms)),
        "tz": tz if zoned else "",
    }


def firing_operands(firings: Iterable[Firing]) -> list[Operand]:
    """Spell firings for `fire.lua`."""
    operands: list[Operand] = []
    for firing in firings:
        operands += (
            scheduler_bytes(firing.name),
            ms_operand(firing.expected_ms),
            firing.digest,
            ms_operand(firing.next_ms),
            ms_operand(firing.wake_ms),
            firing.tz,
            firing.ended,
            firing.missed,
            len(firing.occurrences),
        )
        for job_id, instant_ms in firing.occurrences:
            operands += (job_id, instant_ms)
    return operands


def read_fired(firings: Sequence[Firing], words: Sequence[bytes]) -> list[Fired]:
    """Read what `fire.lua` says about firings."""
    return [_fired(firing.name, word.decode()) for firing, word in zip(firings, words, strict=True)]


def read_due(reply: Sequence[Any]) -> Due:
    """Read what `due_schedulers.lua` says."""
    now_ms, next_ms, found, repeat = reply
    schedulers = tuple(_due(one) for one in found)
    return Due(now_ms, read_ms(next_ms), schedulers, _first_ms(repeat))


def _first_ms(score: bytes) -> int | None:
    return 0 if score == b"-inf" else read_ms(score)


def read_view(found: Sequence[Any]) -> SchedulerView | None:
    """Read what `read_schedulers.lua` says of one scheduler; None if there is none.

    Of one that cannot be read, all that can is told.
    """
    raw_name, wake, kind, flat = found
    name = scheduler_text(raw_name)
    if kind == b"none" and not wake:
        return None
    if kind != b"hash":
        return SchedulerView(
            name=name, state=SchedulerState.CORRUPT, problem=_not_a_hash(name, kind)
        )
    fields = {read_text(flat[i]) or "": flat[i + 1] for i in range(0, len(flat), 2)}
    spec, problem, is_corrupt = _spec(name, fields)
    return SchedulerView(
        name=name,
        state=SchedulerState.CORRUPT if is_corrupt else _state(fields),
        spec=spec,
        problem=problem,
        next_ms=read_number(fields.get("next")),
        wake_ms=read_ms(wake),
        last_ms=read_number(fields.get("last")),
        count=read_number(fields.get("count")) or 0,
        missed=read_number(fields.get("missed")) or 0,
        skipped=read_number(fields.get("skipped")) or 0,
        paused=_pause_note(fields),
        ended=read_text(fields.get("ended")) or "",
        held_ms=read_number(fields.get("held")),
        since_ms=read_number(fields.get("since")),
        revision=read_number(fields.get("revision")) or 0,
        source=read_text(fields.get("source")) or "",
        tz=read_text(fields.get("tz")) or "",
        digest=read_text(fields.get("digest")) or "",
        created_ms=read_number(fields.get("created")),
        changed_ms=read_number(fields.get("changed")),
        runs=tuple(_runs(fields)),
    )


def scheduler_text(name: bytes) -> str:
    """Read a name, whatever bytes somebody has put there."""
    return name.decode("utf-8", "surrogateescape")


def scheduler_bytes(name: str) -> bytes:
    """Spell a name that was read."""
    return name.encode("utf-8", "surrogateescape")


def ms_operand(unix_ms: int | None) -> Operand:
    """Spell an instant; '' for none."""
    return "" if unix_ms is None else unix_ms


def _fired(name: str, word: str) -> Fired:
    if word in _WHOLES:
        return Fired(name, _WHOLES[word])
    return Fired(name, Whole.OK, tuple(_VERDICTS[character] for character in word))


def _due(found: Sequence[Any]) -> DueScheduler:
    raw_name, wake, kind, values = found
    name, wake_ms = scheduler_text(raw_name), read_ms(wake) or 0
    if kind != b"hash":
        return DueScheduler(
            name=name, problem=_not_a_hash(name, kind), is_corrupt=True, wake_ms=wake_ms
        )
    pairs = zip(DUE_FIELDS, values, strict=True)
    fields = {field: value for field, value in pairs if value is not None}
    spec, problem, is_corrupt = _spec(name, fields)
    return DueScheduler(
        name=name,
        spec=spec,
        problem=problem,
        is_corrupt=is_corrupt,
        next_ms=read_number(fields.get("next")),
        wake_ms=wake_ms,
        digest=read_text(fields.get("digest")) or "",
        tz=read_text(fields.get("tz")) or "",
        count=read_number(fields.get("count")) or 0,
        held_ms=read_number(fields.get("held")),
        last_ms=read_number(fields.get("last")),
        since_ms=read_number(fields.get("since")),
    )


def _spec(name: str, fields: Mapping[str, bytes]) -> tuple[SchedulerSpec | None, str, bool]:
    """Return the declaration; or None, why it cannot be read, and whether it is broken for good."""
    try:
        _check_books(name, fields)
        return read_spec(name, fields), "", False
    except UnknownZoneError as error:
        return None, f"scheduler {name}: {error}", False
    except CorruptSchedulerError as error:
        return None, str(error), True


def _check_books(name: str, fields: Mapping[str, bytes]) -> None:
    if not fields.get("digest"):
        msg = f"scheduler {name}: it has no digest: expected the fields that a declaration writes"
        raise CorruptSchedulerError(msg)
    if "next" not in fields:
        msg = f"scheduler {name}: it has no next: expected an instant, or '' if it has ended"
        raise CorruptSchedulerError(msg)
    for field in ("next", "count", "held", "last"):
        value = fields.get(field, b"")
        if not _INSTANT.fullmatch(value):
            msg = f"scheduler {name}: its {field} is {value[:64]!r}: expected a whole number"
            raise CorruptSchedulerError(msg)
    last = fields.get("last") or b"0"
    # Nothing would fire before it.
    if int(last) > LAST_INSTANT_MS or int(last) >= int(fields["next"] or LAST_INSTANT_MS + 1):
        msg = f"scheduler {name}: its last is {last!r}: expected an instant before the next one"
        raise CorruptSchedulerError(msg)


def _not_a_hash(name: str, kind: bytes) -> str:
    if kind == b"none":
        return f"scheduler {name}: there is nothing but its name: expected a hash"
    return f"scheduler {name}: its key holds a {kind.decode()}, expected a hash"


def _state(fields: Mapping[str, bytes]) -> SchedulerState:
    if "paused" in fields:
        return SchedulerState.PAUSED
    if fields.get("ended") and "held" not in fields:
        return SchedulerState.ENDED
    return SchedulerState.WAITING


def _pause_note(fields: Mapping[str, bytes]) -> PauseNote | None:
    if "paused" not in fields:
        return None
    return PauseNote(
        read_number(fields.get("paused_at")),
        read_text(fields["paused"]) or None,
        read_text(fields.get("paused_by")),
    )


def _runs(fields: Mapping[str, bytes]) -> Iterable[RunNote]:
    for instant in (read_text(fields.get("runs")) or "").split():
        words = (read_text(fields.get(f"run:{instant}")) or "").split()
        instant_ms = read_number(instant.encode())
        if len(words) == 3 and instant_ms is not None:  # noqa: PLR2004 - id, outcome, ms
            at_ms = read_number(words[2].encode()) or 0
            yield RunNote(instant_ms, JobId(words[0]), words[1], at_ms)
