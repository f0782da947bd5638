"""`echomq queue limits` and `echomq queue limit`: how much of a queue's work may happen."""

import asyncio
from collections.abc import Iterator
from typing import Any

import click

from echomq_worker.cli.ask import ask
from echomq_worker.cli.exit_codes import CommandError, ExitCode
from echomq_worker.cli.find import find_queues
from echomq_worker.cli.options import json_option, with_session
from echomq_worker.cli.output import Column, say, write_json, write_rows
from echomq_worker.cli.session import Session
from echomq_worker.cli.words import moment, rfc3339
from echomq_worker.domain.duration import format_duration
from echomq_worker.domain.gates import Gate, Gates, Strike, by_key_scope, parse_rate, scope_of
from echomq_worker.store import QueueStore, Server

LANE_RATE = "rate:lane:"
COLUMNS = [
    Column("QUEUE", "queue"),
    Column("GATE", "gate"),
    Column("RULE", "rule"),
    Column("ACTIVE", "active", right=True),
    Column("KEPT BACK", "parked", right=True),
    Column("OPENS", "opens"),
    Column("BY", "by"),
    Column("REASON", "reason"),
]


@click.command()
@click.argument("queues", nargs=-1, metavar="[QUEUE...]")
@json_option
@with_session
def limits(session: Session, *, queues: tuple[str, ...], as_json: bool) -> None:
    """Show the limits of queues, what is stopped there, and how many jobs that keeps back."""

    async def look(server: Server) -> list[dict[str, Any]]:
        names = await find_queues(server, queues, session.settings.queues)
        found = await asyncio.gather(*(server.queue(name).gates.read() for name in names))
        return [
            row
            for name, gates in zip(names, found, strict=True)
            for row in _rows(name, gates, gates.now_ms)
        ]

    write_rows(ask(session, look), COLUMNS, as_json=as_json, empty="there are no limits")


@click.command()
@click.argument("queue")
@click.option("--name", metavar="HANDLER", help="Of the jobs of one handler; else of the queue.")
@click.option("--by-key", is_flag=True, help="For each value of the handler's limit by itself.")
@click.option("--rate", metavar="50/s", help="How often jobs may start; 0 takes the limit away.")
@click.option("--burst", type=int, metavar="N", help="How many may start at once after a rest.")
@click.option("--sliding", is_flag=True, help="Count starts in a sliding window, without a burst.")
@click.option("--concurrency", type=int, metavar="N", help="How many may run at once; 0 for any.")
@json_option
@with_session
def limit(  # noqa: PLR0913 - an option each
    session: Session,
    *,
    queue: str,
    name: str | None,
    by_key: bool,
    rate: str | None,
    burst: int | None,
    sliding: bool,
    concurrency: int | None,
    as_json: bool,
) -> None:
    """Set or take away limits of QUEUE, for all its workers together, while they run.

    A limit that a handler declares in code is set again when a worker starts.
    """
    if rate is None and concurrency is None:
        msg = "nothing is said about the limit: expected --rate 50/s or --concurrency 10"
        raise CommandError(msg, ExitCode.USAGE)
    if by_key and name is None:
        msg = "--by-key is given without --name: expected the handler whose limit counts by a key"
        raise CommandError(msg, ExitCode.USAGE)
    scope = by_key_scope(name) if name is not None and by_key else scope_of(name=name)
    wanted = None if rate in {None, "0"} else parse_rate(rate or "", burst=burst, sliding=sliding)

    async def change(store: QueueStore) -> bool:
        changed = False
        if rate is not None:
            changed = await store.gates.limit_rate(scope, wanted)
        if concurrency is not None:
            changed |= await store.gates.limit_concurrency(scope, concurrency or None)
        return changed

    changed = ask(session, lambda server: change(server.queue(queue)))
    if as_json:
        write_json({"queue": queue, "scope": scope, "changed": changed})
    else:
        say(f"{queue}: the limit of {scope} {'is set' if changed else 'was so already'}")


def _rows(queue: str, gates: Gates, now_ms: int) -> Iterator[dict[str, Any]]:
    shut = {gate.name: gate for gate in gates.shut}
    for name in sorted(gates.limits):
        yield _row(queue, name, gates, shut.pop(name, None), now_ms)
    for strike in sorted(gates.strikes, key=lambda each: each.scope):
        gate = shut.pop(f"strike:{strike.scope}", None)
        yield _struck(queue, strike, gate, now_ms)
    for name, gate in sorted(shut.items()):
        yield _row(queue, name, gates, gate, now_ms)


def _row(queue: str, name: str, gates: Gates, gate: Gate | None, now_ms: int) -> dict[str, Any]:
    opens_ms = None if gate is None else gate.opens_ms
    return {
        "queue": queue,
        "gate": _shown(name, gates),
        "rule": _rule(name, gates),
        "active": gates.busy.get(name, 0) if name.startswith("cap:") else None,
        "parked": 0 if gate is None else gate.parked,
        "opens": None if opens_ms is None else moment(opens_ms, now_ms),
        "opens_at": rfc3339(opens_ms),
        "by": None,
        "reason": None,
    }


def _struck(queue: str, strike: Strike, gate: Gate | None, now_ms: int) -> dict[str, Any]:
    return {
        "queue": queue,
        "gate": f"strike:{strike.scope}",
        "rule": "stopped",
        "active": None,
        "parked": 0 if gate is None else gate.parked,
        "opens": None if strike.until_ms is None else moment(strike.until_ms, now_ms),
        "opens_at": rfc3339(strike.until_ms),
        "by": strike.by or None,
        "reason": strike.reason or None,
    }


def _shown(name: str, gates: Gates) -> str:
    """Call a lane by its name, where that is known, instead of its group."""
    group = name.removeprefix(LANE_RATE)
    return name if group == name else LANE_RATE + gates.lane_names.get(group, group)


def _rule(name: str, gates: Gates) -> str:
    """Tell the rule of a gate as people write it; one value of a key has that of all."""
    rule = gates.limits.get(name) or gates.limits.get(name.partition("/")[0], "")
    words = rule.split()
    if name.startswith("cap:") or len(words) != 4:  # noqa: PLR2004 - as the scripts read it
        return f"{rule} at once" if rule else ""
    count, window_ms, burst, kind = words
    told = f"{count} in {format_duration(int(window_ms))}"
    return f"{told}, sliding" if kind == "window" else f"{told}, burst {burst}"
