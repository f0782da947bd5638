"""What is running, for people who wonder why it hangs."""

from time import perf_counter
from typing import Any

from echomq_worker.worker.hands import Hands
from echomq_worker.worker.run import Run

FRAMES = 3


def running_jobs(hands: Hands) -> list[dict[str, Any]]:
    """Return, for each running job, how long it has run and where it waits."""
    now = perf_counter()
    return [
        {
            "job_id": run.held.id,
            "job_name": run.name,
            "seconds": round(now - run.started, 3),
            "cancelled": run.cancel_reason,
            "at": "in a thread" if run.in_thread else _where(run),
        }
        for run in hands.running
    ]


def _where(run: Run) -> list[str]:
    if run.task is None:
        return []
    frames = run.task.get_stack(limit=FRAMES)
    return [
        f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}" for frame in frames
    ]
