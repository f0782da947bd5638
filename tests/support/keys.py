"""Which keys the package may leave on a server."""

import re

from echomq_worker.protocol.families import SHARED, Lasting, known_key


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
    known = known_key(suffix)
    if known is None:
        return f"{key}: protocol/families.py knows no such key"
    if known.family.lasting is Lasting.WHILE and not expires:
        return f"{key}: must expire, but has no expiry"
    return None
