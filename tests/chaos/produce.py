"""A producer: `python -m tests.chaos.produce`, told by its environment what to do.

It notes before each batch what it is going to ask for (`I batch ms kind delay ids`), and after it
what it was told: `K` in, `F` refused, `U` unknown.
"""

import asyncio
import os
import random
import signal
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from echomq_worker.errors import ServerError, UnavailableError
from echomq_worker.store import Server, ServerOptions
from tests.chaos import app as jobs
from tests.chaos.kinds import BLOCKS, KINDS, Kind
from tests.chaos.pen import Pen, now_ms

QUEUE = "default"
LOOK_S = 0.25
PATIENCE_S = 0.5
LONGEST_DELAY_MS = 5_000


@dataclass(slots=True)
class Producer:
    """Enqueues batches at a rate, as long as not too many jobs wait.

    Args:
        pen: where it notes what it does.
        dice: decide what is enqueued.
        rate: jobs a second; 0 for as many as go in.
        batch: jobs in one call.
        backlog: with so many jobs waiting it pauses.
        jobs: it stops after so many acknowledged ones; 0 for never.
    """

    pen: Pen
    dice: random.Random
    rate: float
    batch: int
    backlog: int
    jobs: int
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _sent: int = 0
    _acknowledged: int = 0
    _batches: int = 0

    async def run(self, server: Server) -> None:
        """Go on until stopped, or until enough jobs are in."""
        began = looked = time.monotonic()
        while not self.stopping.is_set() and not 0 < self.jobs <= self._acknowledged:
            if time.monotonic() - looked > LOOK_S:
                await self._wait_for_room(server)
                looked = time.monotonic()
            due = self.rate * (time.monotonic() - began) if self.rate else self._sent + 1
            if self._sent >= due:
                await asyncio.sleep((self._sent - due) / self.rate + 0.001)
                continue
            await self._send(self._kind(), self._delay_ms(), self.batch)

    async def block(self, seconds: float) -> None:
        """Enqueue one job that blocks the event loop of its worker."""
        await self._send(BLOCKS, 0, 1, seconds)

    async def _send(self, kind: Kind, delay_ms: int, count: int, *args: float) -> None:
        ids = [jobs.app.new_job_id() for _ in range(count)]
        job = getattr(jobs, kind.name)
        calls = [job.options(job_id=job_id).call(*args) for job_id in ids]
        if delay_ms:
            calls = [call.after(delay_ms / 1000) for call in calls]
        self._batches += 1
        batch = self._batches
        self._sent += count
        self.pen.write(f"I {batch} {now_ms()} {kind.letter} {delay_ms} {' '.join(ids)}")
        try:
            await jobs.app.enqueue_many(calls)
        except UnavailableError:
            self.pen.write(f"U {batch} {now_ms()}")
            await asyncio.sleep(PATIENCE_S)
        except ServerError as error:
            self.pen.write(f"F {batch} {now_ms()} {type(error).__name__}")
            await asyncio.sleep(PATIENCE_S)
        else:
            self._acknowledged += count
            self.pen.write(f"K {batch} {now_ms()}")

    def _kind(self) -> Kind:
        return self.dice.choices(KINDS, [kind.weight for kind in KINDS])[0]

    def _delay_ms(self) -> int:
        return self.dice.randint(50, LONGEST_DELAY_MS) if self.dice.random() < 0.15 else 0

    async def _wait_for_room(self, server: Server) -> None:
        while not self.stopping.is_set():
            with suppress(ServerError):
                if (await server.queue(QUEUE).counts()).pending < self.backlog:
                    return
            await asyncio.sleep(LOOK_S)


async def main() -> None:
    """Produce until told to stop (SIGTERM)."""
    given = os.environ
    producer = Producer(
        pen=Pen(Path(given["CHAOS_PRODUCER_NOTES"])),
        dice=random.Random(given["CHAOS_SEED"]),
        rate=float(given["CHAOS_RATE"]),
        batch=int(given["CHAOS_BATCH"]),
        backlog=int(given["CHAOS_BACKLOG"]),
        jobs=int(given["CHAOS_JOBS"]),
    )
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, producer.stopping.set)
    blocks: set[asyncio.Task[None]] = set()
    loop.add_signal_handler(
        signal.SIGUSR1, lambda: blocks.add(asyncio.create_task(producer.block(3.0)))
    )
    server = Server(ServerOptions(url=given["ECHOMQ_REDIS_URL"]))
    # One that was killed while the server is away is started again before that is back.
    while not producer.stopping.is_set():
        try:
            async with server, jobs.app:
                await producer.run(server)
                await asyncio.gather(*blocks)
        except UnavailableError:
            await asyncio.sleep(PATIENCE_S)
        else:
            return


if __name__ == "__main__":
    asyncio.run(main())
