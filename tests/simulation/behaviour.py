"""The handlers of the simulated workers: they do what the seed has decided."""

import asyncio
from collections import Counter

from echomq_worker.handlers import (
    Discard,
    HandlerOptions,
    JobContext,
    Registry,
    Retry,
    Snooze,
    named_handler,
)
from tests.simulation.network import Network
from tests.simulation.plan import Plan, PlannedJob, Step
from tests.simulation.seen import Seen
from tests.simulation.worker import QUEUE


def registry_of(plan: Plan, network: Network, seen: Seen) -> Registry:
    """Return the handlers of all workers of a run."""
    registry = Registry()
    jobs = {job.number: job for job in plan.jobs}
    runs = Counter[int]()

    async def work(number: int, context: JobContext) -> None:
        job = jobs[number]
        nth, runs[number] = runs[number], runs[number] + 1
        step = job.steps[nth] if nth < len(job.steps) else Step("ok", 5)
        network.note("--- runs", context.id, step.kind, step.ms)
        await _behave(job, step, seen)
        seen.succeeded[job.id] += 1

    registry.add(named_handler(work, name="work", queue=QUEUE, options=HandlerOptions()))
    return registry


async def _behave(job: PlannedJob, step: Step, seen: Seen) -> None:
    await asyncio.sleep((60_000 if step.kind == "hang" else step.ms) / 1_000)
    match step.kind:
        case "fail":
            msg = "the seed says so"
            raise RuntimeError(msg)
        case "retry" | "snooze":
            after = f"{step.after_ms}ms"
            raise Retry(after) if step.kind == "retry" else Snooze(after)
        case "discard":
            seen.discarded.add(job.id)
            reason = "the seed says so"
            raise Discard(reason)
        case _:
            pass
