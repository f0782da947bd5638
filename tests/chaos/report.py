"""Shows what a run has found: `python -m tests.chaos.report FILE.json` as a Markdown table."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.chaos.plan import KILL_SERVER, KILL_WORKER

Row = tuple[str, str]


def rows(report: dict[str, Any]) -> Iterator[Row]:
    """Yield each line of the table: what, and how much."""
    figures, faults, laws = report["figures"], report["faults"], report["laws"]
    options = report["options"]
    yield "command", f"`{report['command']}`"
    rate = figures["jobs"] / max(1.0, report["took_s"])
    yield "jobs", f"{figures['jobs']:,} in {report['took_s'] / 60:.1f} min ({rate:,.0f} a second)"
    yield "runs of handlers", f"{figures['starts']:,}"
    yield (
        "set-up",
        ", ".join(
            (
                f"{options['workers']} workers of {options['concurrency']} slots",
                f"{options['producers']} producers",
                report["server"],
                f"appendfsync {options['fsync']}",
                f"lease {options['lease_ms'] / 1000:g} s",
            )
        ),
    )
    yield "`kill -9` of a worker", f"{faults.get(KILL_WORKER, 0):,}"
    yield "`kill -9` of the server", f"{faults.get(KILL_SERVER, 0):,}"
    others = {name: count for name, count in faults.items() if not name.startswith("kill ")}
    others["kill -9 of a producer"] = faults.get("kill producer", 0)
    yield (
        "other faults",
        f"{sum(others.values()):,}: "
        + ", ".join(f"{name} {count}" for name, count in others.items()),
    )
    for law, count in laws.items():
        yield f"**{law}**", f"**{count:,}**"
    yield from _counts(figures)
    yield from _recovery(report["recovery"])
    yield from _soak(report["soak"])


def _counts(figures: dict[str, Any]) -> Iterator[Row]:
    yield (
        "started again after a lost lease",
        f"{figures['duplicated']:,} jobs ({figures['duplicated_share']:.3%})",
    )
    yield "finishes that came too late, refused", f"{figures['late_finishes']:,}"
    yield (
        "enqueues with unknown outcome",
        f"{figures['unknown']:,} jobs, of which {figures['recovered']:,} had gone in and ran",
    )
    yield "enqueues refused", f"{figures['refused']:,} jobs, none of which ran"
    yield "occurrences of schedulers, each fired once", f"{figures.get('occurrences', 0):,}"
    yield "completed / dead as planned", f"{figures['completed']:,} / {figures['dead']:,}"


def _recovery(recovery: dict[str, Any]) -> Iterator[Row]:
    told = {
        "jobs": "job of a killed worker runs again after, p50 / p99 / max",
        "jobs_in_outages": "the same, with the server in trouble as well",
        "server": "first claim after a restarted server answers, p50 / p99 / max",
    }
    for name, text in told.items():
        if spread := recovery[name]:
            times = " / ".join(f"{spread[at]:.2f}" for at in ("p50", "p99", "max"))
            yield text, f"{times} s ({spread['count']:,} times)"


def _soak(soak: list[dict[str, Any]]) -> Iterator[Row]:
    told = {
        "rss_kib": ("memory of a worker", 1024, "MiB"),
        "connections": ("connections of the server", 1, ""),
        "other_keys": ("keys besides those of jobs, kept results among them", 1, ""),
    }
    for measure in soak:
        text, unit, name = told[measure["name"]]
        early, late, highest = (measure[at] / unit for at in ("early", "late", "highest"))
        yield (
            f"{text}: early / late / highest",
            f"{early:,.0f} / {late:,.0f} / {highest:,.0f} {name}".rstrip(),
        )


def markdown(report: dict[str, Any]) -> str:
    """Return the table for the README."""
    lines = ["| what | figure |", "|---|---|"]
    return "\n".join([*lines, *(f"| {what} | {figure} |" for what, figure in rows(report))])


def plain(report: dict[str, Any]) -> str:
    """Return the table for a terminal."""
    shown = [
        (what.replace("*", "").replace("`", ""), figure.replace("*", ""))
        for what, figure in rows(report)
    ]
    width = max(len(what) for what, _ in shown)
    return "\n".join(f"{what:<{width}}  {figure}" for what, figure in shown)


def main() -> None:
    """Print the table of a report."""
    report = json.loads(Path(sys.argv[1]).read_text())
    sys.stdout.write(markdown(report) + "\n")


if __name__ == "__main__":
    main()
