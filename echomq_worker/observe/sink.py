"""Where lines go: whole, one after the other, and never into the way of the work."""

import threading
from typing import BinaryIO


class Sink:
    """Writes lines to a stream, from any thread.

    A stream that cannot be written to any more (a closed pipe, a full disk) loses lines, and so
    does a signal handler that interrupts a write; the work goes on.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._write = stream.write
        self._flush = stream.flush
        self._lock = threading.RLock()

    def write(self, line: bytes) -> None:
        """Write one line."""
        with self._lock:
            try:
                self._write(line + b"\n")
                self._flush()
            except (OSError, ValueError, RuntimeError):
                return


class NamedLogger:
    """What structlog calls at the end of its chain."""

    __slots__ = ("critical", "debug", "error", "info", "name", "warning")

    def __init__(self, sink: Sink, name: str | None = None) -> None:
        self.name = name
        self.debug = self.info = self.warning = self.error = self.critical = sink.write


class NamedLoggers:
    """Makes a logger for each name that `structlog.get_logger` is called with."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def __call__(self, *names: str) -> NamedLogger:
        """Return the logger of a name."""
        return NamedLogger(self._sink, names[0] if names else None)
