"""`echomq schedule next`: the instants of an expression or of a scheduler, and clock changes."""

import time
from collections.abc import Sequence
from datetime import tzinfo
from typing import Any

import click

from echomq_worker.cli.ask import ask
from echomq_worker.cli.find_scheduler import find_scheduler
from echomq_worker.cli.instants import instant
from echomq_worker.cli.options import json_option, queue_option, with_session
from echomq_worker.cli.output import Column, say, write_rows
from echomq_worker.cli.session import Session
from echomq_worker.cli.words import coming, moment
from echomq_worker.cli.zoned import in_zone, iso
from echomq_worker.domain.cron import ClockChange, CronRule, clock_changes, cron_rule
from echomq_worker.domain.instants import unix_ms_of
from echomq_worker.domain.scheduling.foreseen import foreseen, zone_of
from echomq_worker.domain.scheduling.plan import upcoming
from echomq_worker.domain.scheduling.records import SchedulerState, SchedulerView
from echomq_worker.domain.scheduling.rule import Every
from echomq_worker.store import Server

IN_JSON = ("local", "utc", "runs", "clock_change")
LOOK_AHEAD_MS = 400 * 86_400_000
"""So far beyond the shown instants the next clock change is looked for."""
MOST = 1_000
_DAY_MS = 86_400_000
_WAYS = {"gap": "clocks go forward", "overlap": "clocks go back"}


@click.command("next")
@click.argument("what", metavar="'EXPRESSION' | NAME")
@click.option("--tz", metavar="ZONE", help="Time zone of the expression.  [default: UTC]")
@click.option("--dst", type=click.Choice(["cron", "skip"]), help="What it does when clocks change.")
@click.option("-n", "count", type=click.IntRange(1, MOST), default=10, show_default=True)
@click.option("--after", metavar="ISO", help="Look from this time on instead of from now.")
@queue_option(default=None, doc="Where the scheduler is; else every queue is looked into.")
@json_option
@with_session
def next_(  # noqa: PLR0913 - an option each
    session: Session,
    *,
    what: str,
    tz: str | None,
    dst: str | None,
    count: int,
    after: str | None,
    queue: str | None,
    as_json: bool,
) -> None:
    """Show when a cron expression, or a scheduler on the server, fires next.

    What has a space or begins with @ is an expression, and needs no server:

        echomq schedule next '30 2 * * *' --tz Europe/Berlin -n 8

    Anything else is a scheduler's name. Times are planned ones, without jitter.
    """
    now_ms = time.time_ns() // 1_000_000
    from_ms = now_ms if after is None else unix_ms_of(instant("--after", after))
    if is_expression(what):
        if queue is not None:
            msg = "expected no --queue beside an expression: it is on no server"
            raise click.UsageError(msg)
        rule = cron_rule(what, tz=tz or "UTC", dst=dst or "cron")
        instants = upcoming(rule, count, after_ms=from_ms)
    else:
        if tz is not None or dst is not None:
            msg = f"the scheduler {what} has its own zone: expected --tz and --dst only beside an "
            raise click.UsageError(msg + "expression, which has spaces or begins with @")
        rule, instants, now_ms = _stored(session, what, queue, count, from_ms if after else None)
        from_ms = from_ms if after else now_ms
    _show(rule, instants, from_ms, now_ms, as_json=as_json)


def is_expression(what: str) -> bool:
    """Return whether a text is a cron expression, rather than the name of a scheduler."""
    return what.startswith("@") or " " in what.strip()


def _stored(
    session: Session, name: str, queue: str | None, count: int, from_ms: int | None
) -> tuple[CronRule | Every, list[int], int]:
    async def look(server: Server) -> tuple[SchedulerView, int]:
        found = await find_scheduler(server, name, queue, session.settings.queues)
        return found.readable(), await server.queue(found.queue).schedulers.now_ms()

    view, now_ms = ask(session, look)
    assert view.spec is not None  # noqa: S101 - readable
    if view.state is SchedulerState.PAUSED and not view.ended:
        say(f"{name} is paused: these would come if it were resumed now")
    if from_ms is None:
        instants = foreseen(view, count, now_ms=now_ms)
    else:
        instants = upcoming(view.spec, count, after_ms=from_ms, count=view.count)
    return view.spec.rule, instants, now_ms


def _show(
    rule: CronRule | Every, instants: Sequence[int], from_ms: int, now_ms: int, *, as_json: bool
) -> None:
    zone = zone_of(rule)
    until_ms = max([from_ms, *instants])
    changes = [] if isinstance(rule, Every) else _changes(rule, from_ms, until_ms + LOOK_AHEAD_MS)
    rows = [_row(instant, zone, now_ms, looks_back=from_ms != now_ms) for instant in instants]
    shown = [change for change in changes if change.at_ms <= until_ms]
    for change in shown:
        _note(rows, change, zone)
    if as_json:
        write_rows([{key: row[key] for key in IN_JSON} for row in rows], (), as_json=True)
        return
    click.echo(rule.describe())
    write_rows(rows, _columns(rows, zone), as_json=False, empty="it does not fire any more")
    if len(shown) < len(changes):
        say(f"later: {changes[len(shown)].text}")


def _columns(rows: Sequence[dict[str, Any]], zone: tzinfo) -> list[Column]:
    """Leave out what says nothing here: a zone that is UTC, and clocks that do not change."""
    return [
        *([] if in_zone(0, zone).tzname() == "UTC" else [Column("LOCAL TIME", "local")]),
        Column("UTC", "utc"),
        Column("FROM NOW", "relative"),
        *([Column("CLOCK CHANGE", "note")] if any(row["note"] for row in rows) else []),
    ]


def _changes(rule: CronRule, after_ms: int, until_ms: int) -> list[ClockChange]:
    return clock_changes(rule, after_ms=after_ms, until_ms=until_ms)


def _row(instant: int, zone: tzinfo, now_ms: int, *, looks_back: bool) -> dict[str, Any]:
    return {
        "local": iso(instant, zone),
        "utc": iso(instant),
        "relative": (moment if looks_back else coming)(instant, now_ms),
        "unix_ms": instant,
        "runs": True,
        "note": "",
        "clock_change": None,
    }


def _note(rows: list[dict[str, Any]], change: ClockChange, zone: tzinfo) -> None:
    """Mark the row that a clock change is about; put one in where nothing runs."""
    told = {
        "note": f"{_WAYS[change.kind]}: {change.text.rpartition(': ')[2]}",
        "clock_change": change.text,
    }
    before = [i for i, row in enumerate(rows) if row["unix_ms"] < change.at_ms]
    place = len(before)
    if change.kind == "overlap":
        if before and change.at_ms - rows[before[-1]]["unix_ms"] < _DAY_MS:
            rows[before[-1]].update(told)
    elif place < len(rows) and rows[place]["unix_ms"] == change.at_ms:
        rows[place].update(told)
    else:
        day = in_zone(change.at_ms, zone).date().isoformat()
        nothing = {"local": day, "utc": None, "relative": None, "runs": False}
        rows.insert(place, nothing | {"unix_ms": change.at_ms} | told)
