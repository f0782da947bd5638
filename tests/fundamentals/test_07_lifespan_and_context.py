"""What handlers need, such as a pool of connections, is opened once when the worker starts and
closed when it stops. What a handler may know about the run it is in comes to it by a parameter.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from echomq_worker import INJECTED, EchoMQ, JobContext, Next, State
from tests.fundamentals.conftest import Work


@dataclass
class Database:
    rows: list[str] = field(default_factory=list[str])
    is_open: bool = True


async def test_what_the_lifespan_yields_is_handed_to_handlers(app: EchoMQ, work: Work):
    databases: list[Database] = []

    @app.lifespan
    async def lifespan() -> AsyncGenerator[Database]:
        databases.append(Database())  # before the first job
        yield databases[0]
        databases[0].is_open = False  # after the last

    @app.job("row.insert")
    async def insert(row: str, database: State[Database] = INJECTED) -> None:
        assert database.is_open
        database.rows.append(row)

    assert lifespan  # a web application can enter the same one
    for row in ("a", "b"):
        await insert.enqueue(row)
    await work()

    assert databases == [Database(rows=["a", "b"], is_open=False)]


async def test_a_handler_may_know_about_its_run(app: EchoMQ, work: Work, queue_name: str):
    contexts: list[JobContext] = []

    @app.job("email.send", max_attempts=3, timeout="30s")
    async def send(to: str, context: JobContext = INJECTED) -> None:
        context.log.info("sending", to=to)  # says which job it is about
        contexts.append(context)

    handle = await send.enqueue("ada@example.com")
    await work()

    (context,) = contexts
    assert (context.id, context.queue, context.name) == (handle.id, queue_name, "email.send")
    assert (context.attempt, context.max_attempts, context.is_last_attempt) == (1, 3, False)
    assert context.deadline is not None
    assert not context.cancelled


async def test_middleware_wraps_every_run(app: EchoMQ, work: Work):
    said: list[str] = []

    @app.middleware
    async def measure(context: JobContext, run: Next) -> object:
        said.append(f"{context.name} begins")
        try:
            return await run()
        finally:
            said.append(f"{context.name} ends")

    @app.job("email.send")
    async def send() -> None:
        said.append("sending")

    assert measure
    await send.enqueue()
    await work()

    assert said == ["email.send begins", "sending", "email.send ends"]
