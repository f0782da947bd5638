"""A year of schedulers on virtual time: real firers over real scripts, in workers that come and go.

What the beats of real workers would tell, when the next scheduler fires and who watches, is told
here every few hours, a second after each firing, and at each change; else a year would be a
thousand million beats.
"""

import asyncio
from random import Random
from typing import Any, cast

from echomq_worker.domain.job import Claimed
from echomq_worker.domain.minter import Minter
from echomq_worker.protocol.keyspace import Keyspace
from echomq_worker.worker.firer import Firer
from echomq_worker.worker.outage import Outage
from echomq_worker.worker.schedule_lines import ScheduleLines
from echomq_worker.worker.stats import Stats
from echomq_worker.worker.volley import Volley
from tests.simulation.loop import VirtualLoop
from tests.simulation.network import Network
from tests.simulation.timetable import DAY, HOUR, Entry, timetable
from tests.simulation.watched import WatchedServer
from tests.simulation.worker import QUEUE, store_of

BEGIN_MS = 1_767_225_600_000
"""2026 began. Morocco changed its clocks three times in this year."""
WORKERS = 20
SKEW_MS = 90_000
DRIFT = 20e-6
"""A quartz is off by so much."""
BEAT_MS = 60_000
DEPLOY_MS = 2 * DAY
TOLD_MS = 12 * HOUR
MINUTE = 60_000
ZONE_DATA = "2026a"


class WrongClock:
    """The clock of one machine: set wrong, and running a little fast or slow."""

    def __init__(self, loop: VirtualLoop, dice: Random) -> None:
        self._loop = loop
        self._skew_ms = round(dice.uniform(-SKEW_MS, SKEW_MS))
        self._rate = 1 + dice.uniform(-DRIFT, DRIFT)

    def now_ms(self) -> int:
        return BEGIN_MS + round(self._loop.now_ms * self._rate) + self._skew_ms

    def monotonic_ms(self) -> int:
        return round(self._loop.now_ms * self._rate)

    async def sleep_ms(self, ms: int) -> None:
        await asyncio.sleep(ms / self._rate / 1_000)


class YearWorker:
    """A worker of the queue, from a start to a kill."""

    def __init__(self, year: "Year", name: str, slot: int, version: int) -> None:
        self.name = name
        self.slot = slot
        self._year = year
        self._dice = dice = Random(f"{year.seed} {name}")
        self._version = version
        clock = WrongClock(year.loop, dice)
        store = store_of(year.network, name)
        self._schedulers = store.schedulers
        minter = Minter(slot, clock_ms=clock.now_ms, dice=dice.randrange)
        volley = Volley(
            cast("Any", store),
            mint=minter.mint,
            zone_data=ZONE_DATA,
            repeats=False,
            clock=clock,
            lines=ScheduleLines(),
            stats=Stats(),
        )
        outage = Outage(clock, "server", dice.uniform)
        self._outage = outage
        self._firer = Firer(volley, claim=self._claim, clock=clock, beat_ms=BEAT_MS, outage=outage)
        self.tasks = [
            year.loop.create_task(self._firer.run()),
            year.loop.create_task(self._declare()),
            year.loop.create_task(self._hear()),
        ]

    def tell(self) -> None:
        """Let it hear what a beat would say."""
        head = self._year.head_ms()
        said = Claimed(self._year.network.now_ms, None, 0, next_fire_ms=head)
        self._firer.learn(said, watching=self._year.watcher is self)

    def _claim(self) -> None:
        self._year.loop.call_later(0.01, self.tell)

    async def _declare(self) -> None:
        declared = self._year.entries
        if self._year.loop.now_ms > DAY and not self._year.deploying:
            declared = self._dice.sample(declared, 2)
        for entry in declared:
            spec = entry.of_version(self._version)

            async def put(spec: Any = spec) -> Any:
                return await self._schedulers.put(spec, force=False, source="code", tz=ZONE_DATA)

            await self._outage.patiently(put)
            self._year.nudge()

    async def _hear(self) -> None:
        while True:
            self.tell()
            await asyncio.sleep(TOLD_MS / 1_000)


