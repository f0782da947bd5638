"""The families of keys that a queue may have: what each holds, and whether it must expire."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache

from echomq_worker.protocol.keyspace import JOB_SUBKEYS, NODES_KEY, VERSION_KEY

SHARED = frozenset({VERSION_KEY, NODES_KEY})
"""The keys that belong to no queue."""


class Lasting(Enum):
    """How long a key lasts."""

    EVER = auto()
    """It must have no expiry."""
    WHILE = auto()
    """It must have one."""
    EITHER = auto()


@dataclass(frozen=True, slots=True)
class Family:
    """Keys that look alike.

    Args:
        name: what stands after `emq:{queue}:`, up to the part that varies.
        kinds: the types that such a key may have; none stands for any.
        lasting: how long it lasts.
    """

    name: str
    kinds: frozenset[str]
    lasting: Lasting = Lasting.EVER


@dataclass(frozen=True, slots=True)
class KnownKey:
    """A key of a queue that has been recognised."""

    suffix: str
    family: Family
    subject: str = ""
    """What varies: an id, a lane, a name."""
    part: str = ""
    """For a part of a job: which one."""


_ID = "[A-Z]{3}[0-9A-Za-z]{11}"
_PARTS = "|".join(sorted(JOB_SUBKEYS))
_ROWS = {
    "zset": "pending active schedule dead dead:at repeat schedulers workers completed"
    " prioritized gates",
    "hash": "meta glimit gactive gweight metrics:completed metrics:failed"
    " gcredit gmax grate lane:names lane:pauses limits strikes busy",
    "list": "wake ring flow:outbox bell clock",
    "set": "paused lane:first",
    "stream": "quarantine log",
}
_STRINGS = (
    ("pump", Lasting.WHILE),
    ("limiter", Lasting.EITHER),
    ("pc", Lasting.EVER),
    ("turn", Lasting.EVER),
)
_PART_KINDS = {"logs": "list", "lock": "string", "dependencies": "string"}
_VARYING: dict[str, tuple[str, str, Lasting]] = {
    rf"job:(?P<subject>{_ID})": ("job", "hash", Lasting.EITHER),
    rf"job:(?P<subject>{_ID}):(?P<part>{_PARTS})": ("part", "hash", Lasting.EITHER),
    rf"g:(?P<subject>{_ID}):pending": ("lane", "zset", Lasting.EVER),
    r"de:(?P<subject>[A-Za-z0-9._-]{1,255})": ("de", "string", Lasting.EITHER),
    r"repeat:(?P<subject>.+)": ("repeat:", "hash", Lasting.EVER),
    r"scheduler:(?P<subject>.+)": ("scheduler", "hash", Lasting.EVER),
    r"call:(?P<subject>.+)": ("call", "string", Lasting.WHILE),
    r"aside:(?P<subject>.+)": ("aside", "*", Lasting.WHILE),
    rf"done:(?P<subject>{_ID})": ("done", "hash", Lasting.WHILE),
    r"worker:(?P<subject>.+)": ("worker", "hash", Lasting.WHILE),
    r"parked:(?P<subject>.+)": ("parked", "zset", Lasting.EVER),
    r"rate:(?P<subject>.+)": ("rate", "*", Lasting.WHILE),
    r"stream:(?P<subject>.+):archived": ("archived", "string", Lasting.EITHER),
    r"stream:(?P<subject>.+)": ("stream", "stream", Lasting.EITHER),
}


@cache
def _families() -> list[tuple[re.Pattern[str], Family]]:
    return list(_all_families())


def _all_families() -> Iterator[tuple[re.Pattern[str], Family]]:
    for kind, names in _ROWS.items():
        for name in names.split():
            yield re.compile(re.escape(name)), Family(name, frozenset({kind}))
    for name, lasting in _STRINGS:
        yield re.compile(name), Family(name, frozenset({"string"}), lasting)
    for pattern, (name, kind, lasting) in _VARYING.items():
        yield re.compile(pattern, re.DOTALL), Family(name, frozenset({kind} - {"*"}), lasting)


_BY_NAME = {
    name: Family(name, frozenset({kind})) for kind, names in _ROWS.items() for name in names.split()
}


def known_key(suffix: str) -> KnownKey | None:
    """Recognise what follows `emq:{queue}:` in a key; None if nobody spells such a key."""
    if family := _BY_NAME.get(suffix):
        return KnownKey(suffix, family)
    for pattern, family in _families():
        if found := pattern.fullmatch(suffix):
            groups = found.groupdict()
            part = groups.get("part", "")
            if part in _PART_KINDS:
                family = Family(family.name, frozenset({_PART_KINDS[part]}), family.lasting)  # noqa: PLW2901 - a part holds its own
            return KnownKey(suffix, family, groups.get("subject", ""), part)
    return None
