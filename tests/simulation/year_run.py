"""Lives through a simulated year, and tells which laws were broken."""
# ruff: noqa: T201 - it is a command

import argparse
import sys
import time
from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from echomq_worker.embedded import EmbeddedServer
from tests.simulation.run import be_quiet
from tests.simulation.server import Change
from tests.simulation.watched import WatchedServer
from tests.simulation.year import Year
from tests.simulation.year_laws import broken

MUTANTS = {
    "two-fire-one-instant": {
        "fire": (
            ("row[2] ~= firing.expected", "false"),
            ("tonumber(instant) <= state.last", "false"),
        )
    },
    "restarts-forget-what-was-missed": {
        "put_scheduler": (
            ("if stored.same then return 'unchanged' end", ""),
            ("stored.digest ~= digest and stored.rule == rule_digest", "false"),
        )
    },
    "old-code-comes-back": {
        "put_scheduler": (("stored.digest and stored.revision > own", "false"),),
    },
    "wakes-late": {"fire": (("tonumber(firing.wake)", "tonumber(firing.wake) + 15000"),)},
}
"""Ways to break the product, which the laws must notice."""


def main(arguments: Sequence[str]) -> int:
    """Do what the command line says; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.year_run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--days", type=int, default=366)
    parser.add_argument("--mutant", choices=sorted(MUTANTS), help="break the product first")
    options = parser.parse_args(arguments)
    be_quiet()
    began = time.monotonic()
    with EmbeddedServer() as embedded:
        path = unquote(urlsplit(embedded.url).path)
        server = WatchedServer(path, change_of(options.mutant))
        year = Year(options.seed, server, options.days)
        year.run()
        told = broken(year) + year.loop.unhandled
        server.close()
    made = sum(len(shot.instants) for shot in server.shots)
    took = time.monotonic() - began
    print(f"{options.days} days in {took:.1f} s: {year.started} workers made {made} jobs")
    print(*(told[:10] or ["every law held"]), sep="\n")
    return 1 if told else 0


def change_of(mutant: str | None) -> Change:
    """Return what the mutant makes of a script's source."""
    changed = MUTANTS[mutant] if mutant else {}

    def change(name: str, source: str) -> str:
        for old, new in changed.get(name, ()):
            if old not in source:
                msg = f"{name} has no {old!r} any more: the mutant {mutant} needs another way"
                raise LookupError(msg)
            source = source.replace(old, new)
        return source

    return change


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