class Year:
    """Live through a year, or a part of one."""

    def __init__(self, seed: int, server: WatchedServer, days: int = 366) -> None:
        self.seed = seed
        self.days = days
        self.dice = Random(seed)
        self.loop = VirtualLoop()
        self.server = server
        self.network = Network(
            self.loop, server, Random(seed + 0.5), [], fault_rate=0.01, epoch_ms=BEGIN_MS
        )
        self.entries: list[Entry] = timetable(BEGIN_MS, BEGIN_MS + (days + 90) * DAY)
        self.watcher: YearWorker | None = None
        self.workers: list[YearWorker] = []
        self.covered: list[tuple[int, int]] = []
        """From when to when somebody watched, and the server could be reached."""
        self.started = 0
        self._watched_since_ms: int | None = None
        self._key = Keyspace(QUEUE).schedulers

    def run(self) -> None:
        """Do so; what was fired is in the server's `shots`."""
        self.server.reset()
        self.server.shots.clear()
        self.server.fired = lambda: self.loop.call_later(1, self.nudge)
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_until_complete(self._live())
            self._kill(list(self.workers))
            self.network.over = True
            self.loop.run_until_complete(asyncio.sleep(60))
        finally:
            asyncio.set_event_loop(None)
            self.loop.close()

    def head_ms(self) -> int | None:
        """When the next scheduler fires."""
        head = self.server.head(self._key)
        return None if not head or head[1] == b"inf" else int(head[1])

    def nudge(self) -> None:
        """Tell the watcher that what it sleeps until may have come nearer."""
        if self.watcher is not None:
            self.watcher.tell()

    # --- what happens ----------------------------------------------------------------------

    async def _live(self) -> None:
        for slot in range(WORKERS):
            self._start(slot)
        self._elect()
        for at_ms, kind in self._plan():
            await asyncio.sleep((at_ms - self.loop.now_ms) / 1_000)
            await self._happen(kind)
        await asyncio.sleep((self.days * DAY + HOUR - self.loop.now_ms) / 1_000)
        self._uncover()

    def _plan(self) -> list[tuple[int, str]]:
        per_year = {"restart": 400, "away": 60, "usurped": 150, "nobody": 10}
        last = self.days * DAY - DAY
        events = [
            (self.dice.randrange(2 * HOUR, last), kind)
            for kind, often in per_year.items()
            for _ in range(max(1, often * self.days // 366))
        ]
        events += ((self._half + self.dice.randrange(DEPLOY_MS), "restart") for _ in range(40))
        return sorted(events)

    async def _happen(self, kind: str) -> None:
        dice = self.dice
        match kind:
            case "restart" if self.workers:
                victim = dice.choice([self.watcher or self.workers[0], *self.workers[:9]])
                self._kill([victim])
                self.loop.call_later(dice.uniform(0, 600), self._start, victim.slot)
            case "away":
                self._uncover()
                self.network.go_down()
                await asyncio.sleep(dice.uniform(1, 20))
                self.network.condition = "fine"
                self._cover()
            case "usurped" if self.workers:  # two believe that they watch, for hours
                self._watch(dice.choice(self.workers))
            case "nobody":
                self._kill(list(self.workers))
                await asyncio.sleep(dice.uniform(600, 3 * DAY / 1_000))
                for slot in range(WORKERS):
                    self._start(slot)
                self._elect()
            case _:
                pass

    @property
    def _half(self) -> int:
        return self.days * DAY // 2

    @property
    def deploying(self) -> bool:
        """Old and new code run side by side for two days in the middle."""
        return self._half <= self.loop.now_ms < self._half + DEPLOY_MS

    def _version(self) -> int:
        if self.deploying:
            return self.dice.choice((1, 2))
        return 1 if self.loop.now_ms < self._half else 2

    def _start(self, slot: int) -> None:
        if self.network.over or any(worker.slot == slot for worker in self.workers):
            return
        self.started += 1
        name = f"w{slot}.{self.started}"
        self.workers.append(YearWorker(self, name, slot, self._version()))

    def _kill(self, victims: list[YearWorker]) -> None:
        for victim in victims:
            for task in victim.tasks:
                task.cancel()
            self.workers.remove(victim)
            if victim is self.watcher:
                self.watcher = None
                self._uncover()
                self.loop.call_later(self.dice.uniform(0.1, 120), self._elect)

    def _elect(self) -> None:
        if self.watcher is None and self.workers:
            self._watch(self.dice.choice(self.workers))

    def _watch(self, worker: YearWorker) -> None:
        self.watcher = worker
        worker.tell()
        self._cover()

    def _cover(self) -> None:
        if self._watched_since_ms is None and self.watcher is not None:
            self._watched_since_ms = self.network.now_ms

    def _uncover(self) -> None:
        if self._watched_since_ms is not None:
            self.covered.append((self._watched_since_ms, self.network.now_ms))
            self._watched_since_ms = None
