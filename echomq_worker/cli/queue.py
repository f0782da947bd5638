"""`echomq queue`: which queues there are; stop handing out the jobs of one, and go on."""

import asyncio
import time
from typing import Any

import click

from echomq_worker.cli.ask import ask
from echomq_worker.cli.exit_codes import CommandError, ExitCode
from echomq_worker.cli.find import find_queues
from echomq_worker.cli.myself import myself
from echomq_worker.cli.options import json_option, with_session
from echomq_worker.cli.output import Column, say, write_rows
from echomq_worker.cli.payload import read_arguments
from echomq_worker.cli.queue_emptying import drain, obliterate
from echomq_worker.cli.queue_inspect import inspect
from echomq_worker.cli.queue_limits import limit, limits
from echomq_worker.cli.queue_order import order
from echomq_worker.cli.session import Session
from echomq_worker.cli.stats import state_of
from echomq_worker.cli.words import moment, rfc3339
from echomq_worker.domain.duration import parse_duration_ms
from echomq_worker.domain.gates import QUEUE, scope_of
from echomq_worker.domain.struck import argument_scope
from echomq_worker.domain.views import PauseNote
from echomq_worker.store import QueueStore, Server

COLUMNS = [
    Column("QUEUE", "queue"),
    Column("STATE", "state"),
    Column("MALFORMED", "set_aside", right=True),
    Column("SINCE", "since"),
    Column("BY", "by"),
    Column("REASON", "reason"),
]
CHANGED = [Column("QUEUE", "queue"), Column("STATE", "state")]


@click.group()
def queue() -> None:
    """List queues; pause and resume them, and limit how much of their work may happen."""


queue.add_command(limits)
queue.add_command(inspect)
queue.add_command(drain)
queue.add_command(obliterate)
queue.add_command(limit)
queue.add_command(order)


@queue.command("list")
@json_option
@with_session
def list_(session: Session, *, as_json: bool) -> None:
    """Show the queues of the server and of the settings."""

    async def look(server: Server) -> list[dict[str, Any]]:
        names = await find_queues(server, (), session.settings.queues)
        return await asyncio.gather(*(_row(server.queue(name)) for name in names))

    write_rows(ask(session, look), COLUMNS, as_json=as_json, empty="there are no queues")


@queue.command()
@click.argument("queues", nargs=-1, required=True, metavar="QUEUE...")
@click.option("--reason", default="", metavar="TEXT", help="Why, for those who wonder later.")
@click.option("--name", metavar="HANDLER", help="Only the jobs of one handler.")
@click.option("--key", metavar="VALUE", help="With --name: only those of a value of its limit.")
@click.option("--where", multiple=True, metavar="ARG=TEXT", help="With --name: of such arguments.")
@click.option("--for", "duration", metavar="30s", help="Go on by itself after so long.")
@json_option
@with_session
def pause(  # noqa: PLR0913 - an option each
    session: Session,
    *,
    queues: tuple[str, ...],
    reason: str,
    name: str | None,
    key: str | None,
    where: tuple[str, ...],
    duration: str | None,
    as_json: bool,
) -> None:
    """Stop handing out the jobs of QUEUE. Running ones go on, and jobs are still taken in."""
    by = myself()
    scope = _scope(name, key, where)
    for_ms = None if duration is None else parse_duration_ms(duration)

    async def stop(server: Server) -> None:
        for each in await find_queues(server, queues, session.settings.queues):
            store = server.queue(each)
            if scope == QUEUE and for_ms is None:
                await store.pause(reason=reason, by=by)
            else:
                await store.gates.strike(scope, for_ms=for_ms, reason=reason, by=by)

    ask(session, stop)
    _report(queues, "paused", as_json=as_json)


@queue.command()
@click.argument("queues", nargs=-1, required=True, metavar="QUEUE...")
@click.option("--name", metavar="HANDLER", help="Only the jobs of one handler.")
@click.option("--key", metavar="VALUE", help="With --name: only those of a value of its limit.")
@click.option("--where", multiple=True, metavar="ARG=TEXT", help="With --name: of such arguments.")
@json_option
@with_session
def resume(  # noqa: PLR0913 - an option each
    session: Session,
    *,
    queues: tuple[str, ...],
    name: str | None,
    key: str | None,
    where: tuple[str, ...],
    as_json: bool,
) -> None:
    """Hand out the jobs of QUEUE again."""
    scope = _scope(name, key, where)

    async def go_on(server: Server) -> None:
        for each in await find_queues(server, queues, session.settings.queues):
            store = server.queue(each)
            await store.gates.lift(scope)
            if scope == QUEUE:
                await store.resume()

    ask(session, go_on)
    _report(queues, "running", as_json=as_json)


def _scope(name: str | None, key: str | None, where: tuple[str, ...]) -> str:
    if not where:
        return scope_of(name=name, key=key)
    if name is None or key is not None:
        msg = "--where is given without --name, or with --key: expected the handler's name with it"
        raise CommandError(msg, ExitCode.USAGE)
    return argument_scope(name, read_arguments(where, None))


async def _row(store: QueueStore) -> dict[str, Any]:
    counts = await store.counts()
    note = await store.pause_note() or PauseNote(None, None, None)
    now_ms = time.time_ns() // 1_000_000
    return {
        "queue": store.name,
        "state": state_of(counts),
        "set_aside": counts.set_aside,
        "since": None if note.since_ms is None else moment(note.since_ms, now_ms),
        "paused_at": rfc3339(note.since_ms),
        "by": note.by,
        "reason": note.reason,
    }


def _report(queues: tuple[str, ...], state: str, *, as_json: bool) -> None:
    if as_json:
        write_rows([{"queue": name, "state": state} for name in queues], CHANGED, as_json=True)
    else:
        say(f"{state}: {', '.join(queues)}")
