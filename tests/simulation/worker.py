"""One real worker in the simulated world."""

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Any, cast

from echomq_worker.domain.backoff import exponential
from echomq_worker.domain.job import Held
from echomq_worker.domain.minter import Minter
from echomq_worker.domain.outcome import Verdict
from echomq_worker.domain.queue_name import QueueWeight
from echomq_worker.errors import UnavailableError
from echomq_worker.handlers import Registry
from echomq_worker.protocol.keyspace import Keyspace
from echomq_worker.protocol.rows import held_operands, read_verdicts
from echomq_worker.protocol.scripts import script
from echomq_worker.store.calls import Caller
from echomq_worker.store.line import Line
from echomq_worker.store.options import ServerOptions
from echomq_worker.store.queue import QueueStore
from echomq_worker.store.translate import translated_errors
from echomq_worker.worker import Budget, Outside, Stop, WorkerOptions
from echomq_worker.worker.daemon import Daemon
from echomq_worker.worker.leases import Leases
from echomq_worker.worker.loop_guard import LoopGuard
from tests.simulation.client import SimulatedClient
from tests.simulation.loop import WHO, VirtualLoop
from tests.simulation.network import EPOCH_MS, LATEST_MS, CutError, Network
from tests.simulation.plan import BEAT_MS, CRASH_LIMIT, LEASE_MS, MAX_ATTEMPTS, TIMEOUT_MS

QUEUE = "simulated"
OPTIONS = ServerOptions(url="redis://simulated", log_size=100_000, give_up_ms=2_000)


class SimulatedClock:
    """The virtual time, as a machine shows it whose clock is off by `skew_ms`."""

    def __init__(self, loop: VirtualLoop, skew_ms: int = 0) -> None:
        self._loop = loop
        self._skew_ms = skew_ms

    def now_ms(self) -> int:
        return EPOCH_MS + self._loop.now_ms + self._skew_ms

    def monotonic_ms(self) -> int:
        return self._loop.now_ms

    async def sleep_ms(self, ms: int) -> None:
        await asyncio.sleep(ms / 1_000)


def store_of(network: Network, owner: str) -> QueueStore:
    """Return the real store of a queue, over the simulated network."""
    client = SimulatedClient(network, owner)
    return QueueStore(QUEUE, cast("Any", client), OPTIONS, lambda: client.epoch)


class SimulatedQueue:
    """The queue of one worker, with names that the seed decides."""

    def __init__(self, network: Network, owner: str) -> None:
        self.store = store_of(network, owner)
        self.name = QUEUE
        self._owner = owner
        self.wait_hint = self.store.wait_hint
        self.end_wait = self.store.end_wait
        self.leave = self.store.leave
        self.schedulers = self.store.schedulers
        self.repeats = self.store.repeats
        self.gates = self.store.gates
        self.operator = self.store.operator

    def line(self, **options: Any) -> Line:
        return self.store.line(caller=Caller(name=f"line{self._owner}"), **options)


class SimulatedExtender:
    """Extends leases over the simulated network, in one instant of the virtual time."""

    def __init__(self, network: Network, owner: str) -> None:
        self._network = network
        self._owner = owner

    def open(self) -> None:
        """There is nothing to connect."""

    def extend(self, queue: str, held: Sequence[Held], lease_ms: int) -> list[Verdict]:
        keys = Keyspace(queue)
        bound = script("extend").bind({"root": keys.root, "active": keys.active})
        operands = bound.operands({"lease_ms": lease_ms}, held_operands(held))
        parts = [_bytes(part) for part in ("EVAL", bound.script.source, *operands)]
        network = self._network
        fate = "lost" if self._owner in network.cut_off else network.fate()
        with translated_errors():
            if network.over or network.condition == "down" or fate in ("lost", "silence"):
                msg = "Connection closed by server."
                raise CutError(msg)
            if fate in ("late", "twice"):
                network.later(network.dice.randint(5, LATEST_MS), network.arrive, self, parts, None)
            verdicts = read_verdicts(network.apply(self._owner, parts))
        if fate in ("unanswered", "late", "twice"):
            msg = "no answer"
            raise UnavailableError(msg)
        return verdicts

    @property
    def owner(self) -> str:
        return self._owner

    def close(self) -> None:
        """Nothing is open."""


class LeaseTask:
    """What the thread of `Leases` does, as a task on virtual time."""

    name = "leases"

    def __init__(self, leases: Leases) -> None:
        self._leases = leases
        self._rung = asyncio.Event()
        leases._alarm = cast("Any", self)

    def ring(self) -> None:
        """Extend at once."""
        self._rung.set()

    async def run(self) -> None:
        leases, failures = self._leases, 0
        while True:
            try:
                async with asyncio.timeout(leases._wait_ms(failures) / 1_000):
                    await self._rung.wait()
            except TimeoutError:
                pass
            self._rung.clear()
            try:
                leases.extend(leases._lost)
            except UnavailableError as error:
                failures += 1
                leases._noticed(error)
            else:
                failures = 0
                leases._recovered()


class SimulatedWorker:
    """A worker, from its start to whatever ends it."""

    def __init__(self, network: Network, registry: Registry, name: str, dice: Random) -> None:
        self.name = name
        self.state = "working"
        """working, paused, stopping, killed or ended."""
        loop = network.loop
        clock = SimulatedClock(loop, dice.choice([0, 0, -60_000, 60_000]))
        options = WorkerOptions(
            queues=(QueueWeight(QUEUE),),
            concurrency=dice.choice([1, 2, 4]),
            lease_ms=LEASE_MS,
            beat_ms=BEAT_MS,
            max_attempts=MAX_ATTEMPTS,
            crash_limit=CRASH_LIMIT,
            job_timeout_ms=TIMEOUT_MS,
            backoff=exponential("100ms", "1s"),
            shutdown_timeout_ms=5_000,
            cancel_grace_ms=1_000,
            worker_id=name,
            worker_name=name,
        )
        self.stop = Stop(clock, Budget(total_ms=5_000, cancel_ms=1_000))
        outside = Outside(
            queues=(SimulatedQueue(network, name),),
            extender=SimulatedExtender(network, name),
            registry=registry,
            clock=clock,
            # Not the number of the plan's ids. All workers have one, so that ids of theirs collide.
            mint=Minter(2, clock_ms=clock.now_ms, dice=dice.randrange).mint,
            dice=dice.uniform,
        )
        self._daemon = Daemon(options, outside, self.stop, burst=False)
        support = self._daemon._parts.support
        support[:] = [
            LeaseTask(service) if isinstance(service, Leases) else service
            for service in support
            if not isinstance(service, LoopGuard)
        ]
        self.life = self._start(loop)

    def _start(self, loop: VirtualLoop) -> "asyncio.Task[Any]":
        token = WHO.set(self.name)
        try:
            return loop.create_task(self._daemon.run())
        finally:
            WHO.reset(token)

    @property
    def alive(self) -> bool:
        return self.state == "working" and not self.life.done()


def _bytes(part: str | bytes | int) -> bytes:
    return part if isinstance(part, bytes) else str(part).encode()
