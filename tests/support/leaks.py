"""What a test leaves on the server: checked, audited, then deleted."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import cast

import redis

from tests.support.audit import complaints_of
from tests.support.keys import complaint

NO_EXPIRY = -1
_QUEUE = re.compile(rb"emq:\{([A-Za-z0-9._-]+)\}:(?!call:)")


@dataclass
class LeakCheck:
    """Watches a server during one test."""

    server: "redis.Redis"
    queues: set[str] = field(default_factory=set[str])
    """The names that the test was given."""
    audits: bool = True
    """Whether the state of its queues is audited."""
    before: frozenset[bytes] = field(init=False)

    def __post_init__(self) -> None:
        self.before = self._keys()

    def finish(self) -> list[str]:
        """Delete what the test left behind; return what it should not have left."""
        left = sorted(self._keys() - self.before)
        complaints = [self._complaint(key) for key in left]
        audited = list(self._audit(left)) if self.audits else []
        if left:
            self.server.delete(*left)
        return [text for text in complaints if text is not None] or audited

    def _audit(self, left: Iterable[bytes]) -> Iterator[str]:
        """Audit the queues of the test that have more left than receipts of calls."""
        found = {match[1].decode() for match in map(_QUEUE.match, left) if match}
        for queue in sorted(found & self.queues):
            for text in complaints_of(self.server, queue):
                yield f"{queue}: {text}"

    def _complaint(self, key: bytes) -> str | None:
        expires = self.server.pttl(key) != NO_EXPIRY
        return complaint(key.decode(errors="replace"), queues=self.queues, expires=expires)

    def _keys(self) -> frozenset[bytes]:
        found = cast("Iterator[bytes]", self.server.scan_iter(count=1000))
        return frozenset(found)
