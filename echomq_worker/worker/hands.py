"""The jobs that this worker holds."""

import asyncio
from collections.abc import Collection

from echomq_worker.worker.run import Run


class Hands:
    """All jobs from their claim until the server has their outcome; their leases are extended."""

    def __init__(self) -> None:
        self.held: set[Run] = set()
        self.running: set[Run] = set()
        """Those whose handler has not ended."""
        self.total = 0
        """How many have been held so far."""
        self.quiet = asyncio.Event()
        """Set while nothing runs."""
        self.quiet.set()
        self.empty = asyncio.Event()
        """Set while nothing is held."""
        self.empty.set()
        self._names_lately: set[str] = set()

    def take(self, run: Run) -> None:
        """Hold a job whose handler is about to run."""
        self.total += 1
        self.held.add(run)
        self.running.add(run)
        self._names_lately.add(run.name)
        self.quiet.clear()
        self.empty.clear()

    def end(self, run: Run) -> None:
        """Note that its handler has ended."""
        self.running.discard(run)
        if not self.running:
            self.quiet.set()

    def let_go(self, run: Run) -> None:
        """Hold it no longer: the server has its outcome, or it is no longer ours."""
        self.held.discard(run)
        if not self.held:
            self.empty.set()

    def names_lately(self) -> set[str]:
        """Return the names of the jobs that were held at any time since the last such question."""
        held = {run.name for run in tuple(self.held)}
        lately, self._names_lately = self._names_lately | held, held
        return lately

    def names(self) -> Collection[str]:
        """Return the names of the jobs that are running, each once."""
        return sorted({run.name for run in self.running})
