"""`echomq schedule`: look at schedulers, make a job of one now, pause and remove them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import click

from echomq_worker.app import EchoMQ
from echomq_worker.backend import wired_to
from echomq_worker.cli.ask import ask
from echomq_worker.cli.ask_back import ask_back
from echomq_worker.cli.exit_codes import CommandError, ExitCode
from echomq_worker.cli.find import find_queues
from echomq_worker.cli.find_scheduler import Found, find_scheduler
from echomq_worker.cli.myself import myself
from echomq_worker.cli.options import json_option, queue_option, with_session
from echomq_worker.cli.output import Column, say, write_json, write_pairs, write_rows
from echomq_worker.cli.schedule_next import next_
from echomq_worker.cli.schedule_views import (
    repeat_lines,
    repeat_record,
    repeat_row,
    scheduler_lines,
    scheduler_record,
    scheduler_row,
)
from echomq_worker.cli.session import Session
from echomq_worker.cli.words import rfc3339
from echomq_worker.cli.zoned import iso
from echomq_worker.domain.scheduling.foreseen import zone_of
from echomq_worker.domain.scheduling.records import SchedulerState, SchedulerView
from echomq_worker.store import QueueStore, Server
from echomq_worker.store.schedulers import SchedulerStore

COLUMNS = [
    Column("NAME", "name"),
    Column("QUEUE", "queue"),
    Column("RULE", "rule"),
    Column("NEXT", "next"),
    Column("LAST", "last"),
    Column("STATE", "told"),
]
FOR_PEOPLE = ("next", "last", "told")
"""Texts of a row that JSON has as values."""
USUAL_LIMIT = 100
_where = queue_option(default=None, doc="Where it is; else every queue is looked into.")


@click.group()
def schedule() -> None:
    """Schedulers: what is made again and again, and when."""


schedule.add_command(next_)


@schedule.command("list")
@queue_option(default=None, doc="Only this queue; else all of them.")
@click.option(
    "--limit",
    type=click.IntRange(1, 100_000),
    default=USUAL_LIMIT,
    show_default=True,
    help="So many a queue.",
)
@json_option
@with_session
def list_(session: Session, *, queue: str | None, limit: int, as_json: bool) -> None:
    """Show schedulers, and repeating registrations of the base wire, the next to fire first."""

    async def look(server: Server) -> list[tuple[list[dict[str, Any]], int]]:
        names = await find_queues(server, [queue] if queue else [], session.settings.queues)
        return await asyncio.gather(*(_rows(server.queue(name), limit) for name in names))

    found = ask(session, look)
    rows = [row for rows, _ in found for row in rows]
    more = sum(total for _, total in found) - len(rows)
    if as_json:
        rows = [{key: row[key] for key in row if key not in FOR_PEOPLE} for row in rows]
    write_rows(rows, COLUMNS, as_json=as_json, empty="there are no schedulers")
    if more:
        say(f"... {more} more (--limit)")


@schedule.command()
@click.argument("name")
@_where
@click.option("--raw", is_flag=True, help="Show arguments with whatever secrets are in them.")
@json_option
@with_session
def inspect(session: Session, *, name: str, queue: str | None, raw: bool, as_json: bool) -> None:
    """Show all that is known of the scheduler NAME, and its last occurrences."""
    redactor = None if raw else session.redactor

    async def look(server: Server) -> dict[str, Any]:
        found = await find_scheduler(server, name, queue, session.settings.queues)
        now_ms = await server.queue(found.queue).schedulers.now_ms()
        if found.repeat is not None:
            record = repeat_record(found.queue, found.repeat, redactor)
            return record if as_json else repeat_lines(record, found.repeat, now_ms)
        view = found.only_scheduler("inspected")
        record = scheduler_record(found.queue, view, now_ms, redactor)
        return record if as_json else scheduler_lines(record, view, now_ms)

    write_pairs(ask(session, look), as_json=as_json)


@schedule.command()
@click.argument("name")
@_where
@json_option
@with_session
def trigger(session: Session, *, name: str, queue: str | None, as_json: bool) -> None:
    """Make a job of the scheduler NAME now, and print its id. Its own occurrences stay."""
    found = _find(session, name, queue)
    found.only_scheduler("triggered")
    job_id = asyncio.run(_made_now(session, found))
    if as_json:
        write_json({"name": name, "queue": found.queue, "id": job_id})
        return
    click.echo(job_id)
    say(f"triggered: {name} has made a job in queue {found.queue}")


@schedule.command()
@click.argument("name")
@click.option("--reason", default="", metavar="TEXT", help="Why, for those who wonder later.")
@_where
@json_option
@with_session
def pause(session: Session, *, name: str, reason: str, queue: str | None, as_json: bool) -> None:
    """Let the scheduler NAME make no more jobs; what it has made goes on."""
    found = _find(session, name, queue)
    found.only_scheduler("paused")

    async def rest(store: SchedulerStore) -> bool:
        return await store.pause(name, reason=reason, by=myself())

    _report(found, _changed(session, found, rest), "paused", as_json=as_json)


@schedule.command()
@click.argument("name")
@_where
@json_option
@with_session
def resume(session: Session, *, name: str, queue: str | None, as_json: bool) -> None:
    """Let the scheduler NAME make jobs again. What was missed meanwhile is not made up for."""
    found = _find(session, name, queue)
    found.only_scheduler("resumed")

    async def go_on(store: SchedulerStore) -> bool:
        return await store.resume(name)

    _report(found, _changed(session, found, go_on), "resumed", as_json=as_json)


@schedule.command()
@click.argument("name")
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@_where
@json_option
@with_session
def remove(  # noqa: PLR0913 - an option each
    session: Session, *, name: str, dry_run: bool, yes: bool, queue: str | None, as_json: bool
) -> None:
    """Remove the scheduler NAME, or what the base wire repeats under it, with its history.

    The jobs that it has made go on. One that the code declares comes back with the next worker
    that starts: pause it, or take it out of the code.
    """
    found = _find(session, name, queue)
    what = "scheduler" if found.repeat is None else "repeating registration"
    if dry_run:
        _report(found, None, "would be removed", as_json=as_json)
        return
    if not yes:
        ask_back(f"Remove the {what} {name} of queue {found.queue} for good?")

    async def forget(server: Server) -> bool:
        store = server.queue(found.queue)
        kept = store.schedulers.remove if found.repeat is None else store.repeats.cancel
        return await kept(name)

    if not ask(session, forget):
        raise _gone(found)
    _report(found, None, "removed", as_json=as_json)
    if found.scheduler is not None and found.scheduler.source == "code":
        say("the code declares it: the next worker that starts puts it back")


async def _rows(store: QueueStore, limit: int) -> tuple[list[dict[str, Any]], int]:
    """Return the rows of a queue, and how many there are in all."""
    now_ms = await store.schedulers.now_ms()
    views = await store.schedulers.list(limit)
    rows = [scheduler_row(store.name, view, now_ms) for view in views]
    repeats = await store.repeats.list(limit - len(rows))
    rows += [repeat_row(store.name, repeat, now_ms) for repeat in repeats]
    total = len(rows)
    if total == limit:
        total = max(total, await store.schedulers.count() + await store.repeats.count())
    return rows, total


def _find(session: Session, name: str, queue: str | None) -> Found:
    return ask(session, lambda server: find_scheduler(server, name, queue, session.settings.queues))


def _changed(
    session: Session, found: Found, change: Callable[[SchedulerStore], Awaitable[bool]]
) -> SchedulerView:
    async def done(server: Server) -> SchedulerView:
        store = server.queue(found.queue).schedulers
        if await change(store) and (view := await store.get(found.name)) is not None:
            return view
        raise _gone(found)

    return ask(session, done)


async def _made_now(session: Session, found: Found) -> str:
    app = EchoMQ()
    app.use(wired_to(session.settings))
    async with app:
        return (await app.schedulers.trigger(found.name, queue=found.queue)).id


def _report(found: Found, view: SchedulerView | None, word: str, *, as_json: bool) -> None:
    next_ms = None
    if view is not None and view.state is SchedulerState.WAITING:
        next_ms = view.next_ms
    if as_json:
        record = {"name": found.name, "queue": found.queue, "outcome": word}
        write_json(record if view is None else record | {"next_at": rfc3339(next_ms)})
        return
    text = f"{word}: {found.name} in queue {found.queue}"
    if next_ms is not None and view is not None and view.spec is not None:
        text += f"; next {iso(next_ms, zone_of(view.spec.rule))}"
    elif view is not None and view.ended:
        text += f"; it has ended ({view.ended}) and makes no more jobs"
    say(text)


def _gone(found: Found) -> CommandError:
    msg = f"{found.name} is gone from queue {found.queue}: somebody else has removed it"
    return CommandError(msg, ExitCode.NOT_FOUND)
