"""`echomq lane`: look at the lanes of a queue, stop and bound them, and empty one."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import click

from echomq_worker.cli.ask import ask
from echomq_worker.cli.ask_back import ask_back
from echomq_worker.cli.exit_codes import CommandError, ExitCode
from echomq_worker.cli.find import find_queues
from echomq_worker.cli.lane_views import lane_lines, lane_record, lane_row
from echomq_worker.cli.myself import myself
from echomq_worker.cli.options import json_option, queue_option, with_session
from echomq_worker.cli.output import Column, say, write_json, write_pairs, write_rows
from echomq_worker.cli.session import Session
from echomq_worker.cli.words import count_of
from echomq_worker.domain.gates import parse_rate
from echomq_worker.domain.ids import parse_id
from echomq_worker.domain.job import JobId
from echomq_worker.domain.lanes import OnFull, Reassigned, check_lane_name
from echomq_worker.store import Server
from echomq_worker.store.lanes import LaneStore

T = TypeVar("T")

COLUMNS = [
    Column("LANE", "name"),
    Column("QUEUE", "queue"),
    Column("WAITING", "waiting", right=True),
    Column("ACTIVE", "active", right=True),
    Column("LIMIT", "limit", right=True),
    Column("WEIGHT", "weight", right=True),
    Column("MAX", "maximum", right=True),
    Column("STATE", "told"),
]
USUAL_LIMIT = 100
_REFUSED = {
    Reassigned.NOT_FOUND: ("there is no job {job} in queue {queue}", ExitCode.NOT_FOUND),
    Reassigned.NOT_PENDING: (
        "job {job} of queue {queue} does not wait: it runs, is due later, or is dead",
        ExitCode.REFUSED,
    ),
}


def _named(_context: click.Context, _parameter: click.Parameter, name: str) -> str:
    return check_lane_name(name)


def _number(_context: click.Context, _parameter: click.Parameter, text: str) -> int | None:
    if text == "none":
        return None
    if not re.fullmatch(r"[0-9]{1,12}", text):
        msg = f"{text!r} is no number: expected a whole number from 1, or none"
        raise click.BadParameter(msg)
    return int(text)


_lane = click.argument("lane", callback=_named)
_most = click.argument("number", metavar="NUMBER|none", callback=_number)
_where = queue_option()


@click.group()
def lane() -> None:
    """Lanes: each tenant's own line in a queue, served in rotation."""


@lane.command("list")
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
    """Show lanes that have jobs, that something is set for, or whose name is known."""

    async def look(server: Server) -> list[tuple[str, Any]]:
        names = await find_queues(server, [queue] if queue else [], session.settings.queues)
        pages = await asyncio.gather(*(server.queue(name).lanes.list(limit + 1) for name in names))
        return list(zip(names, pages, strict=True))

    found = ask(session, look)
    as_row = lane_record if as_json else lane_row
    rows = [as_row(name, view) for name, views in found for view in views[:limit]]
    write_rows(rows, COLUMNS, as_json=as_json, empty="there are no lanes")
    if any(len(views) > limit for _, views in found):
        say("... and more (--limit)")


@lane.command()
@_lane
@_where
@json_option
@with_session
def inspect(session: Session, *, lane: str, queue: str, as_json: bool) -> None:
    """Show all that is known of LANE."""
    view = _asked(session, queue, lambda lanes: lanes.inspect(lane))
    now_ms = time.time_ns() // 1_000_000
    record = lane_record(queue, view) if as_json else lane_lines(queue, view, now_ms)
    write_pairs(record, as_json=as_json)


@lane.command()
@_lane
@click.option("--reason", default="", metavar="TEXT", help="Why, for those who wonder later.")
@_where
@json_option
@with_session
def pause(session: Session, *, lane: str, reason: str, queue: str, as_json: bool) -> None:
    """Start no more jobs of LANE. Running ones go on, and jobs are still taken in."""
    by = myself()
    _asked(session, queue, lambda lanes: lanes.pause(lane, reason=reason, by=by))
    _report(lane, queue, "paused", as_json=as_json)


@lane.command()
@_lane
@_where
@json_option
@with_session
def resume(session: Session, *, lane: str, queue: str, as_json: bool) -> None:
    """Start jobs of LANE again."""
    was_paused = _asked(session, queue, lambda lanes: lanes.resume(lane))
    _report(lane, queue, "resumed" if was_paused else "not paused", as_json=as_json)


@lane.command()
@_lane
@_most
@_where
@json_option
@with_session
def limit(session: Session, *, lane: str, number: int | None, queue: str, as_json: bool) -> None:
    """Let at most NUMBER jobs of LANE be active at once, on all workers together."""
    _asked(session, queue, lambda lanes: lanes.limit(lane, number))
    _report(lane, queue, "limited", limit=number, as_json=as_json)


