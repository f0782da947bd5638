"""The worker processes of the demonstration."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from echomq_worker.embedded.process import dying_with_us
from echomq_worker.errors import EchoMQError

APP = "echomq_worker.demo.jobs:app"
STOP_TIMEOUT_S = 15.0
LAST_WORDS = 4_000


class DemoError(EchoMQError):
    """The demonstration cannot go on."""


@dataclass(slots=True)
class Workers:
    """Real daemons, each a process of its own that dies with this one.

    Args:
        environment: all of their settings.
        folder: where their logs go.
    """

    environment: Mapping[str, str]
    folder: Path
    killed: int = 0
    """How many have been ended by SIGKILL."""
    started: int = 0
    _running: list["subprocess.Popen[bytes]"] = field(
        default_factory=list["subprocess.Popen[bytes]"]
    )

    @property
    def pids(self) -> list[int]:
        """The process ids of those that run."""
        return [process.pid for process in self._running]

    def start(self) -> int:
        """Start one more; return its process id."""
        self.started += 1
        with self._log(self.started).open("wb") as log:
            process = subprocess.Popen(  # noqa: S603 - our own program
                dying_with_us([sys.executable, "-m", "echomq_worker", "run", APP]),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=dict(self.environment),
                # Ctrl-C on the terminal is for us alone: we stop the workers.
                start_new_session=True,
            )
        self._running.append(process)
        return process.pid

    def kill(self) -> int | None:
        """Kill one as `kill -9` does; return its process id, or None if none runs."""
        if not self._running:
            return None
        self._running[0].kill()
        self._running[0].wait()
        return self._running[0].pid

    def replace_killed(self) -> Iterator[tuple[int, int]]:
        """Start another for each that was killed; yield the old and the new process id.

        Raises:
            DemoError: if one has ended by itself, with what it said.
        """
        for process in list(self._running):
            code = process.poll()
            if code is None:
                continue
            self._running.remove(process)
            if code != -signal.SIGKILL:
                msg = f"a worker ended with exit code {code}. {self.last_words()}"
                raise DemoError(msg)
            self.killed += 1
            yield process.pid, self.start()

    def stop(self) -> list[int]:
        """Ask all of them to stop, wait, and return their exit codes."""
        for process in self._running:
            process.terminate()
        give_up = time.monotonic() + STOP_TIMEOUT_S
        for process in self._running:
            try:
                process.wait(max(0.0, give_up - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        codes = [process.returncode for process in self._running]
        self._running.clear()
        return codes

    def last_words(self) -> str:
        """Return the end of what the latest worker has logged."""
        try:
            said = self._log(self.started).read_bytes()[-LAST_WORDS:].decode(errors="replace")
        except OSError:
            said = ""
        return f"It said: {said.strip() or '(nothing)'}"

    def _log(self, number: int) -> Path:
        return self.folder / f"worker-{number}.log"
