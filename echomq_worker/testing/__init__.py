"""Tests of an application's jobs, without a server.

    from echomq_worker import testing

    async def test_a_new_user_is_welcomed():
        async with testing.inline(app) as kit:
            await sign_up("a@b.c")
            kit.assert_enqueued(send_welcome, to="a@b.c")
            await kit.run_until_idle()

Fixtures for pytest, also for a real server, are in `echomq_worker.testing.fixtures`.
"""

from echomq_worker.domain.outcome import Buried, Completed, HandedBack, Retried, Snoozed
from echomq_worker.errors import NotIdleError
from echomq_worker.testing.backend import InlineBackend, InlineQueue
from echomq_worker.testing.clock import ManualClock
from echomq_worker.testing.enqueued import EnqueuedJob
from echomq_worker.testing.inline import KitOptions, inline, inline_sync, longest
from echomq_worker.testing.kit import Kit
from echomq_worker.testing.occurrences import Occurrence, occurrences
from echomq_worker.testing.real import run_worker, running_worker
from echomq_worker.testing.report import Ran, Report
from echomq_worker.testing.sync import SyncKit
from echomq_worker.worker import Stats, WorkerOptions

__all__ = [
    "Buried",
    "Completed",
    "EnqueuedJob",
    "HandedBack",
    "InlineBackend",
    "InlineQueue",
    "Kit",
    "KitOptions",
    "ManualClock",
    "NotIdleError",
    "Occurrence",
    "Ran",
    "Report",
    "Retried",
    "Snoozed",
    "Stats",
    "SyncKit",
    "WorkerOptions",
    "inline",
    "inline_sync",
    "longest",
    "occurrences",
    "run_worker",
    "running_worker",
]
