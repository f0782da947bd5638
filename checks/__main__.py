"""Run the checks: all of them, or those that are named."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from checks.check import Check, run_checks
from checks.registry import CHECKS

ROOT = Path(__file__).resolve().parents[1]
DETAILS = 200
"""Lines of findings shown for one check."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run checks and print a line for each; return 1 if any failed."""
    parser = argparse.ArgumentParser(prog="python -m checks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these checks")
    parser.add_argument("--list", action="store_true", help="list the checks and what they hold")
    parser.add_argument(
        "--write", action="store_true", help="renew what the named checks compare with"
    )
    options = parser.parse_args(arguments)
    if options.list:
        print("\n".join(f"{check.name:<12} {check.holds}" for check in CHECKS))
        return 0
    chosen = _chosen(parser, options.names)
    if options.write and not (options.names and all(check.write for check in chosen)):
        writers = ", ".join(check.name for check in CHECKS if check.write)
        parser.error(f"--write needs the names of checks that can: {writers}")
    return _run(chosen, write=options.write)


def _chosen(parser: argparse.ArgumentParser, names: Sequence[str]) -> list[Check]:
    known = {check.name: check for check in CHECKS}
    if unknown := [name for name in names if name not in known]:
        parser.error(f"no check {', '.join(unknown)}; there are {', '.join(known)}")
    return [known[name] for name in names] if names else list(CHECKS)


def _run(chosen: Sequence[Check], *, write: bool) -> int:
    failed: list[str] = []
    for report in run_checks(chosen, ROOT, write=write):
        print(report.line, flush=True)
        for detail in (*report.problems[:DETAILS], *report.notes):
            print("    " + detail.replace("\n", "\n    "), flush=True)
        if len(report.problems) > DETAILS:
            print(f"    … and {len(report.problems) - DETAILS} more", flush=True)
        if report.problems:
            failed.append(report.name)
    if failed:
        print(f"failed: {', '.join(sorted(failed))}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
