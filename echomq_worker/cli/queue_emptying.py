"""`echomq queue drain` and `echomq queue obliterate`: remove what waits, or a queue as a whole."""

import click

from echomq_worker.cli.ask import ask
from echomq_worker.cli.ask_back import ask_back
from echomq_worker.cli.exit_codes import CommandError, ExitCode
from echomq_worker.cli.options import json_option, with_session
from echomq_worker.cli.output import say, write_json
from echomq_worker.cli.session import Session
from echomq_worker.domain.views import Counts
from echomq_worker.errors import ActiveJobsError, NotPausedError
from echomq_worker.store import Server


@click.command()
@click.argument("queue")
@click.option("--scheduled", is_flag=True, help="Also what is due later, or waits to be retried.")
@click.option("--dry-run", is_flag=True, help="Only tell what would be removed.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
@with_session
def drain(  # noqa: PLR0913 - an option each
    session: Session, *, queue: str, scheduled: bool, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Remove the jobs that wait in QUEUE. Lanes, running and dead jobs stay."""
    counts = _counts(session, queue)
    waiting = counts.pending + (counts.scheduled if scheduled else 0)
    if dry_run:
        _tell(queue, "would remove", waiting, as_json=as_json)
        return
    if not yes:
        ask_back(f"Remove {waiting} jobs of queue {queue} for good?")

    async def remove(server: Server) -> int:
        return await server.queue(queue).operator.drain(scheduled=scheduled)

    _tell(queue, "removed", ask(session, remove), as_json=as_json)


@click.command()
@click.argument("queue")
@click.option("--force", is_flag=True, help="Even if jobs are active.")
@click.option("--dry-run", is_flag=True, help="Only tell what would be removed.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
@with_session
def obliterate(  # noqa: PLR0913 - an option each
    session: Session, *, queue: str, force: bool, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Remove QUEUE with all that belongs to it: jobs, lanes, results, schedulers. Pause it first.

    What is cut short goes on when it is said again; until it is done the queue stays paused.
    """
    counts = _counts(session, queue)
    jobs = counts.pending + counts.active + counts.scheduled + counts.dead
    if dry_run:
        _tell(queue, "would remove the queue and", jobs, as_json=as_json)
        return
    if not yes:
        ask_back(f"Remove queue {queue} with {jobs} jobs and all that belongs to it, for good?")

    async def remove(server: Server) -> None:
        operator = server.queue(queue).operator
        while not await operator.obliterate(force=force):
            pass

    try:
        ask(session, remove)
    except NotPausedError as error:
        hint = f"echomq queue pause {queue}"
        raise CommandError(str(error), ExitCode.REFUSED, hint=hint) from error
    except ActiveJobsError as error:
        raise CommandError(str(error), ExitCode.REFUSED, hint="--force goes on") from error
    _tell(queue, "removed the queue and", jobs, as_json=as_json)


def _counts(session: Session, queue: str) -> Counts:
    return ask(session, lambda server: server.queue(queue).counts())


def _tell(queue: str, what: str, jobs: int, *, as_json: bool) -> None:
    if as_json:
        write_json({"queue": queue, "done": not what.startswith("would"), "jobs": jobs})
    else:
        say(f"{queue}: {what} {jobs} job{'' if jobs == 1 else 's'}")