@lane.command()
@_lane
@_most
@_where
@json_option
@with_session
def weight(session: Session, *, lane: str, number: int | None, queue: str, as_json: bool) -> None:
    """Let NUMBER jobs of LANE be served whenever it is its turn; none means one."""
    _asked(session, queue, lambda lanes: lanes.weight(lane, number))
    _report(lane, queue, "weighted", weight=number or 1, as_json=as_json)


@lane.command()
@_lane
@click.argument("rate", metavar="RATE|none")
@click.option("--burst", type=int, help="So many may start at once after a rest.")
@click.option("--sliding", is_flag=True, help="Count in a sliding window instead.")
@_where
@json_option
@with_session
def rate(  # noqa: PLR0913 - an option each
    session: Session,
    *,
    lane: str,
    rate: str,
    burst: int | None,
    sliding: bool,
    queue: str,
    as_json: bool,
) -> None:
    """Let jobs of LANE start so often, on all workers together: RATE is such as 50/s or 5/10s."""
    read = None if rate == "none" else parse_rate(rate, burst=burst, sliding=sliding)
    _asked(session, queue, lambda lanes: lanes.rate(lane, read))
    _report(lane, queue, "rated", rate=None if read is None else str(read), as_json=as_json)


@lane.command()
@_lane
@click.option("--off", is_flag=True, help="Let it take its turn like any other.")
@_where
@json_option
@with_session
def first(session: Session, *, lane: str, off: bool, queue: str, as_json: bool) -> None:
    """Serve LANE before all that do not go first, as long as it has work."""
    _asked(session, queue, lambda lanes: lanes.first(lane, on=not off))
    _report(lane, queue, "in turn" if off else "first", as_json=as_json)


@lane.command("max")
@_lane
@_most
@click.option(
    "--on-full",
    type=click.Choice([each.value for each in OnFull]),
    default=OnFull.REFUSE.value,
    show_default=True,
    help="What becomes of one job more: it is refused, or the oldest is removed for it.",
)
@_where
@json_option
@with_session
def max_(  # noqa: PLR0913 - an option each
    session: Session, *, lane: str, number: int | None, on_full: str, queue: str, as_json: bool
) -> None:
    """Let at most NUMBER jobs wait in LANE. What waits already stays."""
    _asked(session, queue, lambda lanes: lanes.maximum(lane, number, on_full))
    _report(lane, queue, "bounded", maximum=number, as_json=as_json)


@lane.command()
@click.argument("job")
@_lane
@_where
@json_option
@with_session
def reassign(session: Session, *, job: str, lane: str, queue: str, as_json: bool) -> None:
    """Let the waiting JOB wait in LANE instead of where it is."""
    job_id = JobId(parse_id(job).text)
    became = _asked(session, queue, lambda lanes: lanes.reassign(job_id, lane, flat=True))
    if became in _REFUSED:
        text, code = _REFUSED[became]
        raise CommandError(text.format(job=job, queue=queue), code)
    if as_json:
        write_json({"id": job, "lane": lane, "queue": queue, "outcome": became.value})
    elif became is Reassigned.NOOP:
        say(f"{job} is in lane {lane} already")
    else:
        say(f"reassigned: {job} waits in lane {lane}")


@lane.command()
@_lane
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@_where
@json_option
@with_session
def drain(  # noqa: PLR0913 - an option each
    session: Session, *, lane: str, dry_run: bool, yes: bool, queue: str, as_json: bool
) -> None:
    """Remove for good the jobs that wait in LANE. What runs, is due later or is dead stays."""
    waiting = _asked(session, queue, lambda lanes: lanes.depth(lane))
    if dry_run:
        _report(lane, queue, "would be drained", jobs=waiting, as_json=as_json)
        return
    if waiting and not yes:
        ask_back(f"Remove {count_of(waiting, 'job')} of lane {lane} in queue {queue} for good?")
    removed = _asked(session, queue, lambda lanes: lanes.drain(lane))
    _report(lane, queue, "drained", jobs=removed, as_json=as_json)


def _asked(session: Session, queue: str, question: Callable[[LaneStore], Awaitable[T]]) -> T:
    """Ask about lanes of a queue that must be there."""

    async def asked(server: Server) -> T:
        (name,) = await find_queues(server, [queue], session.settings.queues)
        return await question(server.queue(name).lanes)

    return ask(session, asked)


def _report(
    lane: str, queue: str, outcome: str, *, as_json: bool, **told: int | str | None
) -> None:
    if as_json:
        write_json({"name": lane, "queue": queue, "outcome": outcome, **told})
        return
    numbers = [f"{name} {'none' if number is None else number}" for name, number in told.items()]
    say(f"{outcome}: lane {lane} in queue {queue}{''.join(f', {each}' for each in numbers)}")
