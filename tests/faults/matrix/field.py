"""Brings jobs to the moments at which a fault is to strike."""

import asyncio
import json
import signal
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from echomq_worker.store import Server, ServerOptions
from tests.faults.matrix.cell import Cell
from tests.faults.matrix.forks import Fork, Forker
from tests.faults.matrix.gate import Fate, Gate
from tests.faults.matrix.history import read_starts
from tests.faults.matrix.moments import MOMENTS
from tests.support.look import looking_at
from tests.support.processes import ROOT

LEASE_S = 2.5
RECOVERY_S = LEASE_S + 3
"""What is promised after the death of a worker."""
PATIENCE_S = 20.0
APP = "tests.faults.matrix.handlers:app"
SETTINGS = {
    "ECHOMQ_APP_DIR": str(ROOT),
    "ECHOMQ_LEASE": f"{LEASE_S}s",
    "ECHOMQ_BEAT": "250ms",
    "ECHOMQ_LOG_EVENTS": "10000",
    "ECHOMQ_LOG_FORMAT": "json",
    "ECHOMQ_RETRY_DELAY": "100ms",
    "ECHOMQ_CONCURRENCY": "4",
    "ECHOMQ_REDIS_TIMEOUT": "1s",
    "ECHOMQ_REDIS_CONNECT_TIMEOUT": "1s",
}
SOON = {"ECHOMQ_SHUTDOWN_TIMEOUT": "500ms"}


@dataclass
class Field:
    """The cells of one row of the matrix, on one server. Each has a worker of its own."""

    url: str
    codes: Mapping[str, str]
    """The law of each moment."""
    forker: Forker
    folder: Path
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    """What the workers of the cells are set up by besides."""
    cells: list[Cell] = field(default_factory=list[Cell])
    over_at: float = 0.0
    """When the fault was over, by the monotonic clock."""

    @property
    def notes(self) -> Path:
        """Where handlers leave their notes."""
        return self.folder / "notes"

    @property
    def block(self) -> Path:
        """The file that makes the workers' loops stand still."""
        return self.folder / "block"

    @asynccontextmanager
    async def ready(self) -> AsyncGenerator[None]:
        """Have every job at its moment when the block begins."""
        self.notes.touch()
        async with AsyncExitStack() as stack:
            options = ServerOptions(url=self.url, log_size=10_000, give_up_ms=15_000)
            server = await stack.enter_async_context(Server(options))
            for number, (name, code) in enumerate(self.codes.items(), 1):
                queue = server.queue(f"at-{name}")
                look = await stack.enter_async_context(looking_at(self.url, queue.name))
                gate = await stack.enter_async_context(Gate(self.url))
                moment = MOMENTS[name]
                self.cells.append(
                    Cell(
                        name=name,
                        moment=moment,
                        code=code,
                        number=number,
                        queue=queue,
                        look=look,
                        gate=gate,
                    )
                )
            async with asyncio.timeout(PATIENCE_S):
                await self._bring_all()
            yield

    def __getitem__(self, name: str) -> Cell:
        """Return the cell of a moment."""
        return next(cell for cell in self.cells if cell.name == name)

    def let_go(self, fate: Fate = Fate.ANSWERED) -> None:
        """Let every held call meet its fate."""
        for cell in self.cells:
            cell.gate.let_go(fate)

    def over(self) -> None:
        """Say that the fault is over: from here on the bounds count."""
        self.over_at = time.monotonic()

    def rescue(self, *names: str) -> Fork:
        """Start a healthy worker for the queues of these moments, or of all."""
        queues = [cell.queue.name for cell in self.cells if cell.name in (names or self.codes)]
        return self._run("rescuer", self.url, ",".join(queues), MATRIX_LONGEST="1")

    def produce(self, cell: Cell, url: str) -> Fork:
        """Enqueue the job of a cell by a process of its own."""
        arguments = json.dumps({"run_s": cell.moment.run_s, "ending": "ok"})
        return self.forker.start(
            "producer",
            *("job", "enqueue", "cell", "--id", cell.job),
            *("--queue", cell.queue.name, "--args", arguments),
            **SETTINGS,
            ECHOMQ_REDIS_URL=url,
        )

    def _run(self, name: str, url: str, queues: str, **settings: str) -> Fork:
        own = {
            "ECHOMQ_REDIS_URL": url,
            "ECHOMQ_QUEUES": queues,
            "ECHOMQ_HEALTH_FILE": str(self.folder / f"{name}-health"),
            "MATRIX_NOTES": str(self.notes),
        }
        return self.forker.start(name, "run", APP, **(SETTINGS | own | settings))

    async def _bring_all(self) -> None:
        for cell in self.cells:
            if cell.name == "sweep":
                cell.gate.trap(cell.moment.calls)
                await cell.enqueue()
                await cell.hold_and_die()
            more = {"MATRIX_BLOCK": str(self.block)} | (SOON if cell.code == "give" else {})
            more |= self.settings
            cell.worker = self._run(cell.name, cell.gate.url, cell.queue.name, **more)
        await asyncio.gather(*(cell.gate.awake.wait() for cell in self.cells))
        # What is to wait or to run for a while comes late, lest its time be over too soon; and
        # last comes the renewal, which must not be held for long.
        for turn in (0, 1, 2):
            await asyncio.gather(*(self._bring(c) for c in self.cells if c.moment.turn == turn))
        places = await asyncio.gather(*(cell.place() for cell in self.cells))
        for cell, place in zip(self.cells, places, strict=True):
            assert place == cell.moment.place, f"{cell.name}: the job is in {place or 'no place'}"

    async def _bring(self, cell: Cell) -> None:
        moment = cell.moment
        if cell.name == "enqueue":
            cell.gate.trap(moment.calls, cell.job)
            cell.producer = self.produce(cell, cell.gate.url)
        elif cell.name != "sweep":
            if moment.calls:
                cell.gate.trap(moment.calls, cell.job if moment.names_job else "")
            await cell.enqueue()
            await cell.enqueue_another()
        if cell.name in {"running", "drain"}:
            await until(lambda: any(start.job == cell.job for start in read_starts(self.notes)))
        if cell.name == "drain":
            cell.victim.send(signal.SIGTERM)
        if moment.calls:
            await cell.gate.caught.wait()


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds that another process does."""
    while not holds():  # noqa: ASYNC110 - it can tell nobody
        await asyncio.sleep(0.02)
