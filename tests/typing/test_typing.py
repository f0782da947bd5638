"""Types are a part of the interface: pyright infers what they promise, and finds mistakes."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
EXPECTED = re.compile(r"#\s*error:\s*(\w+)")


@pytest.fixture(scope="module")
def found() -> dict[str, set[tuple[int, str]]]:
    """What pyright finds, by file: the lines, from 1, and the rules that they break."""
    done = subprocess.run(  # noqa: S603 - the type checker of this environment
        [
            sys.executable,
            "-m",
            "pyright",
            "--outputjson",
            "--pythonpath",
            sys.executable,
            "-p",
            str(HERE),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    report: dict[str, Any] = json.loads(done.stdout)
    problems: dict[str, set[tuple[int, str]]] = {}
    for problem in report["generalDiagnostics"]:
        place = (problem["range"]["start"]["line"] + 1, problem.get("rule", problem["message"]))
        problems.setdefault(Path(problem["file"]).name, set()).add(place)
    assert report["summary"]["filesAnalyzed"] >= 3
    return problems


def test_pyright_infers_what_the_package_promises(
    found: dict[str, set[tuple[int, str]]],
) -> None:
    assert found.get("accepted.py", set()) == set()


def test_pyright_finds_every_mistake_and_nothing_else(
    found: dict[str, set[tuple[int, str]]],
) -> None:
    lines = (HERE / "rejected.py").read_text().splitlines()
    expected = {
        (number, rule) for number, line in enumerate(lines, 1) for rule in EXPECTED.findall(line)
    }
    assert found.get("rejected.py", set()) == expected
