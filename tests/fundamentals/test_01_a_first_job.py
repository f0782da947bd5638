"""A function becomes a job by a decorator, and stays a function. Enqueueing it puts a call of it
into a queue; a worker, which may be another process on another machine, takes it out and runs it.
"""

from echomq_worker import EchoMQ, JobState
from tests.fundamentals.conftest import Work


async def test_a_worker_runs_what_was_enqueued(app: EchoMQ, work: Work):
    sent: list[str] = []

    @app.job("email.send")
    async def send(to: str) -> None:
        sent.append(to)

    await send.enqueue("ada@example.com")
    assert sent == []  # it waits in the queue

    await work()
    assert sent == ["ada@example.com"]


async def test_the_function_can_be_called_as_ever(app: EchoMQ):
    @app.job("math.double")
    async def double(n: int) -> int:
        return 2 * n

    assert await double(21) == 42  # here and now; nothing was enqueued


async def test_plain_functions_are_jobs_as_well(app: EchoMQ, work: Work):
    written: list[str] = []

    @app.job("report.write")
    def write(title: str) -> None:  # a worker runs it in a thread
        written.append(title)

    await write.enqueue(title="May")
    await work()

    assert written == ["May"]


async def test_enqueueing_gives_a_handle_that_tells_where_the_job_is(app: EchoMQ, work: Work):
    @app.job("email.send")
    async def send(to: str) -> None: ...

    handle = await send.enqueue("ada@example.com")
    assert await handle.state() is JobState.PENDING

    await work()
    assert await handle.state() is JobState.ABSENT  # a job that has completed is gone


async def test_jobs_of_one_queue_start_in_the_order_in_which_they_were_enqueued(
    app: EchoMQ, work: Work
):
    started: list[int] = []

    @app.job("note")
    async def note(number: int) -> None:
        started.append(number)

    await app.enqueue_many(note.call(number) for number in range(100))  # in one round trip
    stats = await work()

    assert started == list(range(100))
    assert stats.completed == 100


async def test_a_job_can_be_enqueued_by_the_name_of_its_handler(app: EchoMQ, work: Work):
    sent: list[str] = []

    @app.job("email.send")
    async def send(to: str) -> None:
        sent.append(to)

    assert send.name == "email.send"
    await app.enqueue_by_name("email.send", {"to": "ada@example.com"})  # nothing is imported
    await work()

    assert sent == ["ada@example.com"]


async def test_a_job_that_still_waits_can_be_cancelled(app: EchoMQ, work: Work):
    @app.job("email.send")
    async def send(to: str) -> None: ...

    handle = await send.enqueue("ada@example.com")

    assert await handle.cancel()
    assert not await handle.cancel()  # it is gone
    assert (await work()).completed == 0
