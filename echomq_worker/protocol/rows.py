"""How jobs and outcomes are spelled as operands of scripts, and replies read back as values."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from echomq_worker.domain.job import After, At, Claimed, Held, JobId, NewJob
from echomq_worker.domain.limits import NUMBER_DIGITS
from echomq_worker.domain.outcome import (
    Buried,
    Completed,
    HandedBack,
    Outcome,
    Retried,
    Snoozed,
    Verdict,
)
from echomq_worker.errors import InvalidArgumentError
from echomq_worker.protocol.scripts import Operand

_VERDICTS = {"0": Verdict.GONE, "1": Verdict.OK, "2": Verdict.ALREADY, "3": Verdict.STALE}
_COMMON = 11
"""How many values a job has in a handout, unless it has some of those that few have."""


def new_job_operands(job: NewJob) -> list[Operand]:
    """Spell one job for `enqueue.lua`, or for `schedule.lua` if it has a due time.

    Raises:
        InvalidArgumentError: if the wire cannot carry a part of it.
    """
    operands: list[Operand] = [_text(job, "id", job.id), _bytes(job, job.payload)]
    match job.due:
        case After(delay_ms):
            operands += ["in", _number(job, "delay", delay_ms)]
        case At(unix_ms):
            operands += ["at", _number(job, "due time", unix_ms)]
        case None:
            pass
    fields = _extra_fields(job)
    return [*operands, len(fields) // 2, *fields]


def row_operands(job: NewJob) -> list[Operand]:
    """Spell the fields of a job's row beside its state, attempts and payload: name and value."""
    return _extra_fields(job)


def outcome_operands(held: Held, outcome: Outcome) -> tuple[Operand, ...]:
    """Spell one settlement for `settle.lua`: kind, id, token, claim id, ms, text, history."""
    who = (held.id, held.token, held.claim)
    match outcome:
        case Completed(result, keep_ms):
            return ("C", *who, keep_ms, result or b"", b"")
        case Retried(delay_ms, error, failures, counted):
            return ("R" if counted else "r", *who, delay_ms, _told(error), failures)
        case Buried(error, failures, pauses):
            return ("N" if pauses else "B", *who, 0, _told(error), failures)
        case Snoozed(until_ms=int(until_ms)):
            return ("A", *who, until_ms, b"", b"")
        case Snoozed(delay_ms, unknown):
            return ("U" if unknown else "S", *who, delay_ms, b"", b"")
        case HandedBack(started, scope):
            return ("P" if scope else "h" if started else "H", *who, 0, scope.encode(), b"")


def held_operands(held: Iterable[Held]) -> list[Operand]:
    """Spell held jobs for `extend.lua`: id, token and claim id of each."""
    operands: list[Operand] = []
    for job in held:
        operands += (job.id, job.token, job.claim)
    return operands


def read_verdicts(reply: bytes) -> list[Verdict]:
    """Read the verdicts of `settle.lua` or `extend.lua`, one character each."""
    return [_VERDICTS[character] for character in reply.decode()]


def read_handout(
    reply: Sequence[Any],
    queue: str,
    claim: str,
    *,
    watching: bool = False,
    next_fire: bytes = b"",
) -> Claimed:
    """Read what `claim.lua`, `settle.lua` and `beat.lua` say about a claim."""
    now_ms, next_due, left, paused, set_aside, rows, stopped = reply[:7]
    struck = tuple(scope.decode() for scope in stopped)
    return Claimed(
        now_ms=now_ms,
        next_due_ms=read_ms(next_due),
        left=left,
        jobs=[
            replace(held, struck=struck) if struck else held
            for held in (_held(queue, claim, row) for row in rows)
        ],
        paused=paused == 1,
        set_aside=set_aside,
        watching=watching,
        next_fire_ms=read_ms(next_fire),
    )


