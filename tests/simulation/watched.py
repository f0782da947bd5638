"""A virtual server that remembers which schedulers it was asked to fire, and which it did."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.simulation.server import Change, VirtualServer

REFUSED = (b"x", b"i", b"l")
"""Words that say that nothing was done."""


@dataclass(frozen=True)
class Shot:
    """One firing of one scheduler, as the server has accepted it."""

    name: str
    at_ms: int
    instants: tuple[int, ...]


class WatchedServer(VirtualServer):
    """Remembers what was fired."""

    def __init__(self, path: str, change: Change = lambda _name, source: source) -> None:
        super().__init__(path, change)
        self.shots: list[Shot] = []
        self.fired: Callable[[], object] = lambda: None
        """Called at each firing."""
        self._head: Any = None

    def head(self, key: str) -> Any:
        """The first of a sorted set, and its score."""
        if self._head is None:
            self._head = self.ask("ZRANGE", key, 0, 0, "WITHSCORES")
        return self._head

    def run(self, now_ms: int, parts: Any) -> Any:
        self._head = None
        reply = super().run(now_ms, parts)
        if self.names[self.sha_of(parts)] == "fire":
            at = 3 + int(parts[2]) + 1
            for word in reply:
                pairs = int(parts[at + 8])
                instants = parts[at + 10 : at + 9 + 2 * pairs : 2]
                if word not in REFUSED:
                    fired = zip(instants, word.decode(), strict=True)
                    made = tuple(int(instant) for instant, verdict in fired if verdict == "1")
                    self.shots.append(Shot(parts[at].decode(), now_ms, made))
                at += 9 + 2 * pairs
            self.fired()
        return reply
