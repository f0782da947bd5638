"""The version fence: what is said on a new connection before anything else."""

from collections.abc import Generator

from echomq_worker.protocol.keyspace import VERSION_KEY

Dialogue = Generator[tuple[str, ...], bytes | str | None, str]
"""Commands to send one by one; it takes their replies and ends with the version found."""


def fence(own: str) -> Dialogue:
    """Claim the wire version for this server, or find out which one it has.

    A value that is there is never overwritten.
    """
    found = yield "GET", VERSION_KEY
    if found is None:
        yield "SET", VERSION_KEY, own, "NX"
        found = yield "GET", VERSION_KEY
    return found.decode("utf-8", "replace") if isinstance(found, bytes) else str(found)
