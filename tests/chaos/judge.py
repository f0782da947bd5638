"""Turns the notes of a run into a verdict."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.chaos.figures import LAWS, Figures, figures_of
from tests.chaos.history import History
from tests.chaos.options import Options
from tests.chaos.records import read_log, read_producers, read_workers
from tests.chaos.recovery import Recoveries, Span, spread_of
from tests.chaos.run import Ran
from tests.chaos.soak import growth

UNEXPECTED_ERROR = 1
JOB_BOUND_S = 3.0
"""A job of a killed worker is to run again within its lease and this."""
SERVER_BOUND_S = 2.0
"""A restarted server is to see a claim within this of its first answer."""


def judge(options: Options, ran: Ran) -> dict[str, Any]:
    """Return the report of a run, as plain data. `broken` lists what is wrong, if anything."""
    history = History(options.lease_ms)
    recoveries = _recoveries(ran, history)
    forgotten = read_log(ran.folder, history, recoveries)
    history.judge({} if forgotten else ran.fired)
    figures = figures_of(history)
    soak = growth(ran.folder / "samples.notes")
    return {
        "options": {**asdict(options), "keep": str(options.keep or "")},
        "server": ran.server,
        "took_s": round(ran.took_s, 1),
        "rate": round(ran.rate, 1),
        "top_rate": ran.top_rate,
        "faults": dict(sorted(ran.faults.items())),
        "figures": figures.plain(),
        "laws": {law: history.wrong[law] for law in LAWS},
        "examples": history.examples,
        "forgotten_by_server": forgotten,
        "recovery": {
            "jobs": _plain(recoveries.of_jobs),
            "jobs_in_outages": _plain(recoveries.of_jobs_in_outages),
            "server": _plain(recoveries.of_server),
        },
        "worker_exits": ran.exits,
        "stop_codes": ran.stop_codes,
        "soak": [{**asdict(measure), "flat": measure.is_flat} for measure in soak],
        "broken": [
            *(f"{law}: {history.wrong[law]}" for law in LAWS if history.wrong[law]),
            *_sums(ran, history, figures, forgotten),
            *(f"audit: {complaint}" for complaint in ran.complaints),
            *_ends(ran),
            *_bounds(options, recoveries),
            *(
                f"{measure.name} grows from {measure.early:g} to {measure.late:g}"
                for measure in soak
                if measure.judged and not measure.is_flat
            ),
        ],
    }


def _recoveries(ran: Ran, history: History) -> Recoveries:
    """Read what producers and handlers noted; return what is to be timed in the log."""
    journal = _journal(ran.folder)
    read_producers(ran.folder, history)
    in_flight = read_workers(ran.folder, history)
    recoveries = Recoveries(
        outages=[Span(*outage) for outage in ran.outages],
        returns=[
            Span(note["start_ms"], note["answer_ms"])
            for note in journal
            if note["what"] == "server back"
        ],
    )
    for note in journal:
        if note["what"] == "kill" and note["role"] == "worker":
            recoveries.killed(note["at_ms"], in_flight.get(note["number"], {}))
    return recoveries


def _sums(ran: Ran, history: History, figures: Figures, forgotten: int) -> Iterator[str]:
    counts = ran.counts
    if left := counts.pending + counts.active + counts.scheduled:
        yield f"{left} jobs wait or run after the quiet time"
    if counts.completed != figures.completed:
        yield f"the server counted {counts.completed} completions, its log {figures.completed}"
    if counts.failed != figures.dead or counts.dead != figures.dead:
        yield (
            f"the server counted {counts.failed} deaths and holds {counts.dead} dead jobs, "
            f"its log tells of {figures.dead}"
        )
    copied = sum(history.events.values())
    if ran.entries_added and copied != ran.entries_added and not forgotten:
        yield f"the recorder has {copied} of {ran.entries_added} entries of the log"


def _ends(ran: Ran) -> Iterator[str]:
    yield from (f"a fault could not be made: {failure}" for failure in ran.harness_failures)
    if ran.harness_exits:
        yield f"producers or the recorder ended with {ran.harness_exits}"
    if broken := ran.exits.count(UNEXPECTED_ERROR):
        yield f"{broken} workers ended with an unexpected error"
    if bad := [code for code in ran.stop_codes if code]:
        yield f"workers that were told to stop ended with {bad}"


def _bounds(options: Options, recoveries: Recoveries) -> Iterator[str]:
    jobs, server = spread_of(recoveries.of_jobs), spread_of(recoveries.of_server)
    bound_s = options.lease_ms / 1000 + JOB_BOUND_S
    if jobs is not None and jobs.max > bound_s:
        yield f"a job of a killed worker ran again after {jobs.max} s, promised are {bound_s:g} s"
    if server is not None and server.max > SERVER_BOUND_S:
        yield f"the first claim came {server.max} s after the server, promised are 2 s"


def _journal(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "run.notes").read_text().splitlines()]


def _plain(samples_ms: list[int]) -> dict[str, Any] | None:
    spread = spread_of(samples_ms)
    return asdict(spread) if spread else None
