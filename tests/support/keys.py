"""Which keys the package may leave on a server, read off the module that spells them."""

import inspect
import re
from functools import cache

from echomq_worker.protocol import keyspace
from echomq_worker.protocol.keyspace import JOB_SUBKEYS, Keyspace

SHARED = frozenset({keyspace.VERSION_KEY, keyspace.NODES_KEY})
EXPIRING = re.compile(r"(call:.+|pump|done:.+|worker:.+|aside:.+)")
"""Extension keys that must never be left without an expiry."""

# What a parameter of a `Keyspace` method is called → an example, and what else may stand there.
FILLERS = {
    "job_id": ("JOB00000000001", "[A-Z]{3}[0-9A-Za-z]{11}"),
    "part": ("logs", "|".join(sorted(JOB_SUBKEYS))),
    "group": ("LAN00000000001", "[A-Z]{3}[0-9A-Za-z]{11}"),
    "dedup_id": ("dedup-example", "[A-Za-z0-9._-]{1,255}"),
}
ANYTHING = ("example", ".+")


@cache
def known_suffixes() -> re.Pattern[str]:
    """Return what may follow `emq:{queue}:` in a key."""
    keys = Keyspace("q")
    patterns = [re.escape("stream:") + ".+"]
    for name, member in inspect.getmembers(Keyspace):
        if name.startswith("_") or name in {"queue", "root"}:
            continue
        if isinstance(member, property):
            patterns.append(re.escape(getattr(keys, name).removeprefix(keys.root)))
        elif callable(member):
            patterns.append(_family(keys, name))
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


def _family(keys: Keyspace, method: str) -> str:
    parameters = inspect.signature(getattr(keys, method)).parameters
    fillers = [FILLERS.get(parameter, ANYTHING) for parameter in parameters]
    key: str = getattr(keys, method)(*(example for example, _ in fillers))
    pattern = re.escape(key.removeprefix(keys.root))
    for example, others in fillers:
        pattern = pattern.replace(re.escape(example), f"(?:{others})")
    return pattern


def complaint(key: str, *, queues: set[str], expires: bool) -> str | None:
    """Say what is wrong with a key that a test left behind; None if it may be there.

    `queues` are the names that the test was given; `expires` tells whether the key has an expiry.
    """
    if key in SHARED:
        return None
    found = re.fullmatch(r"emq:\{([^{}]*)\}:(.*)", key, re.DOTALL)
    if found is None:
        return f"{key}: no key of the wire (emq:{{queue}}:...)"
    queue, suffix = found.groups()
    if queue not in queues:
        return f"{key}: of a queue that the test was not given"
    if not known_suffixes().fullmatch(suffix):
        return f"{key}: protocol/keyspace.py does not spell such a key"
    if EXPIRING.fullmatch(suffix) and not expires:
        return f"{key}: must expire, but has no expiry"
    return None
