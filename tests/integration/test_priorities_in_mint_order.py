"""A queue whose jobs of one priority run in mint order instead of by arrival."""

from echomq_worker.domain.outcome import HandedBack
from echomq_worker.domain.priority import TIER
from echomq_worker.store import (
    Order,
    QueueStore,
)
from echomq_worker.store.line import Line
from tests.support.jobs import (
    A,
    B,
    C,
    E,
    F,
    claim,
    claim_one,
    job_id,
    settle,
)
from tests.support.look import Look
from tests.support.ranked import ids, prioritized, ranked


async def test_a_queue_can_have_its_tiers_in_mint_order(queue: QueueStore, line: Line, look: Look):
    assert await queue.order() is Order.ARRIVAL
    await queue.enqueue([ranked(C, 7), ranked(F, -7)])

    await queue.put_order(Order.MINT)

    assert await queue.order() is Order.MINT
    await queue.enqueue([ranked(B, 7), ranked(A, 7), ranked(E, -7)])
    assert set((await prioritized(look)).values()) == {7 * TIER, -7 * TIER}
    assert ids(await claim(line, 9)) == [E, F, A, B, C]


async def test_one_that_had_a_number_before_is_in_mint_order_when_it_comes_back(
    queue: QueueStore, line: Line
):
    await queue.enqueue([ranked(A, 7)])
    held = await claim_one(line)
    await queue.put_order(Order.MINT)
    await queue.enqueue([ranked(B, 7)])

    await settle(line, held, HandedBack())

    assert ids(await claim(line, 9)) == [A, B]


async def test_a_queue_that_goes_back_to_arrivals_serves_those_first_who_were_there(
    queue: QueueStore, line: Line
):
    await queue.put_order(Order.MINT)
    await queue.enqueue([ranked(C, 7), ranked(B, 7)])

    await queue.put_order(Order.ARRIVAL)

    await queue.enqueue([ranked(F, 7), ranked(A, 7)])
    assert await queue.order() is Order.ARRIVAL
    assert ids(await claim(line, 9)) == [B, C, F, A]


async def test_many_that_wait_are_put_in_mint_order(queue: QueueStore, line: Line):
    many = [job_id(number) for number in range(2_500)]
    await queue.enqueue([ranked(id_, 1) for id_ in reversed(many)])

    await queue.put_order(Order.MINT)

    assert ids(await claim(line, 1_000)) == many[:1_000]


async def test_an_unusable_row_does_not_stop_the_order(queue: QueueStore, line: Line, look: Look):
    await queue.enqueue([ranked(B, 1), ranked(A, 1), ranked(C, 1)])
    await look.do("DEL", look.keys.job(C))
    await look.do("SET", look.keys.job(C), "foreign")

    await queue.put_order(Order.MINT)

    assert ids(await claim(line, 9)) == [A, B]
