"""`echomq run`: a worker."""

import click

from echomq_worker.cli.options import json_option, with_worker_session
from echomq_worker.cli.serve import new_signals, prepare, serve, show_only
from echomq_worker.cli.session import Session


@click.command()
@click.argument("app", required=False)
@click.option("--burst", is_flag=True, help="Stop when nothing is ready and nothing runs.")
@click.option("--dry-run", is_flag=True, help="Import APP, say what would run, and stop.")
@json_option
@with_worker_session()
def run(session: Session, *, app: str | None, burst: bool, dry_run: bool, as_json: bool) -> int:
    """Run the jobs of APP, named as module:attribute (or by ECHOMQ_APP), until told to stop.

    SIGTERM and Ctrl-C let running jobs finish; a second Ctrl-C, or SIGQUIT, cancels them and
    hands them back.
    """
    if as_json and not dry_run:
        msg = "--json goes with --dry-run; a worker logs JSON with --log-format json"
        raise click.UsageError(msg)
    session.add_flag("app", app)
    signals = new_signals(session.settings)
    application = prepare(session, signals)
    if dry_run:
        return show_only(session.settings, application, as_json=as_json)
    return serve(
        session.settings,
        application,
        signals,
        burst=burst,
        has_url=session.loaded.given("redis_url"),
    )
