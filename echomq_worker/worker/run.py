"""One job in our hands, from its claim until the server has its outcome."""

import asyncio
from time import perf_counter

from echomq_worker.domain.job import Held
from echomq_worker.domain.outcome import Outcome
from echomq_worker.handlers.context import LEASE_LOST, JobContext
from echomq_worker.worker.ports import Handler

SHUTDOWN = "shutdown"
TIMEOUT = "timeout"

__all__ = ["LEASE_LOST", "SHUTDOWN", "TIMEOUT", "Run"]


class Run:
    """What the worker knows about one job that it holds.

    Args:
        held: the job, as claimed.
        now_ms: the server's clock when it was claimed.
    """

    __slots__ = (
        "cancel_reason",
        "context",
        "error",
        "handler",
        "has_slot",
        "held",
        "in_thread",
        "now_ms",
        "on_loop",
        "outcome",
        "seconds",
        "started",
        "task",
        "timeout_ms",
    )

    def __init__(self, held: Held, now_ms: int) -> None:
        self.held = held
        self.now_ms = now_ms
        self.started = perf_counter()
        self.seconds = 0.0
        """How long the handler ran."""
        self.handler: Handler | None = None
        self.context: JobContext | None = None
        self.task: asyncio.Task[None] | None = None
        self.has_slot = True
        """False while it shares the slot of another job of its batch."""
        self.in_thread = False
        """True while the handler runs in a thread, where nothing can interrupt it."""
        self.on_loop = False
        """True once an awaitable runs that the handler's call in a thread has returned."""
        self.timeout_ms = 0
        """How long it may run; 0 for ever."""
        self.cancel_reason: str | None = None
        self.outcome: Outcome | None = None
        """What should become of the job, once that is decided."""
        self.error: BaseException | None = None
        """What the handler raised, if it did."""

    @property
    def name(self) -> str:
        """What people call it: the handler's name, or the queue's for a raw job."""
        return self.held.name or (self.context.name if self.context else self.held.queue)

    @property
    def gave_up(self) -> bool:
        """True if the handler was told to stop while it ran, so that its return means nothing.

        An async handler is told by an interruption. One in a thread is told when it looks at its
        context: if it never did, it has finished its work.
        """
        if self.cancel_reason is None:
            return False
        return self.handler is None or self.handler.is_async or self.on_loop or self._told

    @property
    def _told(self) -> bool:
        return self.context is not None and self.context.told

    def cancel(self, reason: str) -> None:
        """Ask the handler to stop. The first reason counts; asking again pushes once more.

        A lost lease counts even after another reason: whatever the run ends with is void then.

        Args:
            reason: `SHUTDOWN`, `TIMEOUT` or `LEASE_LOST`.
        """
        if self.outcome is not None:
            return
        if self.cancel_reason is None or reason == LEASE_LOST:
            self.cancel_reason = reason
            if self.context is not None:
                self.context.cancel(reason)
        # A task cancelled before its first step never takes it: the runner looks for the reason.
        if self.task is not None and self.context is not None and not self.in_thread:
            self.task.cancel()
