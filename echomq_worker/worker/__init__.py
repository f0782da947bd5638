"""The daemon: claims jobs, runs their handlers, settles the outcomes, and stops in order."""

from echomq_worker.worker.assembly import Outside
from echomq_worker.worker.daemon import ExitStatus, run_daemon
from echomq_worker.worker.options import WorkerOptions
from echomq_worker.worker.signals import Signals
from echomq_worker.worker.stats import Snapshot, Stats
from echomq_worker.worker.stop import Budget, Stop

__all__ = [
    "Budget",
    "ExitStatus",
    "Outside",
    "Signals",
    "Snapshot",
    "Stats",
    "Stop",
    "WorkerOptions",
    "run_daemon",
]
