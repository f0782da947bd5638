"""A sleep in a thread that others can cut short."""

import threading


class Alarm:
    """Wakes one thread: before its time, or for good."""

    def __init__(self) -> None:
        self._rung = threading.Event()
        self._over = False

    def sleep(self, ms: int) -> bool:
        """Sleep for `ms` milliseconds at most; return False once the thread is to end."""
        if not self._over:
            self._rung.wait(ms / 1_000)
            self._rung.clear()
        return not self._over

    def ring(self) -> None:
        """Cut the sleep short, or else the next one."""
        self._rung.set()

    def end(self) -> None:
        """Let the thread end."""
        self._over = True
        self._rung.set()
