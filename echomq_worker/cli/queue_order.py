"""`echomq queue order`: what decides among the jobs of one priority."""

import click

from echomq_worker.cli.ask import ask
from echomq_worker.cli.find import find_queues
from echomq_worker.cli.options import json_option, with_session
from echomq_worker.cli.output import say, write_json
from echomq_worker.cli.session import Session
from echomq_worker.domain.views import Order
from echomq_worker.store import Server

_MEANING = {
    Order.ARRIVAL: "those that came to wait first run first",
    Order.MINT: "those that were made first run first",
}


@click.command()
@click.argument("queue")
@click.argument(
    "wanted",
    required=False,
    metavar="[arrival|mint]",
    type=click.Choice([each.value for each in Order]),
)
@json_option
@with_session
def order(session: Session, *, queue: str, wanted: str | None, as_json: bool) -> None:
    """Say, or show, what decides among jobs of QUEUE that have the same priority.

    With `arrival`, the default, that is who came to wait first; with `mint`, whose id is older.
    Jobs that wait already are put in that order. Jobs without a priority are always in mint order.
    """

    async def put(server: Server) -> Order:
        (name,) = await find_queues(server, [queue], session.settings.queues)
        store = server.queue(name)
        if wanted is not None:
            await store.put_order(Order(wanted))
        return await store.order()

    found = ask(session, put)
    if as_json:
        write_json({"queue": queue, "order": found.value})
    else:
        say(f"queue {queue}: among jobs of one priority, {_MEANING[found]} ({found.value})")
