"""The application that the workers under attack run. Each run leaves lines in a file.

`S id attempt ms` is a start, `E ...` a handler that came to its end, `X ...` one that raised;
`O id scheduler instant` comes before the start of a job that a scheduler has made.
"""

import asyncio
import os
import random
import time
from pathlib import Path

from echomq_worker import INJECTED, EchoMQ, JobContext
from echomq_worker.domain.backoff import fixed
from echomq_worker.handlers.middleware import Next
from tests.chaos.kinds import BACKOFF_MS, DYING_ATTEMPTS
from tests.chaos.occurrences import ALONE, EVERY_MS, OFTEN
from tests.chaos.pen import Pen, no_pen, now_ms
from tests.chaos.sabotage import sabotage
from tests.chaos.skew import skew_clock

NOTES = os.environ.get("CHAOS_NOTES")
skew_clock(float(os.environ.get("CHAOS_SKEW_S", "0")))
sabotage(os.environ.get("CHAOS_SABOTAGE", ""))

app = EchoMQ()
pen = Pen(Path(NOTES)) if NOTES else no_pen()
backoff = fixed(f"{BACKOFF_MS}ms")


@app.middleware
async def record(context: JobContext, run: Next) -> object:
    if context.scheduler is not None:
        pen.write(f"O {context.id} {context.scheduler} {context.instant_ms}")
    pen.write(f"S {context.id} {context.attempt} {now_ms()}")
    try:
        result = await run()
    except BaseException:
        pen.write(f"X {context.id} {context.attempt} {now_ms()}")
        raise
    pen.write(f"E {context.id} {context.attempt} {now_ms()}")
    return result


@app.job("quick")
async def quick() -> None:
    pass


@app.job("nap")
async def nap() -> None:
    await asyncio.sleep(random.uniform(0.01, 0.3))


@app.job("long_nap")
async def long_nap() -> None:
    await asyncio.sleep(random.uniform(1, 3))


@app.job("fails_once", backoff=backoff)
async def fails_once(context: JobContext = INJECTED) -> None:
    if context.attempt == 1:
        msg = "the first attempt fails on purpose"
        raise RuntimeError(msg)


@app.job("times_out_once", backoff=backoff, timeout="100ms")
async def times_out_once(context: JobContext = INJECTED) -> None:
    if context.attempt == 1:
        await asyncio.sleep(60)


@app.job("dies", backoff=backoff, max_attempts=DYING_ATTEMPTS)
async def dies() -> None:
    msg = "this job never works"
    raise RuntimeError(msg)


@app.job("keeps_result", keep_result="20s")
async def keeps_result(context: JobContext = INJECTED) -> str:
    return context.id


@app.job("in_thread")
def in_thread() -> None:
    time.sleep(0.01)


@app.job("blocks_loop")
async def blocks_loop(seconds: float) -> None:
    time.sleep(seconds)  # noqa: ASYNC251 - the mistake that this handler is for


@app.every(f"{EVERY_MS}ms", name=OFTEN, misfire="all(max=100)")
async def often() -> None:
    pass


@app.every(f"{EVERY_MS}ms", name=ALONE, overlap="skip", jitter="50ms")
async def alone() -> None:
    await asyncio.sleep(random.uniform(0.01, 0.3))
