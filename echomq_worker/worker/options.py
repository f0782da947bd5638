"""How a worker is set up."""

import os
import secrets
import socket
from dataclasses import dataclass, field
from typing import Literal

from echomq_worker.domain.backoff import DEFAULT_BACKOFF, Backoff
from echomq_worker.domain.limits import BATCH
from echomq_worker.domain.queue_name import QueueWeight
from echomq_worker.errors import InvalidArgumentError

SHORTEST_MS = 10
SHORTEST_LEASE_MS = 100
STUCK_MS = 300_000

Order = Literal["weighted", "strict"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions:
    """Valid by construction: an instance that exists can be used. All times are in ms."""

    queues: tuple[QueueWeight, ...] = (QueueWeight("default"),)
    """Which queues to claim from, the most urgent first."""
    order: Order = "weighted"
    """`strict`: a queue gets nothing as long as one listed before it has work."""
    concurrency: int = 32
    """How many jobs may run at once."""
    threads: int | None = None
    """How many of them may be sync handlers, which run in threads; None: all."""
    lease_ms: int = 10_000
    """How long a job stays ours without a sign of life. Shorter finds crashes sooner."""
    renew_ms: int | None = None
    """How often leases are extended; None: three times per lease."""
    stuck_ms: int | None = None
    """Leases are given up when the event loop has not turned for so long; None: 5 minutes, or six
    leases if that is longer."""
    beat_ms: int = 1_000
    """How often each queue is looked after without an occasion."""
    max_attempts: int = 10
    """How often a job may be tried, unless the job or its handler says otherwise."""
    crash_limit: int = 5
    """So many leases lost in a row bury a job; 0: never."""
    backoff: Backoff = DEFAULT_BACKOFF
    """The wait between attempts, unless the handler says otherwise."""
    job_timeout_ms: int = 0
    """How long a run may take, unless its handler says otherwise; 0: for ever."""
    shutdown_timeout_ms: int = 25_000
    """The whole budget from the stop signal to the exit."""
    cancel_grace_ms: int = 5_000
    """The tail of that budget in which the jobs that still run are cancelled."""
    promote_batch: int = 100
    """How many due jobs one call promotes at most."""
    reap_batch: int = 100
    """How many expired leases one beat takes back at most."""
    fire_repeats: bool = True
    """Whether to fire what peers have registered by the base wire's rules."""
    worker_id: str = field(default_factory=lambda: secrets.token_hex(8))
    """Differs at every start."""
    worker_name: str = field(default_factory=lambda: f"{socket.gethostname()}:{os.getpid()}")
    """For people: in logs, in the list of workers, with failed attempts."""

    def __post_init__(self) -> None:
        names = [queue.name for queue in self.queues]
        renew_ms = self.renew_every_ms
        rules = {
            "queues must name at least one queue": bool(names),
            "queues must name each queue once": len(set(names)) == len(names),
            f"concurrency must be from 1 to {BATCH}": 1 <= self.concurrency <= BATCH,
            f"threads must be from 1 to {BATCH}": 1 <= self.thread_count <= BATCH,
            f"lease_ms must be at least {SHORTEST_LEASE_MS}": self.lease_ms >= SHORTEST_LEASE_MS,
            f"renew_ms must be at least {SHORTEST_MS}": renew_ms >= SHORTEST_MS,
            "renew_ms must be less than two thirds of lease_ms": renew_ms * 3 < self.lease_ms * 2,
            "stuck_ms must be more than three times lease_ms": self.stuck_after_ms
            > 3 * self.lease_ms,
            f"beat_ms must be at least {SHORTEST_MS}": self.beat_ms >= SHORTEST_MS,
            "max_attempts must be at least 1": self.max_attempts >= 1,
            "crash_limit must not be negative": self.crash_limit >= 0,
            "job_timeout_ms must not be negative": self.job_timeout_ms >= 0,
            "cancel_grace_ms must not be negative": self.cancel_grace_ms >= 0,
            "cancel_grace_ms must not be more than shutdown_timeout_ms": self.cancel_grace_ms
            <= self.shutdown_timeout_ms,
            f"promote_batch must be from 1 to {BATCH}": 1 <= self.promote_batch <= BATCH,
            f"reap_batch must be from 1 to {BATCH}": 1 <= self.reap_batch <= BATCH,
        }
        if broken := [rule for rule, holds in rules.items() if not holds]:
            raise InvalidArgumentError("; ".join(broken))

    @property
    def thread_count(self) -> int:
        """How many threads sync handlers may use."""
        return self.concurrency if self.threads is None else self.threads

    @property
    def renew_every_ms(self) -> int:
        """How often leases are extended."""
        return self.lease_ms // 3 if self.renew_ms is None else self.renew_ms

    @property
    def stuck_after_ms(self) -> int:
        """How long the event loop may stand still before leases are given up."""
        return max(STUCK_MS, 6 * self.lease_ms) if self.stuck_ms is None else self.stuck_ms
