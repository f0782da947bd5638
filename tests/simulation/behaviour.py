"""The handlers of the simulated workers: they do what the seed has decided."""

import asyncio
from collections import Counter
from random import Random

from echomq_worker.domain.job import JobId
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
from tests.simulation.plan import Plan, Step
from tests.simulation.schedules import HANDLER, KINDS
from tests.simulation.seen import Seen
from tests.simulation.worker import QUEUE


def registry_of(plan: Plan, network: Network, seen: Seen) -> Registry:
    """Return the handlers of all workers of a run."""
    registry = Registry()
    jobs = {job.number: job for job in plan.jobs}
    runs, ticks = Counter[int](), Counter[JobId]()

    async def work(number: int, context: JobContext) -> None:
        job = jobs[number]
        nth, runs[number] = runs[number], runs[number] + 1
        step = job.steps[nth] if nth < len(job.steps) else Step("ok", 5)
        network.note("--- runs", context.id, step.kind, step.ms)
        await _behave(job.id, step, seen)
        seen.succeeded[job.id] += 1

    async def tick(context: JobContext) -> None:
        ticks[context.id] += 1
        dice = Random(f"{context.scheduler} {context.instant_ms} {ticks[context.id]}")
        step = Step(dice.choice(KINDS), dice.choice([0, 1, 20, 300, 1_200]), dice.randint(1, 500))
        network.note("--- runs", context.id, context.scheduler, step.kind, step.ms)
        await _behave(context.id, step, seen)
        seen.succeeded[context.id] += 1

    registry.add(named_handler(work, name="work", queue=QUEUE, options=HandlerOptions()))
    registry.add(named_handler(tick, name=HANDLER, queue=QUEUE, options=HandlerOptions()))
    return registry


async def _behave(id_: JobId, step: Step, seen: Seen) -> None:
    await asyncio.sleep((60_000 if step.kind == "hang" else step.ms) / 1_000)
    match step.kind:
        case "fail":
            msg = "the seed says so"
            raise RuntimeError(msg)
        case "retry" | "snooze":
            after = f"{step.after_ms}ms"
            raise Retry(after) if step.kind == "retry" else Snooze(after)
        case "discard":
            seen.discarded.add(id_)
            reason = "the seed says so"
            raise Discard(reason)
        case _:
            pass
