"""Spaces the attempts to connect while they fail, over all connections of a process."""

import asyncio
import random
import threading
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager

from redis.exceptions import ConnectionError as NotConnectedError

from echomq_worker.domain.backoff import Dice

FIRST_WAIT_S = 0.25
LONGEST_WAIT_S = 1.0
"""A server that is back is noticed within so long, and asked fewer than five times a second."""
LOOK_AGAIN_S = 0.02


class WaitedInVainError(NotConnectedError):
    """Somebody else's attempt has failed, so that this one was not made; nothing was sent."""


class ConnectGate:
    """Lets one connection at a time be made, and none for a while after one has failed.

    A process has some ten connections, and all of them break when the server goes away. One of
    them tries for all: when it fails, those that wait for their turn fail with it. Safe to use
    from several threads and event loops.

    Args:
        monotonic: tells the time, in seconds.
        dice: keeps the processes of a fleet from trying at the same moment.
    """

    def __init__(
        self, *, monotonic: Callable[[], float] = time.monotonic, dice: Dice = random.uniform
    ) -> None:
        self._monotonic = monotonic
        self._dice = dice
        self._lock = threading.Lock()
        self._busy = False
        self._failures_in_a_row = 0
        self._failures = 0
        self._error = ""
        self._opens_at = 0.0

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None]:
        """Wait for a turn, on the event loop; the block is the attempt.

        Raises:
            WaitedInVainError: if another attempt fails meanwhile.
        """
        seen = self._failures
        while (wait_s := self.ask(seen)) > 0:  # noqa: ASYNC110 - threads take turns as well
            await asyncio.sleep(wait_s)
        with self._attempt():
            yield

    @contextmanager
    def turn_blocking(self) -> Generator[None]:
        """Do the same in a thread."""
        seen = self._failures
        while (wait_s := self.ask(seen)) > 0:
            time.sleep(wait_s)
        with self._attempt():
            yield

    @property
    def failures(self) -> int:
        """How many attempts have failed so far."""
        return self._failures

    def ask(self, seen: int) -> float:
        """Ask for a turn.

        Args:
            seen: how many failures there were when the waiting began.

        Returns:
            0 if it is granted, else after how many seconds to ask again.

        Raises:
            WaitedInVainError: an attempt has failed since then.
        """
        with self._lock:
            if self._failures != seen:
                raise WaitedInVainError(self._error)
            left_s = self._opens_at - self._monotonic()
            if self._busy or left_s > 0:
                return LOOK_AGAIN_S if self._busy else min(left_s, LOOK_AGAIN_S)
            self._busy = True
            return 0.0

    def note(self, error: BaseException | None) -> None:
        """Take in how the attempt that was granted has ended."""
        with self._lock:
            self._busy = False
            if error is None:
                self._failures_in_a_row = 0
            elif isinstance(error, Exception):
                longest_s = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** min(self._failures_in_a_row, 8))
                self._failures_in_a_row += 1
                self._failures += 1
                self._error = str(error)
                wait_s = max(FIRST_WAIT_S, longest_s * self._dice(0.5, 1.0))
                self._opens_at = self._monotonic() + wait_s

    @contextmanager
    def _attempt(self) -> Generator[None]:
        try:
            yield
        except BaseException as error:
            self.note(error)
            raise
        self.note(None)
