"""What a test leaves on the server: checked, then deleted."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

import redis

from tests.support.keys import complaint

NO_EXPIRY = -1


@dataclass
class LeakCheck:
    """Watches a server during one test."""

    server: "redis.Redis"
    queues: set[str] = field(default_factory=set[str])
    """The names that the test was given."""
    before: frozenset[bytes] = field(init=False)

    def __post_init__(self) -> None:
        self.before = self._keys()

    def finish(self) -> list[str]:
        """Delete what the test left behind; return what it should not have left."""
        left = sorted(self._keys() - self.before)
        complaints = [self._complaint(key) for key in left]
        if left:
            self.server.delete(*left)
        return [text for text in complaints if text is not None]

    def _complaint(self, key: bytes) -> str | None:
        expires = self.server.pttl(key) != NO_EXPIRY
        return complaint(key.decode(errors="replace"), queues=self.queues, expires=expires)

    def _keys(self) -> frozenset[bytes]:
        found = cast("Iterator[bytes]", self.server.scan_iter(count=1000))
        return frozenset(found)
