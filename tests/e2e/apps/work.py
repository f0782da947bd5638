"""The application that the end-to-end tests run. Each run leaves a line in a file."""

import asyncio
import ctypes
import os
import time
from pathlib import Path

from echomq_worker import INJECTED, EchoMQ, JobContext

app = EchoMQ()
RUNS = Path(os.environ.get("E2E_RUNS", os.devnull))


def note(word: str, context: JobContext) -> None:
    with RUNS.open("a") as file:
        file.write(f"{word} {context.id} {context.attempt} {os.getpid()}\n")


@app.job("quick", keep_result="1m")
async def quick(number: int, *, context: JobContext = INJECTED) -> int:
    note("ran", context)
    return number


@app.job("rest")
async def rest(seconds: float, *, context: JobContext = INJECTED) -> None:
    note("started", context)
    await asyncio.sleep(seconds)
    note("ran", context)


@app.job("block_loop")
async def block_loop(seconds: float, *, context: JobContext = INJECTED) -> None:
    note("started", context)
    time.sleep(seconds)  # noqa: ASYNC251 - the mistake that this handler is for
    note("ran", context)


@app.job("in_thread")
def in_thread(seconds: float, *, context: JobContext = INJECTED) -> None:
    note("started", context)
    time.sleep(seconds)
    note("ran", context)


@app.job("rest_at_first")
async def rest_at_first(seconds: float, *, context: JobContext = INJECTED) -> None:
    note("started", context)
    if context.attempt == 1:
        try:
            await asyncio.sleep(seconds)
        finally:
            note("lost" if context.lease_lost else "kept", context)
    note("ran", context)


@app.job("block_at_first")
async def block_at_first(seconds: float, *, context: JobContext = INJECTED) -> None:
    note("started", context)
    if context.attempt == 1:
        time.sleep(seconds)  # noqa: ASYNC251 - the mistake that this handler is for
    note("ran", context)


@app.job("in_thread_at_first")
def in_thread_at_first(seconds: float, *, context: JobContext = INJECTED) -> None:
    note("started", context)
    if context.attempt == 1:
        time.sleep(seconds)
    note("ran", context)


@app.job("hold_lock_at_first")
async def hold_lock_at_first(seconds: float, *, context: JobContext = INJECTED) -> None:
    note("started", context)
    if context.attempt == 1:
        ctypes.PyDLL(None).usleep(int(seconds * 1_000_000))  # keeps the interpreter's lock
    note("ran", context)


@app.job("watchful")
def watchful(*, context: JobContext = INJECTED) -> None:
    note("started", context)
    while not context.cancelled:
        time.sleep(0.01)


@app.job("stubborn")
async def stubborn(*, context: JobContext = INJECTED) -> None:
    note("started", context)
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            note("refused", context)


@app.job("leaky", max_attempts=1)
async def leaky(*, context: JobContext = INJECTED) -> None:
    password_of_the_bank = os.environ.get("E2E_SECRET", "")
    note("started", context)
    msg = f"{len(password_of_the_bank)} characters do not fit"
    raise ValueError(msg)


@app.job("chain")
async def chain(left: int, *, context: JobContext = INJECTED) -> None:
    note("ran", context)
    if left:
        await chain.enqueue(left - 1)
