"""The lifecycle log: off by default; otherwise every move of a job, in order."""

from echomq_worker.domain.outcome import Buried, Completed, HandedBack
from echomq_worker.store import Places, QueueStore, Server, ServerOptions
from echomq_worker.store.line import Line
from tests.support.jobs import A, B, claim, claim_one, enqueue, new_job, settle
from tests.support.look import Look
from tests.support.stores import no_trouble


async def test_the_log_tells_what_happened_to_a_job(server_url: str, queue_name: str, look: Look):
    server = Server(ServerOptions(url=server_url, log_size=1_000))
    queue = server.queue(queue_name)
    line = queue.line(trouble=no_trouble)
    await queue.enqueue([new_job(A, at_ms=1)])
    (job,) = await claim(line, promote=1)
    await settle(line, job, HandedBack())
    await settle(line, await claim_one(line), Buried("no"))
    await queue.requeue([A])
    await claim_one(line)
    await look.expire_lease(A)
    await queue.reap(1)
    await settle(line, await claim_one(line), Completed())
    await queue.enqueue([new_job(B)])
    await queue.remove(B, Places.WAITING)
    events = [(entry.event, entry.id, entry.token) for entry in await queue.log()]
    await line.aclose()
    await server.aclose()

    assert events == [
        ("scheduled", A, 0),
        ("promoted", A, 0),
        ("claimed", A, 1),
        ("returned", A, 1),
        ("claimed", A, 2),
        ("dead", A, 2),
        ("requeued", A, 2),
        ("claimed", A, 3),
        ("recovered", A, 3),
        ("claimed", A, 4),
        ("completed", A, 4),
        ("enqueued", B, 0),
        ("removed", B, 0),
    ]


async def test_without_a_log_size_there_is_no_log(queue: QueueStore, line: Line, look: Look):
    await enqueue(queue, A)
    await settle(line, await claim_one(line), HandedBack())

    assert await look.do("EXISTS", look.keys.log) == 0
