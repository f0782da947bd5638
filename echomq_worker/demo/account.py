"""The account that the demonstration gives of itself."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from echomq_worker.demo.audit import Summary
from echomq_worker.domain.size import format_size


def account(summary: Summary, server: str, *, workers: int, killed: int) -> Iterator[str]:
    """Tell the numbers to people, line by line."""
    rate = f", {summary.jobs / summary.seconds:,.0f} a second" if summary.seconds else ""
    yield f"{summary.jobs:,} jobs in {summary.seconds:.1f} s{rate}, on {server}"
    for word, count, told in _outcomes(summary):
        yield f"  {word:<11}{count:>7,}  {told}"
    unreadable = f" ({summary.unreadable:,} could not be read)" if summary.unreadable else ""
    yield (
        f"{summary.files:,} files read{unreadable}: {format_size(summary.size)}, "
        f"{summary.lines:,} lines"
    )
    if killed:
        yield (
            f"{killed} of {workers} workers killed: {summary.recovered:,} jobs were taken back "
            f"and run again"
        )
    yield from _verdict(summary)


def account_for_programs(
    summary: Summary, server: str, *, workers: int, killed: int
) -> dict[str, Any]:
    """Tell the same numbers as plain data."""
    numbers = asdict(summary)
    late = numbers.pop("lateness")
    return {
        "server": server,
        "workers": workers,
        "killed": killed,
        **numbers,
        "lateness_ms": late
        and {
            "count": late["count"],
            "min": late["lowest"],
            "p50": late["p50"],
            "p99": late["p99"],
            "max": late["highest"],
        },
        "adds_up": not summary.problems,
    }


def _outcomes(summary: Summary) -> Iterator[tuple[str, int, str]]:
    yield "immediate", summary.immediate, "completed without waiting"
    late = summary.lateness
    told = "completed after their delay"
    if late is not None:
        early = "never early" if late.lowest >= 0 else "SOME TOO EARLY"
        told += (
            f", late by {late.p50:g} ms (p50), {late.p99:g} ms (p99), {late.highest:g} ms (max), "
            f"{early}"
        )
    yield "delayed", summary.delayed, told
    yield "retried", summary.retried, "completed after failing"
    yield "dead", summary.dead, "out of attempts"


def _verdict(summary: Summary) -> Iterator[str]:
    if summary.problems:
        yield "IT DOES NOT ADD UP:"
        for problem in summary.problems:
            yield f"  {problem}"
        return
    yield (
        f"{summary.jobs:,} enqueued = {summary.completed:,} completed + {summary.dead:,} dead; "
        f"nothing waits, nothing runs: it adds up"
    )
