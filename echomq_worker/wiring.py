"""Puts a worker together: settings, an application and a server become a running daemon."""

import time
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Literal

import anyio

from echomq_worker.app import EchoMQ
from echomq_worker.config import Settings
from echomq_worker.domain.backoff import exponential
from echomq_worker.domain.clock import Clock
from echomq_worker.domain.gates import DeclaredLimit, by_key_scope, scope_of
from echomq_worker.domain.limits import PAYLOAD_BYTES
from echomq_worker.domain.printable import printable
from echomq_worker.domain.scheduling.declared import DeclaredScheduler
from echomq_worker.domain.size import format_size
from echomq_worker.errors import (
    AccessError,
    EvictionPolicyError,
    HandlerError,
    ServerError,
    UnavailableError,
)
from echomq_worker.handlers import Handler
from echomq_worker.observe.heartbeat_file import Heartbeat, HeartbeatFile
from echomq_worker.store import Server, ServerInfo
from echomq_worker.store.extender import BlockingExtender
from echomq_worker.store.nodes import NodeLease
from echomq_worker.store.rights import Needs, Role
from echomq_worker.system_clock import SystemClock
from echomq_worker.worker import (
    Budget,
    ExitStatus,
    Outside,
    Signals,
    Snapshot,
    Stop,
    WorkerOptions,
    run_daemon,
)
from echomq_worker.zones import zone_data_version

LONGEST_BACKOFF_MS = 600_000
FIRST_RETRY_MS = 100
LONGEST_RETRY_MS = 2_000
NODE_RENEWAL_MS = 20_000
FAREWELL_S = 1.0

State = Literal["starting", "running", "draining"]
_STATES: dict[str, State] = {"starting": "starting", "running": "running"}

EVICTION = (
    "the server may drop jobs when its memory is short: its maxmemory-policy is {policy}, expected "
    "noeviction. Change it (redis-cli CONFIG SET maxmemory-policy noeviction, then redis-cli "
    "CONFIG REWRITE), or set ECHOMQ_ALLOW_EVICTION=true if losing jobs is all right"
)

LACKING = (
    "the user {user} may not do all that a worker must: it lacks the {lacking}. Nothing was "
    "started. Let an administrator give it these rights: {line}"
)


def worker_options(settings: Settings) -> WorkerOptions:
    """Return how the worker that the settings describe is set up."""
    cap_ms = max(LONGEST_BACKOFF_MS, settings.retry_delay_ms)
    return WorkerOptions(
        queues=settings.queues,
        order="strict" if settings.queue_order == "strict" else "weighted",
        concurrency=settings.concurrency,
        threads=settings.threads,
        lease_ms=settings.lease_ms,
        renew_ms=settings.lease_renew_interval_ms,
        stuck_ms=settings.stuck_after_ms,
        beat_ms=settings.beat_ms,
        fire_repeats=settings.fire_repeats,
        max_attempts=settings.max_attempts,
        crash_limit=settings.crash_limit,
        backoff=exponential(settings.retry_delay_ms / 1_000, cap=cap_ms / 1_000),
        job_timeout_ms=settings.job_timeout_ms,
        shutdown_timeout_ms=settings.shutdown_timeout_ms,
        cancel_grace_ms=settings.shutdown_cancel_grace_ms,
        worker_name=settings.worker_name,
    )


def declared_schedulers(
    declared: Sequence[DeclaredScheduler], revision: int, max_payload: int = PAYLOAD_BYTES
) -> list[DeclaredScheduler]:
    """Return schedulers with the `revision` of this deploy, where they name none of their own.

    Raises:
        HandlerError: if the arguments of one are larger than `max_payload`, in bytes.
    """
    for one in declared:
        if (size := len(one.spec.template.payload)) > max_payload:
            msg = (
                f"the arguments of scheduler {one.spec.name} ({one.place}) are "
                f"{format_size(size)}, the limit {format_size(max_payload)} (ECHOMQ_MAX_PAYLOAD). "
                f"Store the data elsewhere and pass a reference"
            )
            raise HandlerError(msg)
    return [
        one if one.spec.revision else replace(one, spec=replace(one.spec, revision=revision))
        for one in declared
    ]


def declared_limits(handlers: Iterable[Handler]) -> list[DeclaredLimit]:
    """Return the limits that handlers declare."""
    return [
        DeclaredLimit(
            handler.queue,
            scope_of(name=handler.name) if limit.by is None else by_key_scope(handler.label),
            limit.rate,
            limit.concurrency,
        )
        for handler in handlers
        if (limit := handler.options.wanted.limit) is not None
    ]


def stop_budget(settings: Settings) -> Budget:
    """Return how long a stop may take."""
    return Budget(
        total_ms=settings.shutdown_timeout_ms, cancel_ms=settings.shutdown_cancel_grace_ms
    )


