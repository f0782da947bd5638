"""What is running, for people who wonder why it hangs."""

from time import perf_counter
from types import CoroutineType
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
    frames: list[str] = []
    at: object = run.task.get_coro() if run.task is not None else None
    while isinstance(at, CoroutineType):
        if (frame := at.cr_frame) is not None:
            code = frame.f_code
            frames.append(f"{code.co_filename}:{frame.f_lineno} in {code.co_name}")
        at = at.cr_await
    return frames[-FRAMES:]
