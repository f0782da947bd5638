"""`echomq demo`: real jobs over the files of a folder, and an account of them that adds up."""

import asyncio
import os
import random
import secrets
import signal
import sys
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import click

import echomq_worker
from echomq_worker.backend import server_options
from echomq_worker.cli.exit_codes import CommandError, ExitCode
from echomq_worker.cli.options import json_option, with_session
from echomq_worker.cli.output import say, write_json
from echomq_worker.cli.session import Session
from echomq_worker.cli.words import count_of
from echomq_worker.config import Loaded
from echomq_worker.config.declare import Group
from echomq_worker.config.export import environment_of
from echomq_worker.config.settings import declarations
from echomq_worker.demo.account import account, account_for_programs
from echomq_worker.demo.audit import Summary
from echomq_worker.demo.files import find_files
from echomq_worker.demo.plan import Plan, make_plan
from echomq_worker.demo.screen import Screen
from echomq_worker.demo.show import Show, log_size
from echomq_worker.demo.workers import Workers
from echomq_worker.domain.duration import parse_duration_ms
from echomq_worker.embedded import EmbeddedServer
from echomq_worker.store import Server
from echomq_worker.wiring import check_policy

MOST_FILES = 10_000
"""As many results as a queue keeps."""
WORKER_SETTINGS = {
    # A killed worker's jobs are taken back after so long.
    "ECHOMQ_LEASE": "2s",
    "ECHOMQ_SHUTDOWN_TIMEOUT": "5s",
    "ECHOMQ_LOG_FORMAT": "json",
    "ECHOMQ_LOG_LEVEL": "warning",
}


@click.command()
@click.argument("folder", required=False, metavar="[DIR]")
@click.option(
    "--limit",
    type=click.IntRange(1, MOST_FILES),
    default=MOST_FILES,
    show_default=True,
    help="Index at most so many files.",
)
@click.option(
    "--delayed",
    "share",
    type=click.FloatRange(0, 1),
    default=0.2,
    show_default=True,
    help="The share of files that wait first.",
)
@click.option(
    "--longest-delay",
    metavar="3s",
    default="3s",
    show_default=True,
    help="How long they wait at most.",
)
@click.option(
    "--workers",
    "crew",
    type=click.IntRange(1, 16),
    default=1,
    show_default=True,
    help="How many workers to run.",
)
@click.option("--kill", is_flag=True, help="Kill a worker (kill -9) on the way.")
@json_option
@with_session
def demo(  # noqa: PLR0913 - an option each
    session: Session,
    *,
    folder: str | None,
    limit: int,
    share: float,
    longest_delay: str,
    crew: int,
    kill: bool,
    as_json: bool,
) -> int:
    """Index the files of DIR (the package's own sources if none is named), one job for each.

    It starts a server of its own (unless ECHOMQ_REDIS_URL names one), a real worker, and a job
    for each file. Some wait first; one more job fails twice and then works, and one never does.
    What became of them is read from Redis, and added up: the exit code is 1 if it does not add up.
    """
    root = Path(folder or Path(echomq_worker.__file__).parent)
    files = _files(root, limit)
    plan = make_plan(
        files, random.SystemRandom(), share=share, longest_ms=parse_duration_ms(longest_delay)
    )
    say(f"indexing {count_of(len(files), 'file')} of {root}, {len(plan.delayed)} of them delayed")
    with _server(session), tempfile.TemporaryDirectory(prefix="echomq-demo-") as scratch:
        performance = _Performance(session, plan, crew, kill, Path(scratch))
        summary = asyncio.run(performance.give(as_json=as_json))
    return ExitCode.FAILED if summary.problems else ExitCode.OK


def _files(root: Path, limit: int) -> list[Path]:
    if not root.is_dir():
        told = "is no directory" if root.exists() else "does not exist"
        msg = f"{root} {told}: expected a directory with files to index"
        raise CommandError(msg, ExitCode.NOT_FOUND)
    if files := find_files(root, limit):
        return files
    msg = f"there are no files in {root}"
    raise CommandError(msg, ExitCode.NOT_FOUND)


@contextmanager
def _server(session: Session) -> Generator[None]:
    if session.loaded.given("redis_url"):
        yield
        return
    with EmbeddedServer() as server:
        session.suggest({"redis_url": server.url})
        yield


@dataclass(frozen=True, slots=True)
class _Performance:
    session: Session
    plan: Plan
    crew: int
    kill: bool
    scratch: Path

    async def give(self, *, as_json: bool) -> Summary:
        # Being told to stop is taken as Ctrl-C is: nothing is left behind.
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, signal.raise_signal, signal.SIGINT)
        queue_name = f"demo-{secrets.token_hex(4)}"
        events = log_size(len(self.plan.errands))
        options = replace(server_options(self.session.settings), log_size=events)
        workers = Workers(self._environment(queue_name, events), self.scratch)
        async with Server(options) as server:
            info = await server.describe()
            check_policy(info, allowed=self.session.settings.allow_eviction)
            summary = await Show(
                server=server,
                queue_name=queue_name,
                plan=self.plan,
                workers=workers,
                crew=self.crew,
                kill=self.kill,
                screen=Screen(sys.stderr, bar=sys.stderr.isatty()),
            ).run()
        told = {"workers": workers.started, "killed": workers.killed}
        where = f"{info.name} {info.version}"
        if as_json:
            write_json(account_for_programs(summary, where, **told))
        else:
            click.echo("\n".join(account(summary, where, **told)))
        return summary

    def _environment(self, queue_name: str, events: int) -> dict[str, str]:
        decided = {
            "ECHOMQ_QUEUES": queue_name,
            "ECHOMQ_LOG_EVENTS": str(events),
            "ECHOMQ_HEALTH_FILE": str(self.scratch / "health.json"),
            "ECHOMQ_APP_DIR": str(self.scratch),
        }
        return worker_environment(self.session.loaded, os.environ) | decided


def worker_environment(loaded: Loaded, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the workers: of all settings given, it holds the server's only.

    What is set for other workers could change what becomes of the jobs here.
    """
    environment = environment_of(loaded, environ, {})
    for declaration in declarations().values():
        if declaration.group is not Group.SERVER:
            environment.pop(declaration.variable, None)
    return environment | WORKER_SETTINGS
