"""The only package that imports redis: runs scripts, gives back values or our errors."""

from echomq_worker.domain.replies import Beat, Presence, Reaped, Settled
from echomq_worker.domain.views import (
    Counts,
    JobView,
    KeptResult,
    LogEntry,
    Moved,
    Order,
    PauseNote,
    Places,
    Promoted,
    Removed,
    Reprioritized,
    Requeued,
    ServerInfo,
)
from echomq_worker.store.line import Line
from echomq_worker.store.options import ServerOptions
from echomq_worker.store.queue import QueueStore
from echomq_worker.store.server import Server

__all__ = [
    "Beat",
    "Counts",
    "JobView",
    "KeptResult",
    "Line",
    "LogEntry",
    "Moved",
    "Order",
    "PauseNote",
    "Places",
    "Presence",
    "Promoted",
    "QueueStore",
    "Reaped",
    "Removed",
    "Reprioritized",
    "Requeued",
    "Server",
    "ServerInfo",
    "ServerOptions",
    "Settled",
]