async def reach_server(
    server: Server, timeout_ms: int, away: Callable[[UnavailableError], None], clock: Clock
) -> ServerInfo:
    """Connect, asking again while the server is unavailable; return what it is.

    Args:
        server: where to.
        timeout_ms: how long to try, in ms; 0 for ever.
        away: told once, when the first try has failed.
        clock: waits.

    Raises:
        UnavailableError: if it was away all the time.
        AccessError: if it refuses user or password. Asking again would not help.
        WireVersionError: if it holds another wire version.
    """
    began_ms, tries = clock.monotonic_ms(), 0
    while True:
        try:
            await server.open()
            return await server.describe()
        except UnavailableError as error:
            tries += 1
            if tries == 1:
                away(error)
            wait_ms = min(LONGEST_RETRY_MS, FIRST_RETRY_MS << min(tries - 1, 10))
            if timeout_ms:
                left_ms = began_ms + timeout_ms - clock.monotonic_ms()
                if left_ms <= 0:
                    raise
                wait_ms = min(wait_ms, left_ms)
            await clock.sleep_ms(wait_ms)


def check_policy(info: ServerInfo, *, allowed: bool) -> None:
    """Raise `EvictionPolicyError` if the server may drop jobs and that is not `allowed`."""
    if info.evicts and not allowed:
        raise EvictionPolicyError(EVICTION.format(policy=info.memory_policy))


def needed_rights(settings: Settings, info: ServerInfo, role: Role = Role.WORKER) -> Needs:
    """Return what the user must be allowed to do, for the queues of the settings."""
    return Needs(
        role=role,
        queues=tuple(queue.name for queue in settings.queues),
        server=info.name,
        version=info.version,
        database=settings.redis_url.db,
    )


async def check_rights(server: Server, settings: Settings, info: ServerInfo) -> None:
    """Raise `AccessError` if the user lacks a right that a worker needs.

    Found out in the middle of a script, it would leave half a change behind.
    """
    needs = needed_rights(settings, info)
    lacking = await server.missing_rights(needs)
    if lacking:
        user = settings.redis_url.username
        line = needs.acl_line(user or "echomq")
        text = LACKING.format(user=user or "default", lacking=lacking, line=line)
        raise AccessError(printable(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Wired:
    """A worker that is ready to run.

    Args:
        settings: what it is set up by.
        app: whose jobs it runs.
        server: connected.
        signals: installed already; None for a worker inside another program.
        heartbeat: the file that tells of its health; None writes none.
        on_ready: called when the first claim is about to be made.
        clock: tells the time.
    """

    settings: Settings
    app: EchoMQ
    server: Server
    signals: Signals | None = None
    heartbeat: HeartbeatFile | None = None
    on_ready: Callable[[], None] = lambda: None
    clock: Clock = field(default_factory=SystemClock)

    async def run(self, *, burst: bool = False) -> ExitStatus:
        """Run until asked to stop (or, in a burst, until nothing is left); return how it ended."""
        stop = Stop(self.clock, stop_budget(self.settings))
        options = worker_options(self.settings)
        outside = Outside(
            queues=[self.server.queue(queue.name) for queue in self.settings.queues],
            extender=BlockingExtender(self.server.options),
            registry=self.app.registry,
            clock=self.clock,
            mint=self.app.minter.mint,
            scheduled=declared_schedulers(
                self.app.scheduled, self.settings.revision, self.settings.max_payload
            ),
            limits=declared_limits(self.app.registry.handlers()),
            zone_data=zone_data_version(),
            fleet=self.server.fleet,
            lifespan=self.app.lifespan_context,
            middleware=tuple(self.app.run_layers),
            on_ready=self.on_ready,
            on_beat=self._beat,
        )
        try:
            async with self._node():
                return await run_daemon(options, outside, stop, burst=burst, signals=self.signals)
        finally:
            outside.extender.close()
            if self.heartbeat is not None:
                self.heartbeat.remove()

    @asynccontextmanager
    async def _node(self) -> AsyncGenerator[None]:
        """Mint by a node number that no other worker has, as long as the block lasts."""
        if self.settings.node_id is not None:
            self.app.minter.use_node(self.settings.node_id)
            yield
            return
        lease = self.server.node_lease()
        if (node := await lease.take()) is not None:
            self.app.minter.use_node(node)
        async with anyio.create_task_group() as group:
            group.start_soon(self._keep_node, lease)
            yield
            group.cancel_scope.cancel()
        with suppress(ServerError), anyio.move_on_after(FAREWELL_S):
            await lease.give_back()

    async def _keep_node(self, lease: NodeLease) -> None:
        while True:
            await self.clock.sleep_ms(NODE_RENEWAL_MS)
            with suppress(ServerError):  # asked again before the lease is over
                if (node := await lease.take()) is not None and node != self.app.minter.node:
                    self.app.minter.use_node(node)

    def _beat(self, snapshot: Snapshot) -> None:
        if self.heartbeat is None:
            return
        now = time.time()
        answered_ms = snapshot.answered_ms
        self.heartbeat.write(
            Heartbeat(
                worker=self.settings.worker_name,
                state=_STATES.get(snapshot.state, "draining"),
                beat_at=now,
                claim_at=None if answered_ms is None else now - answered_ms / 1_000,
                redis_up=snapshot.server_up,
                beat_ms=self.settings.beat_ms,
            )
        )
