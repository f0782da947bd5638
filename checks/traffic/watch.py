"""Counts the commands that a server is sent, and those that scripts run inside."""

from collections import Counter
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import redis

from echomq_worker.protocol.scripts import script, script_names

SET_UP = frozenset({"HELLO", "AUTH", "CLIENT", "SELECT", "PING"})
"""What a connection says when it is made: no work, and not counted."""
_END = "ECHO checks:end-of-scenario"


@dataclass(slots=True)
class Traffic:
    """The commands of one stretch of time."""

    sent: Counter[str] = field(default_factory=Counter[str])
    """By clients. With no pipelines, each is a round trip."""
    inside: Counter[str] = field(default_factory=Counter[str])
    """By scripts."""

    def count(self, lines: Iterable[tuple[bool, str]]) -> None:
        """Add commands: whether a script ran it, and its text."""
        for by_script, command in lines:
            name = command.partition(" ")[0].upper()
            if by_script:
                self.inside[name] += 1
            elif name not in SET_UP:
                self.sent[name] += 1


@contextmanager
def watched(url: str) -> Generator[Traffic]:
    """Count what a server is sent by others inside the block; the counts are there after it."""
    traffic = Traffic()
    with redis.Redis.from_url(url) as control, redis.Redis.from_url(url) as listener:
        control.ping()  # so that it connects before anything is counted
        with listener.monitor() as monitor:
            yield traffic
            control.echo(_END.partition(" ")[2])
            traffic.count(_until_end(monitor.listen()))


def _until_end(lines: Iterable[Any]) -> Generator[tuple[bool, str]]:
    for line in lines:
        seen = cast("dict[str, str]", line)
        if seen["command"] == _END:
            return
        yield seen["client_type"] == "lua", seen["command"]


def load_scripts(url: str) -> None:
    """Give a server all scripts, so that no call is counted twice because its script is new."""
    with redis.Redis.from_url(url) as control:
        for name in script_names():
            control.script_load(script(name).source)


def script_time_us(url: str) -> float:
    """Return the mean time that a script call has taken since the server started, in µs."""
    with redis.Redis.from_url(url) as control:
        stats = cast("dict[str, dict[str, float]]", control.info("commandstats"))
    return stats.get("cmdstat_evalsha", {}).get("usec_per_call", 0.0)
