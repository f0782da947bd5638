"""One run of one seed: workers, producers and an operator, a storm, then a quiet time."""

import asyncio
import gc
from collections.abc import Generator
from contextlib import contextmanager
from random import Random
from typing import Any
from zlib import crc32

from echomq_worker.domain.job import Admission, After, JobId, NewJob
from echomq_worker.errors import ServerError, UnavailableError
from echomq_worker.protocol.keyspace import Keyspace
from echomq_worker.store.calls import Caller
from echomq_worker.worker.run import Run
from tests.simulation.behaviour import registry_of
from tests.simulation.loop import StuckError, VirtualLoop
from tests.simulation.network import LATEST_MS, Network
from tests.simulation.plan import STORM_MS, Event, Plan, PlannedJob, plan_of
from tests.simulation.schedules import PlannedScheduler
from tests.simulation.seen import Seen
from tests.simulation.server import VirtualServer
from tests.simulation.worker import QUEUE, SimulatedWorker, store_of

QUIET_MS = 40_000
STOP_MS = 8_000
OPERATORS_TRIES = 50


class World:
    """The simulated world of one seed."""

    def __init__(self, seed: int, server: VirtualServer) -> None:
        self.plan: Plan = plan_of(seed)
        self.dice = Random(-1 - seed)
        self.trace: list[str] = []
        self.seen = Seen()
        self.loop = VirtualLoop()
        self.server = server
        self.network = Network(
            self.loop, server, Random(seed + 0.5), self.trace, self.plan.fault_rate
        )
        self.workers: list[SimulatedWorker] = []
        self._pausing: list[asyncio.Task[None]] = []
        self.keys = Keyspace(QUEUE)
        self._registry = registry_of(self.plan, self.network, self.seen)

    def run(self) -> None:
        """Live through it; what was seen is in `seen`, what happened in `trace`."""
        self.server.reset()
        with _deterministic(self.loop):
            try:
                self.loop.run_until_complete(self._live())
            except StuckError:
                self.seen.complaints.append("everybody waits for ever")
            except Exception as error:  # noqa: BLE001 - the seed is told with it
                self.seen.complaints.append(f"the run broke: {error!r}")
            self._read_log()
            self.seen.complaints += self.loop.unhandled
            self._take_down()

    # --- the run ---------------------------------------------------------------------------

    async def _live(self) -> None:
        for _ in range(self.plan.workers):
            self._start_worker()
        producers = [asyncio.create_task(self._produce(which)) for which in range(2)]
        producers += [asyncio.create_task(self._declare(each)) for each in self.plan.schedulers]
        for event in self.plan.events:
            await self._until(event.at_ms)
            self.network.note("===", event.kind, event.ms)
            self._happen(event)
        await self._until(STORM_MS + 500)
        await self._calm_down()
        await asyncio.gather(*producers)
        await self._quiet()
        await self._stop_all()

    async def _until(self, at_ms: int) -> None:
        await asyncio.sleep(max(0, at_ms - self.loop.now_ms) / 1_000)

    def _start_worker(self) -> None:
        name = f"w{len(self.workers)}"
        self.network.note("=== started", name)
        dice = Random(f"{self.plan.seed} {name}")
        self.workers.append(SimulatedWorker(self.network, self._registry, name, dice))

    async def _produce(self, which: int) -> None:
        store = store_of(self.network, f"p{which}")
        store.use_caller(Caller(name=f"producer{which}"))
        pending: list[asyncio.Task[None]] = []
        for job in self.plan.jobs[which::2]:
            await self._until(job.at_ms)
            pending.append(asyncio.create_task(self._enqueue(store, job)))
        await asyncio.gather(*pending)

    async def _enqueue(self, store: Any, job: PlannedJob) -> None:
        new = NewJob(
            job.id,
            b'{"number":%d}' % job.number,
            due=None if job.delay_ms is None else After(job.delay_ms),
            name="work",
        )
        try:
            (admission,) = await store.enqueue([new])
        except UnavailableError:
            self.seen.unknown.add(job.id)
        except ServerError as error:
            self.network.note("--- refused", job.id, repr(error)[:120])
            self.seen.refused.add(job.id)
        else:
            self.seen.acknowledged.add(job.id)
            if admission is Admission.DUPLICATE:
                self.seen.complaints.append(f"{job.id} was a duplicate at its first enqueue")

    async def _declare(self, planned: PlannedScheduler) -> None:
        await self._until(planned.at_ms)
        store = store_of(self.network, f"p {planned.spec.name}")
        store.schedulers._calls._caller = Caller(name=f"declarer{planned.spec.name}")
        try:
            await store.schedulers.put(planned.spec, force=False, source="api", tz="")
        except ServerError as error:
            self.network.note("--- not declared", planned.spec.name, repr(error)[:120])
        else:
            self.seen.declared.add(planned.spec.name)

    # --- faults ----------------------------------------------------------------------------

    def _happen(self, event: Event) -> None:
        network, at_work = self.network, [worker for worker in self.workers if worker.alive]
        victim = self.dice.choice(at_work) if at_work else None
        match event.kind:
            case "kill" if victim is not None:
                victim.state = "killed"
                self.loop.freeze(victim.name)
                self._cut(victim.name)
            case "pause" if victim is not None:
                victim.state = "paused"
                self.loop.freeze(victim.name)
                network.later(event.ms, self._go_on, victim)
            case "stop" if victim is not None:
                victim.state = "stopping"
                victim.stop.drain("the seed says so")
            case "start" if len(at_work) < 4:
                self._start_worker()
            case "cut off" if victim is not None:
                network.cut_off.add(victim.name)
                network.later(event.ms, network.cut_off.discard, victim.name)
            case "forget scripts":
                self.server.forget_scripts()
            case "pause queue":
                self._pausing.append(asyncio.create_task(self._pause_queue(event.ms)))
            case "down" if network.condition == "fine":
                network.go_down()
                network.later(event.ms // 2, self._recover)
            case "LOADING" | "BUSY" | "OOM" if network.condition == "fine":
                network.condition = event.kind
                network.later(event.ms // 2, self._recover)
            case _:
                pass

    def _recover(self) -> None:
        self.network.condition = "fine"

    def _go_on(self, worker: SimulatedWorker) -> None:
        if worker.state == "paused":
            self.network.note("=== goes on", worker.name)
            worker.state = "working"
            self.loop.thaw(worker.name)

    def _cut(self, owner: str) -> None:
        for link in [link for link in self.network.links if link.owner == owner]:
            link.close()

    async def _pause_queue(self, ms: int) -> None:
        await self._operate("pause")
        await asyncio.sleep(ms / 1_000)
        await self._operate("resume")

    async def _operate(self, verb: str) -> None:
        store = store_of(self.network, "operator")
        for _ in range(OPERATORS_TRIES):
            try:
                await (store.pause() if verb == "pause" else store.resume())
            except ServerError:
                await asyncio.sleep(0.2)
            else:
                return

    # --- the end ---------------------------------------------------------------------------

    async def _calm_down(self) -> None:
        self.network.note("=== quiet")
        self.network.fault_rate = 0.0
        self.network.cut_off.clear()
        self._recover()
        for worker in self.workers:
            self._go_on(worker)
        if not any(worker.alive for worker in self.workers):
            self._start_worker()

    async def _quiet(self) -> None:
        end_ms = self.loop.now_ms + QUIET_MS
        keys = self.keys
        await asyncio.sleep((LATEST_MS + 100) / 1_000)  # until what is late has arrived
        await asyncio.gather(*self._pausing)
        await self._operate("resume")  # a late copy may have paused it once more
        while self._left():
            if self.loop.now_ms > end_ms:
                left = {name: self.server.ask("ZCARD", getattr(keys, name)) for name in PLACES}
                self.seen.complaints.append(f"work is due and nobody does it: {left}")
                return
            await asyncio.sleep(0.3)

    def _left(self) -> bool:
        if self.server.ask("ZCOUNT", self.keys.schedulers, "-inf", "(+inf"):
            return True
        return self.server.ask("EXISTS", *(getattr(self.keys, name) for name in PLACES)) > 0

    async def _stop_all(self) -> None:
        for worker in self.workers:
            if worker.state == "killed":
                continue
            if worker.life.done() and worker.state == "working":
                status = worker.life.result()
                if status.code == 0:
                    self.seen.complaints.append(f"{worker.name} ended unasked: {status}")
                continue
            worker.stop.drain("the end")
            done, _ = await asyncio.wait((worker.life,), timeout=STOP_MS / 1_000)
            if not done:
                self.seen.complaints.append(f"{worker.name} does not stop")
            elif worker.life.exception() is not None:
                self.seen.complaints.append(f"{worker.name} broke: {worker.life.exception()!r}")

    def _read_log(self) -> None:
        for position, fields in self.server.ask("XRANGE", self.keys.log, "-", "+"):
            found = dict(zip(fields[::2], fields[1::2], strict=True))
            at_ms = int(position.partition(b"-")[0])
            event, id_ = found[b"event"].decode(), JobId(found[b"id"].decode())
            self.seen.log.append((at_ms, event, id_, int(found[b"attempt"])))

    def _take_down(self) -> None:
        self.network.over = True
        for worker in self.workers:
            self.loop.thaw(worker.name)
        for _ in range(100):
            tasks = [task for task in asyncio.all_tasks(self.loop) if not task.done()]
            if not tasks:
                break
            for task in sorted(tasks, key=hash):
                task.cancel()
            self.loop.call_later(0.05, self.loop.stop)
            self.loop.run_forever()
        self.loop.close()


PLACES = ("pending", "active", "schedule")


@contextmanager
def _deterministic(loop: VirtualLoop) -> Generator[None]:
    asyncio.set_event_loop(loop)
    setattr(Run, "__hash__", _hash_of)  # noqa: B010
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        asyncio.set_event_loop(None)


def _hash_of(run: Run) -> int:
    return crc32(run.held.id.encode())
