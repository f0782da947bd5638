"""What a row of the matrix has to answer for when its fault is over."""

import asyncio
import time

from tests.faults.matrix.cell import Cell
from tests.faults.matrix.field import PATIENCE_S, Field, until
from tests.faults.matrix.history import ENDS, History, breach, read_starts
from tests.support.audit import complaints_of

POLL_S = 0.05
QUIET_S = 0.4
"""How long something late may still come."""
START_S = 2.0
"""How long a new worker may take to start, where the old one has gone."""
GONE = frozenset({"quar", "nd"})
"""Codes whose job may come to no end."""


async def complaints(
    field: Field, *, within_s: float, dies: bool = False, unread: bool = False
) -> list[str]:
    """Wait until all is quiet; return everything that breaks a law, cell by cell.

    Args:
        field: whose fault is over.
        within_s: how long it may take, from the end of the fault until every job has ended.
        dies: True if the fault took the workers away.
        unread: True if it kept them from reading replies for longer than a lease.
    """
    for cell in field.cells:
        await cell.enqueue_another()
    found = await asyncio.gather(
        *(_of(field, cell, within_s, dies=dies, unread=unread) for cell in field.cells)
    )
    return [complaint for of_cell in found for complaint in of_cell]


async def _of(field: Field, cell: Cell, within_s: float, *, dies: bool, unread: bool) -> list[str]:
    found: list[str] = []
    if cell.name == "enqueue":
        found += await _asked_again(field, cell)
    if cell.name == "tick":
        found += await _fired_once(cell)
    took_s = await _quiet(cell) - field.over_at
    await asyncio.sleep(QUIET_S)
    log = await cell.queue.log()
    start_s = START_S if cell.name == "drain" else 0
    if took_s > within_s + cell.moment.run_s + start_s:
        found.append(f"I5: it took {took_s:.1f} s")
    starts = read_starts(field.notes)
    for job in [cell.job, *cell.others]:
        if job != cell.job or cell.code not in GONE:
            found += History.of(job, log, starts).complaints()
    if cell.code not in GONE:
        history = History.of(cell.job, log, starts)
        found += breach(cell.code, history, cell.moment, dies=dies, unread=unread)
    if not dies and cell.name != "drain" and cell.worker and not cell.worker.alive:
        found.append("I10: its worker is gone")
    found += await _left(cell)
    found += await asyncio.to_thread(complaints_of, field.url, cell.queue.name)
    return [f"{cell.name}: {complaint}" for complaint in found]


async def _asked_again(field: Field, cell: Cell) -> list[str]:
    """Unless the producer knows by now: ask again with the same id, which must be accepted."""
    first = cell.victim
    await until(lambda: not first.alive)
    said = first.output.read_text()
    if cell.job not in said:
        again = field.produce(cell, field.url)
        await until(lambda: not again.alive)
        said = again.output.read_text()
    wrong = "Traceback" in said or "unexpected" in said or cell.job not in said
    return [f"the producer said: {said}"] if wrong else []


async def _fired_once(cell: Cell) -> list[str]:
    """Wait until the scheduler has fired; its one occurrence must be the one job it has made."""
    give_up = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up:
        if (await cell.fired()).runs:
            break
        await asyncio.sleep(POLL_S)
    await asyncio.sleep(QUIET_S)
    view = await cell.fired()
    made = {entry.id for entry in await cell.queue.log() if entry.event == "enqueued"}
    made -= {str(job) for job in cell.others}
    right = len(view.runs) == view.count == len(made) == 1 and view.ended == "limit"
    return [] if right else [f"the occurrence was fired {view.count} times, as {made or 'no job'}"]


async def _quiet(cell: Cell) -> float:
    """Wait until every job that stays has ended; return when that was (or patience did)."""
    give_up = time.monotonic() + PATIENCE_S
    jobs = {*cell.others} if cell.code in GONE else {cell.job, *cell.others}
    while time.monotonic() < give_up:
        log = await cell.queue.log()
        ended = jobs <= {entry.id for entry in log if entry.event in ENDS}
        if ended and await cell.place() in {"", "dead"}:
            break
        await asyncio.sleep(POLL_S)
    return time.monotonic()


async def _left(cell: Cell) -> list[str]:
    dead = cell.moment.ending == "dead" and await cell.place() == "dead"
    places = await cell.look.places()
    found = (
        [f"I6: what is left is {places}"]
        if places != ({"dead": [cell.job]} if dead else {})
        else []
    )
    rows = [key for key in await cell.look.key_names() if ":job:" in key]
    if len(rows) != dead:
        found.append(f"I6: rows are left: {rows}")
    return found
