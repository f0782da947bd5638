"""The application of the workers in the fault matrix. Each run leaves lines in a file."""

import asyncio
import os
import time
from collections.abc import AsyncGenerator
from pathlib import Path

from echomq_worker import INJECTED, Discard, EchoMQ, JobContext

NOTES = Path(os.environ.get("MATRIX_NOTES", os.devnull))
BLOCK = Path(os.environ.get("MATRIX_BLOCK", "/nowhere"))
"""A file that holds seconds: once it is there, the event loop is blocked for so long."""
LONGEST_S = float(os.environ.get("MATRIX_LONGEST", "10"))
"""No run takes longer."""


def note(word: str, context: JobContext) -> None:
    """Leave a line of a run, all of it in one write."""
    line = f"{word} {context.id} {context.attempt} {os.getpid()} {time.time_ns() // 1_000_000}\n"
    with NOTES.open("a") as file:
        file.write(line)


async def _block_when_told() -> None:
    while not BLOCK.exists():  # noqa: ASYNC240, ASYNC110 - a glance at a file
        await asyncio.sleep(0.02)
    time.sleep(float(BLOCK.read_text()))  # noqa: ASYNC240, ASYNC251 - the mistake that it is for


app = EchoMQ()


@app.lifespan
async def lifespan() -> AsyncGenerator[None]:
    """Wait beside the jobs for the order to block the loop."""
    task = asyncio.create_task(_block_when_told())
    yield
    task.cancel()


@app.job("cell")
async def cell(run_s: float, ending: str, *, context: JobContext = INJECTED) -> None:
    """Take a while, then end as wished."""
    note("start", context)
    await asyncio.sleep(min(run_s, LONGEST_S))
    note("end", context)
    if ending == "dead":
        msg = "ends dead"
        raise Discard(msg)
    if ending == "retry" and context.attempt == 1:
        msg = "fails once"
        raise ValueError(msg)
