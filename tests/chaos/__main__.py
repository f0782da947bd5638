"""Chaos: `python -m tests.chaos --minutes 3 --seed 1`.

Real workers and producers at work on a server of their own, while everything is broken that can
be: processes killed and frozen, connections cut, the server killed and restarted on its data. A
recorder outside copies the server's log; at the end every job's history is checked. Exit code 1 if
a promise was broken.
"""

import argparse
import asyncio
import json
import shlex
import sys
import tempfile
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from tests.chaos.judge import judge
from tests.chaos.options import Options
from tests.chaos.report import markdown, plain
from tests.chaos.run import Run
from tests.chaos.sabotage import FAULTS

WORKER_KILLS_A_MINUTE, SERVER_KILLS_A_MINUTE = 9, 1.5


def say(text: str) -> None:
    """Print at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def parser() -> argparse.ArgumentParser:
    """Return the reader of the command line."""
    made = argparse.ArgumentParser(
        prog="python -m tests.chaos",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add("--minutes", type=float, default=3, help="how long things are broken (3)")
    add("--seed", type=int, default=1, help="the dice (1)")
    add("--jobs", type=int, default=0, help="enqueue so many, spread over the time")
    add("--workers", type=int, default=3, help="worker processes (3)")
    add("--producers", type=int, default=2, help="producer processes (2)")
    rates = made.add_mutually_exclusive_group()
    rates.add_argument("--rate", type=float, default=0, help="jobs a second; else all that go in")
    rates.add_argument(
        "--half-rate", action="store_true", help="measure the top rate, then work at half of it"
    )
    add("--worker-kills", type=int, help=f"default {WORKER_KILLS_A_MINUTE} a minute")
    add("--server-kills", type=int, help=f"default {SERVER_KILLS_A_MINUTE:g} a minute")
    add("--concurrency", type=int, default=50, help="jobs at once in a worker (50)")
    add("--batch", type=int, default=50, help="jobs in one enqueue call (50)")
    add("--backlog", type=int, default=3000, help="producers pause above it (3000)")
    add("--fsync", choices=("everysec", "always", "no"), default="everysec")
    add("--no-persistence", action="store_true", help="a server that a kill empties")
    add("--sabotage", choices=sorted(FAULTS), default="", help="break the product on purpose")
    add("--report", type=Path, metavar="FILE.json", help="write everything that was found")
    add("--markdown", action="store_true", help="print the table as Markdown")
    add("--keep", type=Path, metavar="DIR", help="leave all notes and outputs there")
    return made


def options_of(words: Sequence[str] | None) -> tuple[Options, argparse.Namespace]:
    """Read the command line."""
    given = parser().parse_args(words)
    minutes = given.minutes
    return Options(
        minutes=minutes,
        seed=given.seed,
        jobs=given.jobs,
        workers=given.workers,
        producers=given.producers,
        rate=given.rate,
        half_rate=given.half_rate,
        worker_kills=_or(given.worker_kills, round(minutes * WORKER_KILLS_A_MINUTE)),
        server_kills=_or(given.server_kills, round(minutes * SERVER_KILLS_A_MINUTE)),
        concurrency=given.concurrency,
        batch=given.batch,
        backlog=given.backlog,
        fsync=given.fsync,
        sabotage=given.sabotage,
        keeps_data=not given.no_persistence,
        keep=given.keep,
    ), given


def command(words: Sequence[str] | None) -> str:
    """Return how to repeat the run: without where things were written."""
    given = list(sys.argv[1:] if words is None else words)
    for word in ("--report", "--keep"):
        if word in given:
            at = given.index(word)
            del given[at : at + 2]
    return shlex.join(["python", "-m", "tests.chaos", *(w for w in given if w != "--markdown")])


def main(words: Sequence[str] | None = None) -> int:
    """Run, judge, tell."""
    options, given = options_of(words)
    say(f"chaos with seed {options.seed} for {options.minutes:g} min")
    if options.keep:
        options.keep.mkdir(parents=True)
    place = nullcontext(options.keep) if options.keep else tempfile.TemporaryDirectory()
    with place as folder:
        ran = asyncio.run(Run(options, Path(folder).absolute(), say).run())
        report: dict[str, Any] = {"command": command(words), **judge(options, ran)}
    if given.report:
        given.report.write_text(json.dumps(report, indent=2) + "\n")
    say(markdown(report) if given.markdown else plain(report))
    for problem in report["broken"]:
        say(f"BROKEN: {problem}")
    for law, examples in report["examples"].items():
        say("\n".join(f"  {law}: {example}" for example in examples))
    say("every promise was kept" if not report["broken"] else f"seed {options.seed}")
    return 1 if report["broken"] else 0


def _or(given: int | None, default: int) -> int:
    return default if given is None else given


if __name__ == "__main__":
    sys.exit(main())
