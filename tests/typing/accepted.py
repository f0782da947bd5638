"""Code that a strict type checker accepts, with the types that it must infer."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, assert_type

from echomq_worker import (
    INJECTED,
    Admission,
    Batch,
    Call,
    EchoMQ,
    JobContext,
    JobHandle,
    JobSender,
    JobState,
    Next,
    Order,
    Outgoing,
    PutVerdict,
    Retry,
    SchedulerView,
    Send,
    Sent,
    State,
    SyncJobHandle,
    all_missed,
    debounce,
    exponential,
    throttle,
)


@dataclass
class Report:
    """What a handler returns."""

    pages: int


class Pool:
    """What a lifespan yields."""


app = EchoMQ()


@app.lifespan
async def resources() -> AsyncIterator[Pool]:
    """Open and close."""
    yield Pool()


@app.job("email.send", max_attempts=5, backoff=exponential("1s"), bury_on=(ValueError,))
async def send(to: str, n: int = 1, *, context: JobContext = INJECTED) -> int:
    """Receive the context by keyword, with a default."""
    if context.cancelled:
        raise Retry(after="10s")
    return len(to) * n


@app.job("report.render", queue="reports", timeout=timedelta(minutes=5), keep_result="1h")
def render(title: str, *, pool: State[Pool] = INJECTED) -> Report:
    """Receive the state; run in a thread."""
    assert_type(pool, Pool)
    return Report(len(title))


@app.job("page.store", batch=Batch(100, wait="1s"), max_attempts=3)
async def store(pages: list[str], *, context: JobContext = INJECTED) -> list[int]:
    """Take many jobs at once."""
    return [len(page) + context.attempt for page in pages]


def tenant_of(tenant: str, **_: object) -> str:
    """Tell the lane of a job by its arguments."""
    return tenant


def index_of(page: str) -> str:
    """Name a key."""
    return f"index:{page}"


@app.job("page.index", key=index_of, mode=debounce("5s", max="1m"))
async def index(page: str) -> None:
    """Have a key made from its arguments."""


@app.job("invoice.write", lane=tenant_of)
async def invoice(tenant: str, number: int) -> str:
    """Wait in the lane of its tenant."""
    return f"{tenant}/{number}"


@app.every("1h", priority=-5, args={"data": 1})
@app.job("count")
async def count(data: Any, context: JobContext | None = None) -> None:
    """Take anything."""
    del data, context


@app.cron("0 9 * * MON-FRI", tz="Europe/Berlin", misfire=all_missed(max=3), args={"to": "a"})
@app.every("1h", name="hourly", jitter=5, backoff=exponential("1s"))
@app.job("digest.send")
async def digest(to: str) -> int:
    """Be scheduled, and stay a job."""
    return len(to)


@app.every(timedelta(minutes=1), immediately=True)
def tidy() -> str:
    """Become a job by being scheduled."""
    return ""


@app.raw_handler(queue="orders")
async def take(payload: bytes) -> None:
    """Take bytes."""
    del payload


@app.middleware
async def around(context: JobContext, run: Next) -> object:
    """Wrap a run."""
    del context
    return await run()


@app.enqueue_middleware
async def outgoing(jobs: Sequence[Outgoing], send: Send) -> Sequence[Sent]:
    """Wrap an enqueue."""
    return await send(jobs)


async def call_directly() -> None:
    """A registered function keeps its signature."""
    assert_type(await send("a", n=2), int)
    assert_type(render("a", pool=Pool()), Report)
    assert_type(await count([1]), None)
    await take(b"")


async def enqueue() -> None:
    """An enqueued call has a handle of the result."""
    assert_type(await send.enqueue("a", n=2), JobHandle[int])
    assert_type(await send.enqueue_in("10m", to="a"), JobHandle[int])
    assert_type(await send.enqueue_at(datetime.now(UTC), "a"), JobHandle[int])
    assert_type(await app.enqueue(render, "a"), JobHandle[Report])
    assert_type(await app.enqueue_in(10, send, "a"), JobHandle[int])
    assert_type(await app.enqueue_at(datetime.now(UTC), send, "a", 2), JobHandle[int])
    assert_type(await count.enqueue({"any": "thing"}), JobHandle[None])

    bulk = send.options(queue="bulk", max_attempts=2, keep_result="1h")
    assert_type(await bulk.enqueue("a"), JobHandle[int])
    assert_type(await app.enqueue(bulk, "a"), JobHandle[int])

    timed = bulk.options(expires=timedelta(minutes=1), timeout="5s", backoff=["1s", 10, "1m"])
    timed = timed.options(expires=datetime.now(UTC), backoff=exponential("1s"), priority=-3)
    assert_type(await invoice.options(lane="acme").enqueue("acme", 1), JobHandle[str])
    assert_type(await timed.enqueue("a"), JobHandle[int])
    keyed = timed.options(key="all", mode="replace", release="start").options(key=7)
    keyed = keyed.options(key="all", mode=throttle("1h"))
    assert_type((await keyed.enqueue("a")).admission, Admission)
    assert_type(await index.enqueue("home"), JobHandle[None])

    assert_type(send.call("a"), Call[int])
    assert_type(await app.enqueue_many([send.call("a").after(1)]), list[JobHandle[int]])
    mixed: list[Call[object]] = [send.call("a"), render.call("b")]
    assert_type(await app.enqueue_many(mixed), list[JobHandle[object]])
    assert_type(await app.enqueue_many(send.call(to) for to in "ab"), list[JobHandle[int]])

    assert_type(await app.enqueue_by_name("x", {"a": 1}, delay="1s"), JobHandle[Any])
    assert_type(await app.enqueue_raw(b"", queue="orders"), JobHandle[Any])


async def gather() -> None:
    """A handler of batches takes a list, and is enqueued with one item."""
    assert_type(await store.enqueue("page"), JobHandle[Any])
    await app.enqueue_many(store.call(page) for page in "ab")
    assert_type(await store(["page"]), list[int])
    assert_type(app.sync.enqueue(store, "page"), SyncJobHandle[Any])


async def follow() -> None:
    """A handle knows the type of the result."""
    handle = await app.enqueue(render, "a")
    assert_type(await handle.result(timeout="5s"), Report)
    assert_type(await handle.state(), JobState)
    assert_type(await handle.cancel(), bool)
    assert_type(await handle.reschedule("10m"), bool)
    assert_type(await handle.reschedule(datetime.now(UTC)), bool)
    assert_type(await handle.promote(), bool)
    assert_type(await handle.reprioritize(-1), bool)
    assert_type(await app.queues.order(), Order)
    await app.queues.put_order("mint", queue="reports")
    assert_type(await anything(handle), object)
    assert_type(render.handle("JOB0NsUH6L9tuD"), JobHandle[Report])


async def anything(handle: JobHandle[object]) -> object:
    """A handle of something stands in for a handle of anything."""
    return await handle.result()


async def schedule() -> None:
    """A scheduled job is a job; what is known of a scheduler has types."""
    assert_type(await (await digest.enqueue("a")).result(), int)
    assert_type(await tidy.enqueue(), JobHandle[str])
    verdict = await app.schedulers.put("d", digest, cron="@daily", args={"to": "a"}, limit=3)
    assert_type(verdict, PutVerdict)
    await app.schedulers.put("e", "by.name", every="1m", overlap="skip", revision=2)
    assert_type(await app.schedulers.get("d"), SchedulerView | None)
    assert_type(await app.schedulers.upcoming("d", 3), Sequence[datetime])
    assert_type(await app.schedulers.trigger("d"), JobHandle[Any])


def block() -> None:
    """The synchronous twin infers the same."""
    handle = app.sync.enqueue(send, "a", n=2)
    assert_type(handle, SyncJobHandle[int])
    assert_type(handle.result("5s"), int)
    assert_type(app.sync.enqueue_in("1s", render, "a"), SyncJobHandle[Report])
    assert_type(app.sync.enqueue_many([send.call("a")]), list[SyncJobHandle[int]])
    assert_type(app.sync.handle(send, "JOB0NsUH6L9tuD"), SyncJobHandle[int])


async def pass_on(job: JobSender[..., int]) -> JobHandle[int]:
    """A job can be passed to whoever enqueues it."""
    return await job.enqueue("a")


async def share() -> None:
    """A lifespan is a context manager of the state."""
    async with app, resources() as pool:
        assert_type(pool, Pool)
        await pass_on(send)
