"""`echomq dev`: a worker for somebody who is writing jobs, with a server of its own."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import click

from echomq_worker.cli.options import with_worker_session
from echomq_worker.cli.output import say
from echomq_worker.cli.serve import new_signals, prepare, serve
from echomq_worker.cli.session import Session
from echomq_worker.embedded import EmbeddedServer

ENV_FILE = Path(".env")
DATA_DIR = ".echomq"
DEFAULTS = {"log_level": "debug", "log_format": "console"}


@click.command()
@click.argument("app", required=False)
@with_worker_session()
def dev(session: Session, *, app: str | None) -> int:
    """Run the jobs of APP while you write them.

    Without ECHOMQ_REDIS_URL it starts a server of its own, whose data stays in .echomq/. It reads
    ./.env, logs for people, and tells more than `run` does.
    """
    session.add_flag("app", app)
    if ENV_FILE.is_file():
        session.add_env_file(ENV_FILE)
        say(f"reading settings from {ENV_FILE.absolute()}")
    session.suggest(DEFAULTS)
    signals = new_signals(session.settings)
    application = prepare(session, signals)
    with _server(session):
        return serve(session.settings, application, signals, burst=False, has_url=True)


@contextmanager
def _server(session: Session) -> Generator[None]:
    if session.loaded.given("redis_url"):
        yield
        return
    settings = session.settings
    directory = Path(settings.embedded_dir or Path(settings.app_dir, DATA_DIR))
    with EmbeddedServer(_kept_out_of_git(directory)) as server:
        say(f"server of its own, data in {directory.absolute()}. For other commands:")
        say(f"  export ECHOMQ_REDIS_URL='{server.url}'")
        session.suggest({"redis_url": server.url})
        yield


def _kept_out_of_git(directory: Path) -> Path:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    ignore = directory / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n")
    return directory
