"""The recorder: `python -m tests.chaos.tail URL FILE` copies the server's lifecycle log.

A line an entry: position, letter of the event, id, attempt. After a server's return that has lost
entries already copied, a line `R kept seen` says from where to where. Ends on SIGTERM, once
everything is copied.
"""

import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import redis

from tests.chaos.pen import Pen
from tests.chaos.records import LETTERS

LOG = "emq:{default}:log"
PAGE = 2_000
START = "0-0"
PAUSE_S = 0.05


class Tail:
    """Copies the log, whatever becomes of the server."""

    def __init__(self, client: "redis.Redis", pen: Pen) -> None:
        self._client: Any = client
        self._pen = pen
        self._position = START
        self._checked = False
        self.stopping = threading.Event()

    def run(self) -> None:
        """Copy until told to stop."""
        while True:
            last_turn = self.stopping.is_set()
            try:
                copied = self._step()
            except redis.RedisError:
                self._checked = False
                time.sleep(PAUSE_S)
                continue
            if copied < PAGE:
                if last_turn:
                    return
                self.stopping.wait(PAUSE_S)

    def _step(self) -> int:
        if not self._checked:
            self._look_for_a_loss()
            self._checked = True
        page: Any = self._client.xrange(LOG, f"({self._position}", "+", PAGE)
        lines: list[str] = []
        for position, fields in page:
            event = fields[b"event"].decode()
            told = f"{fields[b'id'].decode()} {fields[b'attempt'].decode()}"
            lines.append(f"{position.decode()} {LETTERS.get(event, event)} {told}")
        if lines:
            self._pen.write("\n".join(lines))
            self._position = page[-1][0].decode()
        return len(lines)

    def _look_for_a_loss(self) -> None:
        """After a restart: does the server still know the last entry that we have seen?"""
        seen = self._position
        if seen == START or self._client.xrange(LOG, seen, seen):
            return
        before: Any = self._client.xrevrange(LOG, f"({seen}", "-", 1)
        self._position = before[0][0].decode() if before else START
        self._pen.write(f"R {self._position} {seen}")


def main() -> None:
    """Copy the log of the server at a URL into a file."""
    url, path = sys.argv[1:]
    client = redis.Redis.from_url(url, socket_timeout=5, protocol=2)
    tail = Tail(client, Pen(Path(path)))
    signal.signal(signal.SIGTERM, lambda _number, _frame: tail.stopping.set())
    tail.run()


if __name__ == "__main__":
    main()
