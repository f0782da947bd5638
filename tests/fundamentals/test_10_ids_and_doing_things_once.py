"""Every job has an id, which tells when it was made and sorts by that. A job may run twice if a
worker dies at a bad moment, so handlers should bear it; an id of your choice makes enqueueing safe
to repeat, and a key keeps a second job out while the first is there.
"""

import time

from echomq_worker import INJECTED, EchoMQ, JobContext
from echomq_worker.domain.ids import parse_id
from tests.fundamentals.conftest import Work


async def test_ids_sort_by_when_they_were_made(app: EchoMQ):
    @app.job("note")
    async def note() -> None: ...

    handles = [await note.enqueue() for _ in range(3)]

    ids = [handle.id for handle in handles]
    assert ids == sorted(ids)
    assert len(ids[0]) == 14
    assert abs(parse_id(ids[0]).unix_ms - time.time() * 1_000) < 60_000


async def test_enqueueing_again_with_the_same_id_changes_nothing(app: EchoMQ, work: Work):
    sent: list[str] = []

    @app.job("invoice.send")
    async def send(to: str) -> None:
        sent.append(to)

    job_id = app.new_job_id()  # store it with the order, then enqueue as often as you like
    first = await send.options(job_id=job_id).enqueue("ada@example.com")
    second = await send.options(job_id=job_id).enqueue("ada@example.com")
    await work()

    assert (first.created, second.created) == (True, False)
    assert sent == ["ada@example.com"]


async def test_a_key_lets_no_second_job_in_until_the_first_has_ended(app: EchoMQ, work: Work):
    shipped: list[int] = []

    def ship_key(order: int) -> str:
        return f"ship:{order}"

    @app.job("order.ship", key=ship_key)
    async def ship(order: int) -> None:
        shipped.append(order)

    first, again, other = [await ship.enqueue(order) for order in (42, 42, 43)]
    await work()
    later = await ship.enqueue(42)

    assert (again.id, again.created, again.admission) == (first.id, False, "held")
    assert other.created
    assert later.created  # the first one has ended: its key was free
    assert shipped == [42, 43]


async def test_the_id_stays_the_same_over_all_attempts_so_that_it_can_mark_what_was_done(
    app: EchoMQ, work: Work
):
    charged: dict[str, int] = {}  # by the job that did it: a unique column, say
    failures = iter([True, False])

    @app.job("card.charge", backoff="0s")
    async def charge(amount: int, context: JobContext = INJECTED) -> None:
        charged.setdefault(context.id, amount)
        if next(failures):
            raise OSError  # after the money has gone

    handle = await charge.enqueue(100)
    stats = await work()

    assert (stats.retried, stats.completed) == (1, 1)
    assert charged == {handle.id: 100}
