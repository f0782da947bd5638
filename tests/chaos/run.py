"""One run, from the start of the server to the last word of the recorder."""

import asyncio
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import redis

from echomq_worker.doctor.state import audit
from echomq_worker.domain.finding import Severity
from echomq_worker.domain.views import Counts
from echomq_worker.embedded import EmbeddedServer
from echomq_worker.errors import ServerError
from echomq_worker.store import Server, ServerOptions
from tests.chaos.faults import Breaker
from tests.chaos.fleet import Journal
from tests.chaos.options import Options
from tests.chaos.pen import Pen
from tests.chaos.plan import Fault, plan
from tests.chaos.scene import STOP_S, Scene
from tests.chaos.soak import EVERY_S, sample

QUEUE = "default"
LOOK_S = 0.1
QUIET_S = 90.0
"""The longest that the quiet time may take until nothing is left."""
WARM_UP_S, MEASURE_S = 4.0, 8.0
OVERTIME = 1.5
"""A run that owes jobs goes on for so many times its length."""


@dataclass(slots=True)
class Ran:
    """What a run leaves, besides its notes."""

    folder: Path
    faults: dict[str, int]
    outages: list[tuple[int, int]]
    exits: list[int]
    """Exit codes of workers that ended although nobody wanted it."""
    harness_failures: list[str]
    """Faults that could not be made."""
    harness_exits: list[int]
    """The same of producers and of the recorder."""
    stop_codes: list[int]
    """Exit codes of the workers at the end."""
    counts: Counts
    """What the server says at the end."""
    complaints: list[str]
    """What the audit of the queue's state says."""
    fired: dict[str, int]
    """How many jobs each scheduler has made, as the server says."""
    entries_added: int
    """How many entries the server's log has had."""
    rate: float
    took_s: float
    top_rate: float | None = None
    server: str = ""


