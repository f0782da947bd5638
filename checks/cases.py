"""Every known fault has a test that covers it, or stands in a list that says why not.

A test says which cases of `tests/data/fault_cases.json` it covers:
`@pytest.mark.case("LSE-01", "MX-F4-claim")`. What no test covers stands in
`tests/faults/unmapped/<kind>.toml`, a line an id: `"LSE-19" = { waits = "cluster" }` for what comes
with a later capability, `"XYZ-01" = { because = "one honest sentence" }` for what does not apply.
"""

import ast
import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

CASES = Path("tests/data/fault_cases.json")
UNMAPPED = Path("tests/faults/unmapped")
TABLE = Path("tests/faults/CASES.md")

WAITS = frozenset(
    {
        "batches",
        "cancel-running",
        "cluster",
        "compatibility-matrix",
        "dashboard",
        "events",
        "flows",
        "lanes",
        "limits",
        "metrics",
        "priorities",
        "schedulers",
        "sentinel",
        "tls",
        "uniqueness",
    }
)
"""Capabilities that may be waited for."""

HEAD = """\
# Fault cases

Written by `python -m checks --write cases`; do not edit. Each known way to break a job queue
(`tests/data/fault_cases.json` says it in full), and the test that covers it, the later capability
that it waits for, or why it does not apply.
"""


@dataclass(frozen=True, slots=True)
class Ledger:
    """What is known of the cases of one project."""

    kinds: Mapping[str, str]
    """The kind of each id, in the order of the file."""
    tests: Mapping[str, list[str]]
    """For each id that is marked: `file::test`, in order."""
    excused: Mapping[str, str]
    """For each id in a list of unmapped ones: what it waits for, or why it does not apply."""
    problems: list[str]
    """What is wrong with marks and lists themselves."""


def cases(root: Path) -> list[str]:
    """Return the cases that nobody answers for, and what is wrong with the answers."""
    ledger = read(root)
    table = root / TABLE
    written = table.read_text(encoding="utf-8") if table.exists() else ""
    stale = written != rendered(ledger)
    return [
        *ledger.problems,
        *gaps(ledger),
        *([f"{TABLE} is out of date: run `python -m checks --write cases`"] if stale else []),
    ]


def write_cases(root: Path) -> list[str]:
    """Renew the table; return what is wrong with the answers all the same."""
    ledger = read(root)
    (root / TABLE).write_text(rendered(ledger), encoding="utf-8")
    return [*ledger.problems, *gaps(ledger)]


def read(root: Path) -> Ledger:
    """Read the cases, the marks of all tests and the lists of what is not mapped."""
    known: list[dict[str, str]] = json.loads((root / CASES).read_text(encoding="utf-8"))
    kinds = {case["id"]: case["kind"] for case in known}
    problems: list[str] = []
    tests: dict[str, list[str]] = {}
    for path in sorted((root / "tests").rglob("test_*.py")):
        name = path.relative_to(root / "tests").as_posix()
        for test, case in marks(ast.parse(path.read_text(encoding="utf-8")), name, problems):
            if case not in kinds:
                problems.append(f"{name}::{test}: there is no case {case}")
            elif f"{name}::{test}" not in tests.setdefault(case, []):
                tests[case].append(f"{name}::{test}")
    excused: dict[str, str] = {}
    for path in sorted((root / UNMAPPED).glob("*.toml")):
        listed = tomllib.loads(path.read_text(encoding="utf-8"))
        for case, reason in listed.items():
            where = f"{path.name}: {case}"
            if kinds.get(case) != path.stem:
                problems.append(f"{where} is no case of the kind {path.stem}")
            elif (text := excuse(reason)) is None:
                problems.append(f"{where}: {REASON}")
            else:
                excused[case] = text
    return Ledger(kinds, tests, excused, problems)


REASON = f'say {{ because = "a sentence" }} or {{ waits = "one of {", ".join(sorted(WAITS))}" }}'


def excuse(reason: Mapping[str, str]) -> str | None:
    """Return in words why a case is not mapped; None if that is no reason."""
    if list(reason) == ["waits"] and reason["waits"] in WAITS:
        return f"waits for {reason['waits']}"
    if list(reason) == ["because"] and reason["because"].strip():
        return reason["because"].strip()
    return None


def gaps(ledger: Ledger) -> list[str]:
    """Return the cases that have no answer, or two."""
    answered = {*ledger.tests, *ledger.excused}
    missing = [case for case in ledger.kinds if case not in answered]
    return [
        *(
            f"{case} ({ledger.kinds[case]}): mark a test with it, or list it in "
            f"{UNMAPPED}/{ledger.kinds[case]}.toml"
            for case in missing
        ),
        *(
            f"{case} is listed as not mapped, but {ledger.tests[case][0]} covers it"
            for case in ledger.excused
            if case in ledger.tests
        ),
    ]


def rendered(ledger: Ledger) -> str:
    """Return the table: a part for each kind, a row for each case."""
    lines = [HEAD, summary(ledger)]
    for kind in dict.fromkeys(ledger.kinds.values()):
        lines += ["", f"## {kind}", "", "| case | answer |", "|---|---|"]
        for case in (case for case, its in ledger.kinds.items() if its == kind):
            tests = " ".join(f"`{test}`" for test in ledger.tests.get(case, ()))
            lines.append(f"| {case} | {tests or ledger.excused.get(case, '')} |")
    return "\n".join(lines) + "\n"


def summary(ledger: Ledger) -> str:
    """Return how many cases have which answer."""
    waiting = sum(text.startswith("waits for ") for text in ledger.excused.values())
    return (
        f"{len(ledger.kinds)} cases: {len(ledger.tests)} covered by tests, {waiting} wait for a "
        f"later capability, {len(ledger.excused) - waiting} do not apply."
    )


def marks(module: ast.Module, name: str, problems: list[str]) -> Iterator[tuple[str, str]]:
    """Yield each test of a file and a case that it is marked with."""
    for node in ast.walk(module):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for decorator in node.decorator_list:
            for part in ast.walk(decorator):
                if isinstance(part, ast.Call) and ast.unparse(part.func) == "pytest.mark.case":
                    yield from ((node.name, case) for case in _ids(part, name, problems))


def _ids(call: ast.Call, name: str, problems: list[str]) -> Iterator[str]:
    for argument in call.args:
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            yield argument.value
        else:
            problems.append(f"{name}:{argument.lineno}: write the ids of cases out, as strings")
