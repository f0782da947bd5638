"""`echomq job`: enqueue a job without importing the application, look at one, and move it."""

import asyncio
import json
import sys
import time
from dataclasses import replace
from typing import Any

import click

from echomq_worker.cli.ask import ask
from echomq_worker.cli.describe import job_lines, job_record, result_lines, result_record
from echomq_worker.cli.enqueue import COMPLETED, UNKNOWN, Sent, send
from echomq_worker.cli.exit_codes import ExitCode
from echomq_worker.cli.find import find_job
from echomq_worker.cli.instants import backoff_from_text, duration_or_instant, instant
from echomq_worker.cli.job_place import move, priority
from echomq_worker.cli.job_times import promote, reschedule
from echomq_worker.cli.options import json_option, queue_option, with_session
from echomq_worker.cli.output import say, write_json, write_pairs
from echomq_worker.cli.payload import read_arguments
from echomq_worker.cli.session import Session
from echomq_worker.client import TimedOptions
from echomq_worker.domain.duration import parse_duration_ms
from echomq_worker.domain.ids import parse_id
from echomq_worker.domain.job import JobId
from echomq_worker.domain.views import JobView
from echomq_worker.store import Server


@click.group()
def job() -> None:
    """Enqueue jobs, look at one, and let one run earlier or later, or wait elsewhere."""


job.add_command(reschedule)
job.add_command(promote)
job.add_command(priority)
job.add_command(move)


@job.command()
@click.argument("name")
@click.argument("pairs", nargs=-1, metavar="[KEY=TEXT | KEY:=JSON]...")
@click.option("--args", "json_text", metavar="JSON", help="Arguments as one object; - reads it.")
@queue_option(doc="Where to put it.")
@click.option("--delay", metavar="10m", help="Run it after so long.")
@click.option("--at", metavar="ISO", help="Run it at, say, 2030-01-31T09:00:00+01:00.")
@click.option("--id", "job_id", metavar="ID", help="An id of your own; a second job is not taken.")
@click.option("--max-attempts", type=int, metavar="N", help="How often it may be tried.")
@click.option("--keep-result", metavar="1h", help="Keep what it returns for so long.")
@click.option("--timeout", metavar="30s", help="How long a run may take; 0 for ever.")
@click.option(
    "--backoff", metavar="1s,10s,1m", help="Waits between attempts, or one; or `exponential`."
)
@click.option(
    "--expires",
    metavar="10m|ISO",
    help="Bury it unrun if no worker has started it so long after it is due, or by an instant.",
)
@click.option("--priority", type=int, metavar="N", help="Lower runs first; 0 is mint order.")
@click.option("--lane", metavar="NAME", help="The lane where it is to wait, such as a tenant.")
@click.option("--wait", metavar="30s", help="Wait for its end; exit 1 if it dies or takes longer.")
@click.option("--fail-on-duplicate", is_flag=True, help="Exit 5 if a job has that id already.")
@json_option
@with_session
def enqueue(  # noqa: PLR0913 - an option each
    session: Session,
    *,
    name: str,
    pairs: tuple[str, ...],
    json_text: str | None,
    at: str | None,
    expires: str | None,
    backoff: str | None,
    wait: str | None,
    fail_on_duplicate: bool,
    as_json: bool,
    **options: Any,  # noqa: ANN401 - of `TimedOptions`, as click gives them
) -> int:
    """Enqueue a job for the handler NAME, and print its id.

    Its arguments are given as KEY=TEXT, or as KEY:=JSON for numbers, lists and the rest:

        echomq job enqueue email.send to=a@b.c copies:=2

    They are checked by the worker that runs it, and so is the name.
    """
    arguments = read_arguments(pairs, sys.stdin.read() if json_text == "-" else json_text)
    timed = TimedOptions(**options)
    timed["at"] = None if at is None else instant("--at", at)
    timed["expires"] = None if expires is None else duration_or_instant("--expires", expires)
    timed["backoff"] = None if backoff is None else backoff_from_text(backoff)
    wait_ms = None if wait is None else parse_duration_ms(wait)
    sent = asyncio.run(send(session.settings, name, arguments, timed, wait_ms))
    _report(replace(sent, error=_hidden(session, sent.error)), as_json=as_json)
    if fail_on_duplicate and not sent.created:
        return ExitCode.REFUSED
    if sent.outcome == UNKNOWN:
        return ExitCode.NOT_FOUND
    return ExitCode.OK if sent.outcome in {None, COMPLETED} else ExitCode.FAILED


@job.command()
@click.argument("job_id", metavar="ID")
@queue_option(default=None, doc="Where it is; else every queue is looked into.")
@click.option(
    "--raw", is_flag=True, help="Show payload and errors with whatever secrets are in them."
)
@json_option
@with_session
def inspect(session: Session, *, job_id: str, queue: str | None, raw: bool, as_json: bool) -> None:
    """Show all that is known of the job ID."""
    wanted = JobId(parse_id(job_id).text)
    settings = session.settings
    redactor = None if raw else session.redactor

    async def look(server: Server) -> dict[str, Any]:
        found = await find_job(server, wanted, queue, settings.queues)
        now_ms = time.time_ns() // 1_000_000
        if isinstance(found, JobView):
            record = job_record(found, redactor=redactor)
            return record if as_json else job_lines(found, record, now_ms, redactor=redactor)
        where, kept = found
        record = result_record(wanted, where, kept, redactor=redactor)
        return record if as_json else result_lines(record, kept, now_ms)

    write_pairs(ask(session, look), as_json=as_json)


def _hidden(session: Session, error: str | None) -> str | None:
    return None if error is None else session.redactor.text(error)


def _report(sent: Sent, *, as_json: bool) -> None:
    if as_json:
        record: dict[str, object] = {"id": sent.id, "queue": sent.queue, "created": sent.created}
        if sent.outcome is not None:
            record |= {"outcome": sent.outcome, "result": sent.result, "error": sent.error}
        write_json(record)
        return
    click.echo(sent.id)
    if not sent.created:
        say(f"queue {sent.queue} has a job with this id already: nothing was enqueued")
    if sent.outcome == COMPLETED and sent.result is not None:
        click.echo(json.dumps(sent.result, ensure_ascii=False))
    elif sent.outcome is not None:
        say(f"{sent.outcome}{f': {sent.error}' if sent.error else ''}")
