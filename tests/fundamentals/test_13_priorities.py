"""Who of those that wait runs first. Without a priority, jobs run in the order in which they were
made. A lower priority runs before a higher one, and 0, which is no priority, lies between.
"""

import pytest

from echomq_worker import INJECTED, EchoMQ, InvalidArgumentError, JobContext
from tests.fundamentals.conftest import Work


async def test_a_lower_priority_runs_first(app: EchoMQ, work: Work):
    ran: list[str] = []

    @app.job("mail.send")
    async def send(to: str) -> None:
        ran.append(to)

    await send.options(priority=10).enqueue("everybody")
    await send.enqueue("ada")
    await send.options(priority=-5).enqueue("on call")
    await work()

    assert ran == ["on call", "ada", "everybody"]


async def test_a_handler_declares_the_priority_of_its_jobs(app: EchoMQ, work: Work):
    ran: list[tuple[str, int]] = []

    @app.job("report.write", priority=100)
    async def write(context: JobContext = INJECTED) -> None:
        ran.append((context.name or "", context.priority))

    @app.job("mail.send")
    async def send(context: JobContext = INJECTED) -> None:
        ran.append((context.name or "", context.priority))

    await write.enqueue()
    await write.options(priority=-1).enqueue()  # this one is needed now
    await send.enqueue()
    await work()

    assert ran == [("report.write", -1), ("mail.send", 0), ("report.write", 100)]


async def test_inside_a_priority_the_first_that_comes_to_wait_is_first(app: EchoMQ, work: Work):
    ran: list[str] = []

    @app.job("page.fetch", priority=5)
    async def fetch(page: str) -> None:
        ran.append(page)

    delayed = await fetch.enqueue_in("1h", "made first")
    moved = await fetch.enqueue("came first")
    await fetch.enqueue("came second")
    await delayed.promote()  # now it comes to wait as well
    await moved.reprioritize(6)
    await moved.reprioritize(5)  # it has kept its place; so it would after a retry or a crash
    await work()

    assert ran == ["came first", "came second", "made first"]


async def test_the_priority_of_a_waiting_job_can_be_changed(app: EchoMQ, work: Work):
    ran: list[str] = []

    @app.job("mail.send", max_attempts=1)
    async def send(to: str) -> None:
        ran.append(to)

    await send.enqueue("ada")
    urgent = await send.enqueue("bob")  # or: echomq job priority ID -1
    later = await send.enqueue_in("1h", "eve")

    assert await urgent.reprioritize(-1)
    assert await later.reprioritize(-2)  # it has it as soon as it waits
    await later.promote()
    await work()

    assert ran == ["eve", "bob", "ada"]


async def test_what_cannot_be_is_refused(app: EchoMQ):
    @app.job("mail.send")
    async def send() -> None: ...

    for nonsense in (2**20 + 1, "high", 1.5, True):
        with pytest.raises(InvalidArgumentError, match="expected a whole number"):
            send.options(priority=nonsense)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidArgumentError, match="both lane and priority"):
        send.options(priority=3, lane="acme")


async def test_a_queue_may_go_by_the_age_of_ids_instead(app: EchoMQ, work: Work):
    ran: list[str] = []

    @app.job("page.fetch", priority=5)
    async def fetch(page: str) -> None:
        ran.append(page)

    await app.queues.put_order("mint")  # or: echomq queue order default mint
    delayed = await fetch.enqueue_in("1h", "made first")
    await fetch.enqueue("came first")
    await delayed.promote()
    await work()

    assert ran == ["made first", "came first"]
