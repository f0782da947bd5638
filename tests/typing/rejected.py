"""Mistakes that a strict type checker must find: each line says by which rule."""

from datetime import UTC, datetime
from typing import Any

from echomq_worker import INJECTED, Batch, EchoMQ, JobContext, JobHandle, Next

app = EchoMQ()


@app.job("email.send")
async def send(to: str, n: int = 1, *, context: JobContext = INJECTED) -> int:
    """A handler."""
    return len(to) * n + context.attempt


@app.job("add")
def add(left: int, right: int) -> int:
    """A plain one."""
    return left + right


@app.job("page.store", batch=Batch(100))
async def store(pages: list[str]) -> None:
    """One that takes many."""
    del pages


async def wrong_arguments() -> None:
    """Arguments that do not fit the handler."""
    await store.enqueue(["a"])  # error: reportArgumentType
    await store("a")  # error: reportArgumentType
    await send.enqueue()  # error: reportCallIssue
    await send.enqueue(7)  # error: reportArgumentType
    await send.enqueue("a", cc="b")  # error: reportCallIssue
    await send.enqueue("a", 1, 2)  # error: reportCallIssue
    await app.enqueue(send, n=1)  # error: reportCallIssue
    await app.enqueue_in("1s", send, 7)  # error: reportArgumentType
    await send.options(queue="bulk").enqueue(to=7)  # error: reportArgumentType
    send.call(None)  # error: reportArgumentType
    app.sync.enqueue(add, 1)  # error: reportCallIssue
    app.sync.enqueue(add, 1, "2")  # error: reportArgumentType
    add("1", 2)  # error: reportArgumentType


async def wrong_results() -> None:
    """Results that are taken for something else."""
    text: str = await (await send.enqueue("a")).result()  # error: reportAssignmentType
    handle: JobHandle[str] = await send.enqueue("a")  # error: reportAssignmentType
    number: int = send("a")  # error: reportAssignmentType
    number.bit_length()
    del text, handle


async def wrong_options() -> None:
    """Options that there are not, or of another type."""
    send.options(que="bulk")  # error: reportCallIssue
    send.options(max_attempts="5")  # error: reportArgumentType
    send.options(expires=b"1m")  # error: reportArgumentType
    send.options(priority="high")  # error: reportArgumentType
    send.options(lane=7)  # error: reportArgumentType
    await (await send.enqueue("a")).reschedule(None)  # error: reportArgumentType
    await send.enqueue_in(datetime.now(UTC), "a")  # error: reportArgumentType
    await app.enqueue_by_name("x", {}, later=1)  # error: reportCallIssue
    app.job("x", batch=10)  # error: reportArgumentType # error: reportCallIssue
    app.job("x", timout="5s")  # error: reportCallIssue
    app.job("x", bury_on="ValueError")  # error: reportArgumentType
    app.cron("@daily", offset="1m")  # error: reportCallIssue
    app.every("1m", tz="UTC")  # error: reportCallIssue
    app.every("1m", limit="3")  # error: reportArgumentType
    await app.schedulers.put("d", send, evry="1m")  # error: reportCallIssue


@app.middleware  # error: reportArgumentType # error: reportUntypedFunctionDecorator
async def takes_no_context(run: Next) -> object:
    """A middleware without the context."""
    return await run()


@app.raw_handler  # error: reportCallIssue # error: reportUntypedFunctionDecorator
async def names_no_queue(payload: bytes) -> None:
    """A raw handler without its queue."""
    del payload


async def context_not_declared_as_injected(context: JobContext, to: str) -> None:
    """Without the default, a producer would have to pass it."""
    job: Any = app.job("x")(context_not_declared_as_injected)
    await app.job("y")(context_not_declared_as_injected).enqueue(to=to)  # error: reportCallIssue
    del job, context


async def wrong_keys() -> None:
    """Modes that there are not, and keys that are no text."""
    send.options(key="a", mode="debounce")  # error: reportArgumentType
    send.options(key=b"a")  # error: reportArgumentType
