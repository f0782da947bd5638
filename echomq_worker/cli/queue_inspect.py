"""`echomq queue inspect`: the sets of a queue, what their scores mean, and who is first in each."""

from typing import Any

import click

from echomq_worker.cli.ask import ask
from echomq_worker.cli.options import json_option, with_session
from echomq_worker.cli.output import say, write_json
from echomq_worker.cli.session import Session
from echomq_worker.cli.words import moment, rfc3339
from echomq_worker.domain.readings import MEANINGS, Entry, LaneReading, QueueReading, Reading
from echomq_worker.store import Server


@click.command()
@click.argument("queue")
@click.option("--head", type=click.IntRange(1, 100), default=3, help="How many of each to show.")
@json_option
@with_session
def inspect(session: Session, *, queue: str, head: int, as_json: bool) -> None:
    """Show each set of QUEUE: what its score means, how many are in it, and who is first."""

    async def look(server: Server) -> QueueReading:
        return await server.queue(queue).operator.reading(head)

    found = ask(session, look)
    if as_json:
        write_json(_record(queue, found))
        return
    for reading in found.sets:
        if reading.count:
            click.echo(f"emq:{{{queue}}}:{reading.suffix}  {reading.count:,}")
            click.echo(f"  {MEANINGS[reading.suffix]}")
            for entry in reading.head:
                click.echo(f"    {entry.member}  {_when(reading, entry, found.now_ms)}".rstrip())
    if found.lane_count:
        click.echo(f"emq:{{{queue}}}:ring  {found.lane_count:,}")
        click.echo("  lanes that may be served now; the first one is next")
        for lane in found.lanes:
            click.echo(f"    {_lane(lane)}")
    if found.is_paused:
        say(f"queue {queue} is paused")
    elif not found.lane_count and not any(reading.count for reading in found.sets):
        say(f"queue {queue} is empty")


def _when(reading: Reading, entry: Entry, now_ms: int) -> str:
    if entry.priority is not None:
        return f"priority {entry.priority}, arrival {entry.arrival}"
    if entry.at_ms is None:
        return "" if reading.suffix == "pending" else "by what happens"
    told = moment(entry.at_ms, now_ms)
    return f"minted {told}" if reading.suffix == "pending" else f"{told}"


def _lane(lane: LaneReading) -> str:
    most = "" if lane.limit is None else f" of {lane.limit}"
    return f"{lane.name or lane.group}  {lane.waiting:,} waiting, {lane.active}{most} active"


def _record(queue: str, found: QueueReading) -> dict[str, Any]:
    return {
        "queue": queue,
        "paused": found.is_paused,
        "sets": [
            {
                "key": f"emq:{{{queue}}}:{reading.suffix}",
                "score": MEANINGS[reading.suffix],
                "count": reading.count,
                "head": [_entry(entry) for entry in reading.head],
            }
            for reading in found.sets
        ],
        "lanes": [
            {
                "lane": lane.name or None,
                "group": lane.group,
                "waiting": lane.waiting,
                "active": lane.active,
                "limit": lane.limit,
            }
            for lane in found.lanes
        ],
        "lanes_ready": found.lane_count,
    }


def _entry(entry: Entry) -> dict[str, Any]:
    if entry.priority is not None:
        return {"member": entry.member, "priority": entry.priority, "arrival": entry.arrival}
    return {"member": entry.member, "at": rfc3339(entry.at_ms)}
