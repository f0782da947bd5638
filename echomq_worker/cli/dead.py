"""`echomq dead`: look at the dead jobs, give them another chance, or remove them."""

import sys
import time
from collections.abc import Callable
from typing import Any

import click

from echomq_worker.cli.ask import ask
from echomq_worker.cli.dead_jobs import DONE, Choice, Outcome, choose, remove_all, requeue_all
from echomq_worker.cli.exit_codes import CommandError, ExitCode
from echomq_worker.cli.find import find_queues
from echomq_worker.cli.options import json_option, queue_option, with_session
from echomq_worker.cli.output import Column, say, write_json, write_rows
from echomq_worker.cli.session import Session
from echomq_worker.cli.words import count_of, moment, rfc3339
from echomq_worker.domain.ids import parse_id
from echomq_worker.domain.job import JobId
from echomq_worker.domain.redaction import Redactor
from echomq_worker.domain.views import JobView
from echomq_worker.store import Server

COLUMNS = [
    Column("ID", "id"),
    Column("QUEUE", "queue"),
    Column("NAME", "name"),
    Column("DIED", "died"),
    Column("ATTEMPTS", "attempts", right=True),
    Column("ERROR", "error"),
]
STDIN = "-"


@click.group()
def dead() -> None:
    """Jobs that failed for good."""


@dead.command("list")
@queue_option(default=None, doc="Only this queue; else all of them.")
@click.option(
    "--limit",
    default=20,
    show_default=True,
    type=click.IntRange(1, 10_000),
    help="So many a queue.",
)
@click.option("--ids", "only_ids", is_flag=True, help="Print nothing but ids, for `requeue -`.")
@json_option
@with_session
def list_(
    session: Session, *, queue: str | None, limit: int, only_ids: bool, as_json: bool
) -> None:
    """Show dead jobs, the latest enqueued first."""

    async def look(server: Server) -> tuple[list[JobView], int]:
        views: list[JobView] = []
        total = 0
        for name in await find_queues(server, [queue] if queue else [], session.settings.queues):
            total += (await server.queue(name).counts()).dead
            views += await server.queue(name).dead(limit)
        return views, total

    views, total = ask(session, look)
    if only_ids:
        click.echo("".join(f"{view.id}\n" for view in views), nl=False)
        return
    now_ms = time.time_ns() // 1_000_000
    redactor = session.redactor
    write_rows(
        [_row(view, now_ms, redactor) for view in views],
        COLUMNS,
        as_json=as_json,
        empty="no dead jobs",
    )
    if total > len(views) and not as_json:
        say(f"... {total - len(views)} more (--limit)")


def _which(function: Callable[..., int]) -> Callable[..., int]:
    """Add what says which dead jobs are meant."""
    for add in (
        json_option,
        click.option("--dry-run", is_flag=True, help="Only say which."),
        click.option("--all", "everything", is_flag=True, help="All that are dead now."),
        queue_option(default=None, doc="Where they are; else every queue is looked into."),
        click.argument("ids", nargs=-1, metavar="[ID | -]..."),
    ):
        function = add(function)
    return function


@dead.command()
@_which
@with_session
def requeue(  # noqa: PLR0913 - an option each
    session: Session,
    *,
    ids: tuple[str, ...],
    queue: str | None,
    everything: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Bring dead jobs back, each with all its attempts before it again.

    `echomq dead list --ids | echomq dead requeue -` brings back those that were listed.
    """
    wanted = _wanted(ids, everything=everything)

    async def bring_back(server: Server) -> list[Outcome] | Choice:
        choice = await choose(server, wanted, queue, session.settings.queues)
        return choice if dry_run else await requeue_all(server, choice)

    return _report("requeued", ask(session, bring_back), as_json=as_json)


@dead.command()
@_which
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@with_session
def remove(  # noqa: PLR0913 - an option each
    session: Session,
    *,
    ids: tuple[str, ...],
    queue: str | None,
    everything: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """Remove dead jobs for good, with their payloads and errors."""
    wanted = _wanted(ids, everything=everything)

    async def take_away(server: Server) -> list[Outcome] | Choice:
        choice = await choose(server, wanted, queue, session.settings.queues)
        if dry_run:
            return choice
        if choice.count and not yes:
            _ask_back(f"Remove {count_of(choice.count, 'dead job')} for good?")
        return await remove_all(server, choice)

    return _report("removed", ask(session, take_away), as_json=as_json)


def _row(view: JobView, now_ms: int, redactor: Redactor) -> dict[str, Any]:
    limit = "" if view.max_attempts is None else f"/{view.max_attempts}"
    return {
        "id": view.id,
        "queue": view.queue,
        "name": view.name,
        "died": moment(view.died_ms, now_ms),
        "died_at": rfc3339(view.died_ms),
        "attempts": f"{view.attempts}{limit}",
        "error": None if view.last_error is None else redactor.text(view.last_error),
    }


def _wanted(ids: tuple[str, ...], *, everything: bool) -> list[JobId] | None:
    if everything == bool(ids):
        msg = "expected either ids (- reads them from standard input) or --all"
        raise click.UsageError(msg)
    if everything:
        return None
    words: list[str] = []
    for word in ids:
        words += (
            [line.split()[0] for line in sys.stdin if line.strip()] if word == STDIN else [word]
        )
    return [JobId(parse_id(word).text) for word in words]


def asks_on_terminal() -> bool:
    """Return whether there is somebody to answer a question."""
    return sys.stdin.isatty()


def _ask_back(question: str) -> None:
    if not asks_on_terminal():
        msg = f"{question} There is no terminal to ask on"
        raise CommandError(
            msg, ExitCode.REFUSED, hint="say --yes to go on, --dry-run to look first"
        )
    click.confirm(question, abort=True, err=True)


def _report(done: str, found: list[Outcome] | Choice, *, as_json: bool) -> int:
    if isinstance(found, Choice):
        return _foretell(f"would be {done}", found, as_json=as_json)
    for outcome in found:
        if as_json:
            write_json({"id": outcome.id, "queue": outcome.queue, "outcome": outcome.outcome})
        elif outcome.outcome != DONE:
            say(f"{outcome.id}: {outcome.outcome.replace('_', ' ')}")
    good = sum(outcome.outcome == DONE for outcome in found)
    if not as_json:
        say(f"{good} of {count_of(len(found), 'job')} {done}")
    if good == len(found):
        return ExitCode.OK
    return ExitCode.PARTLY if good else ExitCode.NOT_FOUND


def _foretell(word: str, choice: Choice, *, as_json: bool) -> int:
    rows = [
        {"id": job_id, "queue": picked.queue, "outcome": word}
        for picked in choice.picked
        for job_id in picked.ids
    ]
    columns = [Column("ID", "id"), Column("QUEUE", "queue"), Column("OUTCOME", "outcome")]
    write_rows(rows, columns, as_json=as_json)
    if not as_json:
        say(f"{count_of(choice.count, 'job')} {word}; nothing was changed")
    if not choice.strangers:
        return ExitCode.OK
    for job_id in choice.strangers:
        say(f"{job_id}: not dead")
    return ExitCode.PARTLY if rows else ExitCode.NOT_FOUND