@dataclass(slots=True)
class Run:
    """Runs the processes and breaks them."""

    options: Options
    folder: Path
    say: Callable[[str], None]
    _failures: list[str] = field(default_factory=list[str])
    _tasks: set["asyncio.Task[None]"] = field(default_factory=set["asyncio.Task[None]"])

    async def run(self) -> Ran:
        """Do everything."""
        data = self.folder / "data" if self.options.keeps_data else None
        journal = Journal(self.folder / "run.notes")
        scene = Scene(self.options, self.folder, journal, EmbeddedServer(data))
        try:
            scene.start()
            return await self._run(scene)
        finally:
            scene.close()

    async def _run(self, scene: Scene) -> Ran:
        breaker = Breaker(scene)
        top = await self._top_rate(scene) if self.options.half_rate else None
        rate = self._rate(top)
        began = time.monotonic()
        scene.produce(rate, self.options.jobs)
        await self._break_things(scene, breaker)
        took_s = time.monotonic() - began
        await self._calm_down(scene)
        fired = await self._pause_schedulers(scene)
        counts = await self._quiet(scene)
        await asyncio.sleep(0.5)
        codes = [post.stop(STOP_S) for post in scene.workers]
        assert scene.recorder is not None
        scene.recorder.stop(STOP_S)
        async with self._server(scene) as server:
            told = await server.describe()
        return Ran(
            folder=self.folder,
            faults=dict(breaker.done),
            outages=breaker.outages,
            exits=[code for post in scene.workers for code in post.exits],
            harness_failures=self._failures,
            harness_exits=scene.harness_exits(),
            stop_codes=codes,
            counts=counts,
            complaints=await self._audit(scene),
            fired=fired,
            entries_added=self._entries_added(scene),
            rate=rate,
            took_s=took_s,
            top_rate=top,
            server=f"{told.name} {told.version}",
        )

    def _rate(self, top: float | None) -> float:
        if top is not None:
            return top / 2
        if self.options.jobs and not self.options.rate:
            return self.options.jobs / (self.options.minutes * 60)
        return self.options.rate

    async def _top_rate(self, scene: Scene) -> float:
        """Return how many jobs a second complete when as many go in as can."""
        scene.produce(0, 0)
        await asyncio.sleep(WARM_UP_S)
        async with self._server(scene) as server:
            before = (await server.queue(QUEUE).counts()).completed
            await asyncio.sleep(MEASURE_S)
            after = (await server.queue(QUEUE).counts()).completed
        scene.stop_producers()
        self.say(f"top rate: {(after - before) / MEASURE_S:,.0f} jobs a second")
        return (after - before) / MEASURE_S

    async def _break_things(self, scene: Scene, breaker: Breaker) -> None:
        options = self.options
        seconds = options.minutes * 60
        todo = plan(
            options.seed,
            seconds,
            worker_kills=options.worker_kills,
            server_kills=options.server_kills,
        )
        pen = Pen(self.folder / "samples.notes")
        began = time.monotonic()
        sampled = began
        while (now := time.monotonic()) < began + seconds or self._owes(scene, now - began):
            while todo and todo[0].at_s <= now - began:
                self._begin(breaker, todo.pop(0))
            scene.keep_up()
            if now - sampled > EVERY_S:
                await asyncio.to_thread(sample, scene, pen)
                sampled = now
            await asyncio.sleep(LOOK_S)
        ends = await asyncio.gather(*self._tasks, return_exceptions=True)
        self._failures += [repr(end) for end in ends if isinstance(end, BaseException)]

    def _begin(self, breaker: Breaker, fault: Fault) -> None:
        task = asyncio.create_task(breaker.do(fault))
        self._tasks.add(task)

    def _owes(self, scene: Scene, elapsed_s: float) -> bool:
        """Whether jobs that were asked for are still to be enqueued."""
        if not self.options.jobs or elapsed_s > self.options.minutes * 60 * OVERTIME:
            return False
        return any(post.is_up for post in scene.producers)

    async def _calm_down(self, scene: Scene) -> None:
        """Mend everything."""
        for number in range(len(scene.proxies)):
            scene.order(number, "well")
        for post in scene.workers:
            post.send(signal.SIGCONT)
        with scene.admin() as admin:
            admin.config_set("maxmemory", 0)
        await asyncio.to_thread(scene.stop_producers)

    async def _pause_schedulers(self, scene: Scene) -> dict[str, int]:
        """Let nothing fire any more; return how many jobs each scheduler has made."""
        async with self._server(scene) as server:
            schedulers = server.queue(QUEUE).schedulers
            give_up = time.monotonic() + QUIET_S
            while True:
                scene.keep_up()
                try:
                    for view in await schedulers.list():
                        await schedulers.pause(view.name, reason="the quiet time")
                    return {view.name: view.count for view in await schedulers.list()}
                except ServerError:
                    if time.monotonic() > give_up:
                        raise
                await asyncio.sleep(LOOK_S)

    async def _quiet(self, scene: Scene) -> Counts:
        """Wait until nothing is left to do, or for so long that something is stuck."""
        give_up = time.monotonic() + QUIET_S
        async with self._server(scene) as server:
            while True:
                scene.keep_up()
                with suppress(ServerError):
                    counts = await server.queue(QUEUE).counts()
                    left = counts.pending + counts.active + counts.scheduled
                    if not left or time.monotonic() > give_up:
                        return counts
                await asyncio.sleep(LOOK_S)

    async def _audit(self, scene: Scene) -> list[str]:
        async with self._server(scene) as server:
            found = await audit(server, QUEUE)
        return [one.text for one in found if one.severity is not Severity.OK]

    def _entries_added(self, scene: Scene) -> int:
        with suppress(redis.ResponseError), scene.admin() as admin:
            told: Any = admin.xinfo_stream("emq:{default}:log")
            return int(told["entries-added"])
        return 0

    def _server(self, scene: Scene) -> Server:
        return Server(ServerOptions(url=scene.server.url))
