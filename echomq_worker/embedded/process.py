"""One run of the server program."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from echomq_worker.embedded import launcher

TERM_WAIT_S = 10.0


class ServerProcess:
    """A child process that dies with this one, together with the thread that started it.

    Linux ends such a child when the *thread* that forked it ends. So that the caller may start
    a server from any short-lived thread, each has a thread of its own, which waits for it.
    """

    def __init__(self, command: Sequence[str], *, log: Path, keep_open: Sequence[int]) -> None:
        """Start `command`; its output goes to the file `log`, and it inherits `keep_open`.

        Raises `OSError` if the program cannot be run at all.
        """
        self._command = command
        self._log = log
        self._keep_open = keep_open
        self._started = threading.Event()
        self._failure: OSError | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._live, name="echomq-server", daemon=True)
        self._thread.start()
        self._started.wait()
        if self._failure is not None:
            raise self._failure

    @property
    def pid(self) -> int | None:
        """The process id; None once the server has ended."""
        return self._process.pid if self._process and self._thread.is_alive() else None

    @property
    def exit_code(self) -> int | None:
        """What the server ended with (minus a signal's number if one killed it), or None."""
        return self._process.returncode if self._process else None

    def end(self, *, hard: bool = False) -> None:
        """Ask the server to end and wait for it; kill it at once if `hard`, or if it lingers."""
        if not hard:
            self._send(signal.SIGTERM)
            self._thread.join(TERM_WAIT_S)
        self._send(signal.SIGKILL)
        self._thread.join()

    def _send(self, number: signal.Signals) -> None:
        if self._process is not None and self._thread.is_alive():
            self._process.send_signal(number)

    def _live(self) -> None:
        try:
            with self._log.open("wb") as log:
                self._process = subprocess.Popen(  # noqa: S603 - no shell, our own arguments
                    dying_with_us(self._command),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env={**os.environ, "LC_ALL": "C"},
                    pass_fds=self._keep_open,
                    # Its own session, so that Ctrl-C on the terminal reaches only us: jobs that
                    # are being finished still need their server.
                    start_new_session=True,
                )
        except OSError as failure:
            self._failure = failure
            return
        finally:
            self._started.set()
        self._process.wait()


def dying_with_us(command: Sequence[str]) -> Sequence[str]:
    """Return the command whose process ends when the thread that starts it does (on Linux)."""
    if sys.platform != "linux" or not sys.executable:
        return command
    return [sys.executable, "-I", "-S", launcher.__file__, str(os.getpid()), *command]