def read_ms(text: bytes) -> int | None:
    """Read a score in ms; an empty text is none, and a part of a ms counts as a whole one."""
    if not text:
        return None
    score = float(text)
    if not math.isfinite(score):
        return None
    return -int(-score // 1)


def read_text(value: bytes | None) -> str | None:
    """Read a field that should be text; what is none is replaced character by character."""
    return None if value is None else value.decode("utf-8", "replace")


def read_number(value: bytes | None) -> int | None:
    """Read a field that should be a number from 0; None if it is none, or out of all reason."""
    if value is None or not value.isdigit() or len(value) > NUMBER_DIGITS:
        return None
    return int(value)


def read_signed(value: bytes | None) -> int:
    """Read a field that should be a whole number, of whatever sign; 0 if it is none."""
    if value is None:
        return 0
    number = read_number(value.removeprefix(b"-")) or 0
    return -number if value.startswith(b"-") else number


def _told(error: str) -> bytes:
    # The message of an exception may hold what UTF-8 cannot carry, such as half of a pair.
    return error.encode("utf-8", "backslashreplace")


def _extra_fields(job: NewJob) -> list[Operand]:
    fields: list[Operand] = []
    if job.name is not None:
        fields += ["name", _text(job, "name", job.name)]
    if job.max_attempts is not None:
        fields += ["max", _number(job, "max_attempts", job.max_attempts)]
    if job.keep_result_ms is not None:
        fields += ["keep", _number(job, "keep_result_ms", job.keep_result_ms)]
    if job.group is not None:
        fields += ["group", _text(job, "group", job.group)]
    return fields + _rare_fields(job)


def _rare_fields(job: NewJob) -> list[Operand]:
    """Spell what few jobs have; `more` says so. The scripts look for `expires_in` at the end."""
    fields: list[Operand] = []
    if job.priority:
        fields += ["priority", _number(job, "priority", job.priority)]
    if job.lane is not None:
        fields += ["lane", _text(job, "lane", job.lane)]
    if job.limit_key is not None:
        fields += ["key", _text(job, "limit key", job.limit_key)]
    if job.timeout_ms is not None:
        fields += ["timeout", _number(job, "timeout_ms", job.timeout_ms)]
    if job.backoff is not None:
        fields += ["backoff", _text(job, "backoff", job.backoff)]
    match job.expires:
        case After(delay_ms):
            fields += ["expires_in", _number(job, "expires", delay_ms)]
        case At(unix_ms):
            fields += ["expires", _number(job, "expires", unix_ms)]
        case None:
            pass
    return ["more", "1", *fields] if fields else []


def _text(job: NewJob, what: str, value: object) -> str:
    try:
        if isinstance(value, str):
            value.encode()
            return value
    except UnicodeEncodeError:
        pass
    raise _unfit(job, what, value, "a text that UTF-8 can carry")


def _number(job: NewJob, what: str, value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise _unfit(job, what, value, "a whole number")


def _bytes(job: NewJob, value: object) -> bytes:
    if isinstance(value, bytes):
        return value
    msg = f"job {job.id!a}: its payload is a {type(value).__name__}: expected bytes"
    raise InvalidArgumentError(msg)


def _unfit(job: NewJob, what: str, value: object, expected: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"job {job.id!a}: its {what} is {value!a:.80}: expected {expected}. Nothing was sent"
    )


def _held(queue: str, claim: str, row: Sequence[Any]) -> Held:
    id_, token, payload, name, most, returned, crashes, failures, unknown, keep, group = row[:11]
    held = Held(
        queue=queue,
        id=JobId(id_.decode()),
        payload=payload,
        token=int(token),
        claim=claim,
        name=read_text(name),
        max_attempts=read_number(most) or None,  # a limit of 0 is none: the worker's counts
        returned=read_number(returned) or 0,
        crashes=read_number(crashes) or 0,
        failures=failures,
        unknown_since_ms=read_number(unknown),
        keep_result_ms=read_number(keep),
        group=read_text(group),
    )
    return _with_more(held, row[11:]) if len(row) > _COMMON else held


def _with_more(held: Held, row: Sequence[Any]) -> Held:
    timeout, backoff, expires, scheduler, instant, priority, lane = row
    return replace(
        held,
        timeout_ms=read_number(timeout),
        backoff=read_text(backoff),
        expires_ms=read_number(expires),
        scheduler=read_text(scheduler),
        instant_ms=read_number(instant),
        priority=read_signed(priority),
        lane=read_text(lane),
    )
