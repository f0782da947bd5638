"""Repairs: each by a script that looks again before it changes anything."""

from collections.abc import Callable, Iterator, Mapping

from echomq_worker.doctor.state.asking import Question, Steps, ask
from echomq_worker.doctor.state.notes import StateFinding
from echomq_worker.protocol.families import known_key
from echomq_worker.protocol.keyspace import Keyspace

WEEK_MS = 604_800_000
_LIVES_MS = {"call": 600_000, "pump": 60_000, "worker": 60_000}
_DAY_MS = 86_400_000
_COUNTED = 10_000

Mend = Callable[[Keyspace, StateFinding], Question]


def _job(keys: Keyspace, finding: StateFinding) -> Question:
    return ask(keys, "repair_job", _raw(finding.subject), _raw(finding.lane))


def _lane(keys: Keyspace, finding: StateFinding) -> Question:
    return ask(keys, "repair_lane", _raw(finding.subject))


def _cap(keys: Keyspace, finding: StateFinding) -> Question:
    return ask(keys, "recount_slots", _raw(finding.subject), _COUNTED)


def _repeat(keys: Keyspace, finding: StateFinding) -> Question:
    record = f"{keys.repeat}:{finding.subject}"
    return ask(keys, "repair_repeat", _raw(finding.subject), record=record)


def _scheduler(keys: Keyspace, finding: StateFinding) -> Question:
    return ask(keys, "repair_scheduler", _raw(finding.subject))


def _key(task: str) -> Mend:
    def mend(keys: Keyspace, finding: StateFinding) -> Question:
        key = finding.key or ""
        known = known_key(key.removeprefix(keys.root))
        family = known.family.name if known else ""
        ms = WEEK_MS if task == "leave" else _LIVES_MS.get(family, _DAY_MS)
        return ask(keys, "repair_key", task, finding.subject, ms, key=key)

    return mend


MENDS: Mapping[str, Mend] = {
    **dict.fromkeys(
        (
            *("member-without-row", "orphan-row", "parent-not-released", "two-places"),
            *("wrong-state", "wrong-lane", "bad-row", "wrong-score", "endless-lease"),
            *("dead-index", "expiring-row", "wrong-rank"),
        ),
        _job,
    ),
    **dict.fromkeys(("lane-count", "lane-not-served"), _lane),
    "cap-count": _cap,
    **dict.fromkeys(("repeat-without-record", "repeat-without-time"), _repeat),
    **dict.fromkeys(
        (
            *("scheduler-without-definition", "scheduler-without-time"),
            *("scheduler-wrong-time", "scheduler-asleep"),
        ),
        _scheduler,
    ),
    "no-expiry": _key("expire"),
    "expiring-key": _key("keep"),
    "dedup-of-the-gone": _key("release"),
    "part-without-row": _key("leave"),
}
"""What to do about a finding, by the name of its check."""


def mend_all(keys: Keyspace, findings: Iterator[StateFinding]) -> Steps[list[StateFinding]]:
    """Repair one finding after the other; return those where something was changed."""
    done: list[StateFinding] = []
    for finding in findings:
        if finding.repair and (yield MENDS[finding.check](keys, finding)) == 1:
            done.append(finding)  # noqa: PERF401 - a list comprehension cannot yield
    return done


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
