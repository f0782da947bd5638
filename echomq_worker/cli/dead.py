"""`echomq dead`: look at the dead jobs, give them another chance, or remove them."""

import sys
import time
from collections.abc import Callable
from typing import Any

import click

from echomq_worker.cli.ask import ask
from echomq_worker.cli.ask_back import ask_back
from echomq_worker.cli.dead_jobs import (
    DONE,
    MALFORMED,
    Choice,
    Listing,
    Outcome,
    choose,
    list_dead,
    remove_all,
    requeue_all,
    view_all,
)
from echomq_worker.cli.exit_codes import ExitCode
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
    Column("ATTEMPTS", "tried", right=True),
    Column("ERROR", "error"),
]
STDIN = "-"
USUAL_LIMIT = 20


@click.group()
def dead() -> None:
    """Jobs that failed for good."""


@dead.command("list")
@queue_option(default=None, doc="Only this queue; else all of them.")
@click.option(
    "--limit",
    type=click.IntRange(1, 10_000),
    help=f"So many a queue.  [default: {USUAL_LIMIT}; all of them with --ids]",
)
@click.option("--ids", "only_ids", is_flag=True, help="Print nothing but ids, for `requeue -`.")
@json_option
@with_session
def list_(
    session: Session, *, queue: str | None, limit: int | None, only_ids: bool, as_json: bool
) -> None:
    """Show dead jobs, the latest enqueued first."""
    most = limit or (None if only_ids else USUAL_LIMIT)

    async def look(server: Server) -> tuple[Listing, list[JobView]]:
        listing = await list_dead(server, queue, session.settings.queues, most)
        return listing, [] if only_ids else await view_all(server, listing)

    listing, views = ask(session, look)
    if only_ids:
        ids = [job_id for picked in listing.picked for job_id in picked.ids]
        click.echo("".join(f"{job_id}\n" for job_id in ids), nl=False)
    else:
        now_ms = time.time_ns() // 1_000_000
        rows = [_row(view, now_ms, session.redactor, as_json=as_json) for view in views]
        write_rows(rows, COLUMNS, as_json=as_json, empty="no dead jobs")
    for odd in listing.malformed:
        say(f"queue {odd.queue} has {odd.id!r} among its dead, which can be no job: not shown")
    if listing.more:
        say(f"... {listing.more} more (--limit)")


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

    choice = ask(session, lambda server: choose(server, wanted, queue, session.settings.queues))
    if dry_run:
        return _report("removed", choice, as_json=as_json)
    # Asked while no event loop runs, which would keep Ctrl-C to itself.
    if choice.count and not yes:
        ask_back(f"Remove {count_of(choice.count, 'dead job')} for good?")
    return _report(
        "removed", ask(session, lambda server: remove_all(server, choice)), as_json=as_json
    )


def _row(view: JobView, now_ms: int, redactor: Redactor, *, as_json: bool) -> dict[str, Any]:
    limit = "" if view.max_attempts is None else f"/{view.max_attempts}"
    return ({} if as_json else {"tried": f"{view.attempts}{limit}"}) | {
        "id": view.id,
        "queue": view.queue,
        "name": view.name,
        "died": moment(view.died_ms, now_ms),
        "died_at": rfc3339(view.died_ms),
        "attempts": view.attempts,
        "max_attempts": view.max_attempts,
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
    odd = any(outcome.outcome == MALFORMED for outcome in found)
    return ExitCode.PARTLY if good or odd else ExitCode.NOT_FOUND


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
    for odd in choice.malformed:
        say(f"{odd.id}: malformed id")
    for job_id in choice.strangers:
        say(f"{job_id}: not dead")
    if not choice.strangers and not choice.malformed:
        return ExitCode.OK
    return ExitCode.PARTLY if rows or choice.malformed else ExitCode.NOT_FOUND
