"""Which commands a server is sent by others, and which ones scripts run: as an ACL names them."""

from collections.abc import Generator
from contextlib import contextmanager

import redis

from tests.support.least_rights import unrestricted

_END = "ECHO tests:end-of-monitoring"
_ALWAYS_ALLOWED = frozenset({"auth", "hello", "quit", "reset"})
"""What any user may send, whatever its rule says."""
_WITH_SUBCOMMANDS = frozenset({"client", "config", "script", "acl", "command"})


@contextmanager
def monitored(url: str) -> Generator[set[str]]:
    """Gather names such as `zadd` and `client|setname`; they are there when the block has ended."""
    seen: set[str] = set()
    plain = unrestricted(url)
    with redis.Redis.from_url(plain) as control, redis.Redis.from_url(plain) as listener:
        control.ping()
        with listener.monitor() as monitor:
            yield seen
            control.echo(_END.partition(" ")[2])
            for line in monitor.listen():
                command = str((line or {}).get("command", _END))
                if command == _END:
                    break
                seen.add(_name(command))
    seen -= _ALWAYS_ALLOWED


def _name(command: str) -> str:
    words = command.lower().split(" ", 2)
    return "|".join(words[:2]) if words[0] in _WITH_SUBCOMMANDS else words[0]
