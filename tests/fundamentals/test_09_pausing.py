"""A paused queue takes jobs in and hands none out; jobs that run go on. From the shell it is
`echomq queue pause`, and `echomq queue resume`.
"""

from collections.abc import Callable

from echomq_worker import EchoMQ, JobState
from echomq_worker.store import QueueStore
from tests.fundamentals.conftest import Work


async def test_a_paused_queue_hands_out_nothing_until_it_is_resumed(
    app: EchoMQ, work: Work, queue: QueueStore
):
    @app.job("email.send")
    async def send() -> None: ...

    await queue.pause(reason="the mail server is being moved", by="ada")
    handle = await send.enqueue()
    assert (await work()).completed == 0
    assert await handle.state() is JobState.PENDING
    assert (await queue.counts()).paused

    await queue.resume()
    assert (await work()).completed == 1


async def test_other_queues_go_on(
    app: EchoMQ, work: Work, queue: QueueStore, new_queue_name: Callable[[], str]
):
    @app.job("email.send")
    async def send() -> None: ...

    @app.job("page.fetch", queue=new_queue_name())
    async def fetch() -> None: ...

    await queue.pause()
    await send.enqueue()
    await fetch.enqueue()

    assert (await work()).completed == 1
