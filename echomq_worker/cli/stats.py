"""`echomq stats`: how the queues are doing, once or again and again."""

import asyncio
import sys
import time
from collections.abc import Sequence
from typing import Any

import click

from echomq_worker.backend import server_options
from echomq_worker.cli.find import find_queues
from echomq_worker.cli.options import json_option, with_session
from echomq_worker.cli.output import Column, say, write_rows
from echomq_worker.cli.session import Session
from echomq_worker.cli.words import age
from echomq_worker.config import Settings
from echomq_worker.domain.duration import parse_duration_ms
from echomq_worker.domain.ids import parse_id
from echomq_worker.domain.views import Counts, ServerInfo
from echomq_worker.errors import InvalidIdError
from echomq_worker.store import QueueStore, Server

SHORTEST_WATCH_MS = 100
HOME_AND_CLEAR = "\x1b[H\x1b[2J"

COLUMNS = [
    Column("QUEUE", "queue"),
    Column("PENDING", "pending", right=True),
    Column("LANES", "lanes", right=True),
    Column("ACTIVE", "active", right=True),
    Column("SCHEDULED", "scheduled", right=True),
    Column("KEPT BACK", "kept_back", right=True),
    Column("DEAD", "dead", right=True),
    Column("OLDEST", "oldest", right=True),
    Column("COMPLETED", "completed", right=True),
    Column("DIED", "died", right=True),
    Column("MALFORMED", "set_aside", right=True),
    Column("WORKERS", "workers", right=True),
    Column("STATE", "state"),
]


@click.command()
@click.argument("queues", nargs=-1, metavar="[QUEUE]...")
@click.option(
    "--watch",
    is_flag=False,
    flag_value="2s",
    metavar="[2s]",
    help="Show it again every so often, until Ctrl-C.",
)
@json_option
@with_session
def stats(session: Session, *, queues: tuple[str, ...], watch: str | None, as_json: bool) -> None:
    """Show how many jobs wait, run and are dead in each QUEUE (all of them if none is named).

    LANES is how many lanes have jobs that may be claimed. KEPT BACK is how many jobs wait aside,
    for a limit, a pause or the holder of their key: `echomq queue limits` says for which. OLDEST is
    how long ago the first of the pending jobs without a priority was enqueued.
    """
    every_ms = None if watch is None else max(SHORTEST_WATCH_MS, parse_duration_ms(watch))
    asyncio.run(_show(session.settings, queues, every_ms, as_json=as_json))


async def _show(
    settings: Settings, queues: Sequence[str], every_ms: int | None, *, as_json: bool
) -> None:
    async with Server(server_options(settings)) as server:
        while True:
            names = await find_queues(server, queues, settings.queues)
            rows = await asyncio.gather(*(_row(server.queue(name)) for name in names))
            info = await server.describe()
            if every_ms is not None and sys.stdout.isatty() and not as_json:
                click.echo(HOME_AND_CLEAR, nl=False)
            write_rows(rows, COLUMNS, as_json=as_json)
            if not as_json:
                say(server_line(info))
            if every_ms is None:
                return
            await asyncio.sleep(every_ms / 1_000)


async def _row(queue: QueueStore) -> dict[str, Any]:
    counts = await queue.counts()
    oldest = await queue.pending_ids(1)
    oldest_ms = None
    if oldest:
        oldest_ms = _since_minted(oldest[0])
    return {
        "queue": queue.name,
        "pending": counts.pending,
        "prioritized": counts.prioritized,
        "lanes": counts.lanes,
        "kept_back": counts.kept_back,
        "active": counts.active,
        "scheduled": counts.scheduled,
        "dead": counts.dead,
        "oldest": None if oldest_ms is None else age(oldest_ms),
        "oldest_pending_ms": oldest_ms,
        "completed": counts.completed,
        "died": counts.failed,
        "set_aside": counts.set_aside,
        "workers": counts.workers,
        "paused": counts.paused,
        "state": state_of(counts),
    }


def _since_minted(job_id: str) -> int | None:
    try:
        return max(0, time.time_ns() // 1_000_000 - parse_id(job_id).unix_ms)
    except InvalidIdError:
        return None  # a member that no producer of ours has put there


def state_of(counts: Counts) -> str:
    """Say in a word or two how a queue is."""
    if counts.paused:
        return "paused"
    if counts.workers:
        return "running"
    waits = counts.is_ready or counts.active or counts.kept_back
    return "! no workers" if waits else "idle"


def server_line(info: ServerInfo) -> str:
    """Say in a line which server this is."""
    policy = info.memory_policy or "unknown"
    warning = " (it may drop jobs!)" if info.evicts else ""
    return f"{info.name} {info.version} at {info.location}  policy {policy}{warning}"
