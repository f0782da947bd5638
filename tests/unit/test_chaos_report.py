"""The table of a chaos run, and the command that repeats it."""

from typing import Any

from tests.chaos.__main__ import command, options_of
from tests.chaos.figures import LAWS
from tests.chaos.report import markdown, plain

FIGURES = (
    "jobs starts completed dead acknowledged refused unknown recovered delayed retried "
    "duplicated duplicated_share late_finishes reaped handed_back"
)
REPORT: dict[str, Any] = {
    "command": "python -m tests.chaos --seed 7",
    "options": {"workers": 3, "concurrency": 50, "producers": 2, "fsync": "no", "lease_ms": 2_000},
    "server": "valkey 9",
    "took_s": 120.0,
    "faults": {"kill worker": 300, "kill server": 50, "kill producer": 2, "black hole": 5},
    "figures": dict.fromkeys(FIGURES.split(), 1_000) | {"duplicated_share": 0.001},
    "laws": dict.fromkeys(LAWS, 0),
    "recovery": {
        "jobs": {"count": 900, "p50": 2.0, "p99": 2.5, "max": 3.25},
        "jobs_in_outages": None,
        "server": {"count": 50, "p50": 0.1, "p99": 0.2, "max": 0.3},
    },
    "soak": [{"name": "rss_kib", "early": 51_200, "late": 51_300, "highest": 52_224}],
}


def test_the_table_is_ready_to_be_pasted():
    lines = markdown(REPORT).splitlines()

    assert lines[:2] == ["| what | figure |", "|---|---|"]
    assert "| command | `python -m tests.chaos --seed 7` |" in lines
    assert "| `kill -9` of a worker | 300 |" in lines
    assert "| `kill -9` of the server | 50 |" in lines
    assert any("7: black hole 5, kill -9 of a producer 2" in line for line in lines)
    assert any("2.00 / 2.50 / 3.25 s (900 times)" in line for line in lines)
    assert any("50 / 50 / 51 MiB" in line for line in lines)
    for law in LAWS:
        assert f"| **{law}** | **0** |" in lines
    assert all(line.count("|") == 3 for line in lines)


def test_a_terminal_gets_the_table_without_marks():
    assert "`" not in plain(REPORT).replace("`python", "").replace("7`", "")
    assert "*" not in plain(REPORT)


def test_the_command_says_nothing_of_where_things_are_written():
    words = ["--seed", "7", "--report", "/x/y.json", "--half-rate", "--keep", "/x", "--markdown"]

    assert command(words) == "python -m tests.chaos --seed 7 --half-rate"


def test_kills_follow_the_time_unless_they_are_given():
    timed, _ = options_of(["--minutes", "10"])
    given, _ = options_of(["--minutes", "10", "--worker-kills", "0", "--server-kills", "7"])

    assert (timed.worker_kills, timed.server_kills) == (90, 15)
    assert (given.worker_kills, given.server_kills) == (0, 7)
